const LONGEST = 500;

/**
 * What a container said last, of the end of its log: one line for a person. Of a line of structured log what is said, and not
 * when: the same failure has the same words each time.
 */
export function lastWords(message: string | undefined): string {
  const line = (message ?? '').trim().split('\n').at(-1)?.trim() ?? '';
  const words = said(line) ?? line;
  return words.length <= LONGEST ? words : `${words.slice(0, LONGEST)}…`;
}

interface Logged {
  readonly msg?: unknown;
  readonly error?: unknown;
}

function said(line: string): string | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const { msg, error }: Logged = JSON.parse(line);
    const parts = [msg, error].filter((part) => typeof part === 'string' && part !== '');
    return parts.length === 0 ? undefined : parts.join(': ');
  } catch {
    return undefined;
  }
}
