import { isObject } from '../schema/schema.ts';
import { badRequest } from '../status.ts';

/** Where the next page starts. `revision` is -1 to go on inconsistently after the snapshot has expired. */
export interface Position {
  readonly revision: number;
  /** The last key of the page before, below the prefix of the list. */
  readonly after: string;
}

/** The real server's form: opaque to clients, but people do decode it. */
export function encodePosition({ revision, after }: Position): string {
  const token = JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start: `/${after}\u0000` });
  return Buffer.from(token).toString('base64url');
}

export function decodePosition(token: string): Position {
  const content = parse(Buffer.from(token, 'base64url').toString());
  const { v, rv, start } = isObject(content) ? content : {};
  if (v !== 'meta.k8s.io/v1')
    throw badRequest(
      'invalid continue token: continue key is not valid: server does not recognize this encoded version ' +
        JSON.stringify(v ?? ''),
    );
  if (typeof rv !== 'number' || rv === 0) {
    throw badRequest(
      'invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
    );
  }
  if (typeof start !== 'string' || start === '') {
    throw badRequest(
      'invalid continue token: continue key is not valid: encoded start key empty (version meta.k8s.io/v1)',
    );
  }
  return { revision: rv, after: start.replace(/^\//, '').replaceAll('\u0000', '') };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const found =
      text === '' ? 'unexpected end of JSON input' : `invalid character ${quoted(text)} looking for beginning of value`;
    throw badRequest(`invalid continue token: continue key is not valid: ${found}`);
  }
}

const quoted = (text: string) => `'${text[0] ?? ''}'`;
