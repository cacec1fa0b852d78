import { isUtf8 } from 'node:buffer';

/**
 * A key or a header value that is no UTF-8. Text is what transformations and other systems want, and most keys are text; the
 * others stay what they are, so that the sink writes the same bytes back. As text it reads with replacement characters, as
 * JSON it is `{"base64": "…"}`.
 */
export class Binary {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  toString(): string {
    return this.bytes.toString('utf8');
  }

  toJSON(): { readonly base64: string } {
    return { base64: this.bytes.toString('base64') };
  }
}

export type Text = string | Binary | null;

/** A header that comes several times has all its values, in order. */
export type Headers = Readonly<Record<string, Text | readonly Text[]>>;

const NO_HEADERS: Headers = Object.freeze({});

export function textOf(bytes: Buffer | null): Text {
  if (bytes === null) return null;
  return isUtf8(bytes) ? bytes.toString('utf8') : new Binary(bytes);
}

/** Null: it is no key (a number, an object that some other source left there). */
export function bytesOf(text: unknown): Buffer | null {
  if (typeof text === 'string') return Buffer.from(text);
  return text instanceof Binary ? text.bytes : null;
}

export function headersOf(pairs: readonly (readonly [Buffer | null, Buffer | null])[]): Headers {
  if (pairs.length === 0) return NO_HEADERS;
  // Without a prototype: a header may be called `__proto__`.
  const headers: Record<string, Text | readonly Text[]> = Object.create(null);
  for (const [name, value] of pairs) {
    const key = name?.toString('utf8') ?? '';
    const text = textOf(value);
    const before = headers[key];
    headers[key] = before === undefined ? text : isList(before) ? [...before, text] : [before, text];
  }
  return headers;
}

/** Pairs in the order of the record. The keys of the map are buffers, so that a header may come twice. */
export function headerBytesOf(headers: unknown): Map<Buffer, Buffer | null> | undefined {
  if (typeof headers !== 'object' || headers === null || headers === NO_HEADERS) return undefined;
  const pairs = new Map<Buffer, Buffer | null>();
  for (const [name, value] of Object.entries(headers)) {
    for (const one of isList(value) ? value : [value]) pairs.set(Buffer.from(name), bytesOf(one));
  }
  return pairs.size === 0 ? undefined : pairs;
}

function isList(value: unknown): value is readonly Text[] {
  return Array.isArray(value);
}
