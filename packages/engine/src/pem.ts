import { readFileSync } from 'node:fs';

/** Certificates and keys are given as text, as Secrets have them, or as a path. `field` is who asks, for messages. */
export function readPem(field: string, pathOrText: string): string {
  if (pathOrText.trimStart().startsWith('-----BEGIN')) return pathOrText;
  try {
    return readFileSync(pathOrText, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    // The value is not repeated: it may be a key whose first line got lost.
    throw new Error(`${field} is neither PEM text nor a file that can be read (${code})`, { cause: error });
  }
}
