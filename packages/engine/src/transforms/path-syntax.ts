/**
 * The one way to name a field, in every transformation: `user.name`, `items.0.sku` or `items[0].sku`, `items.#.sku` or
 * `items[*].sku` for every element, `*` and `?` in keys, `\` before a character that is meant as it is. `$` or `$.` in front
 * is optional. It is what gjson reads, without its queries, modifiers, pipes and multipaths, which are refused here instead
 * of finding nothing later, and with the brackets of JSONPath.
 */
export type Segment =
  /** A member of an object; if it has an index also an element of an array. */
  | { readonly kind: 'key'; readonly key: string; readonly index?: number }
  /** Every element. `isCount`: a `#` at the end, which reads as the number of elements. */
  | { readonly kind: 'each'; readonly isCount: boolean }
  | { readonly kind: 'pattern'; readonly pattern: readonly PatternPart[] };

export type PatternPart = { readonly char: string } | 'one' | 'many';

/** Written to `-1`, an array grows by one. */
export const APPEND = -1;

const MAX_SEGMENTS = 100;
const MODIFIERS = /^@(?:reverse|ugly|pretty|this|valid|keys|values|tostr|fromstr|group|flatten|join|dig)(?:$|[.:|])/;

/** What is wrong in a path or a condition, and where: positions count from 1. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
  readonly because: string;
  readonly position: number;

  constructor(expression: string, at: number, because: string) {
    super(`'${expression}', position ${at + 1}: ${because}`);
    this.because = because;
    this.position = at + 1;
  }
}

export function parsePath(text: string): readonly Segment[] {
  const reader = new PathReader(text);
  return reader.read();
}

class PathReader {
  readonly #text: string;
  readonly #segments: Segment[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): readonly Segment[] {
    if (this.#text.startsWith('$')) this.#at = this.#text[1] === '.' ? 2 : 1;
    if (this.#at >= this.#text.length) throw this.#error('a path names a field', 0);
    for (;;) {
      this.#readSegment();
      if (this.#segments.length > MAX_SEGMENTS) throw this.#error(`a path has at most ${MAX_SEGMENTS} segments`);
      if (this.#at >= this.#text.length) return this.#segments;
      this.#at += 1;
    }
  }

  /** Up to the next dot: a key, and the brackets after it. */
  #readSegment(): void {
    this.#refuseForeignSyntax();
    const start = this.#at;
    const parts = this.#readParts();
    if (parts.length > 0) this.#segments.push(segmentOf(this.#text.slice(start, this.#at), parts));
    else if (this.#text[this.#at] !== '[') throw this.#error("an empty segment (a dot in a key is written '\\.')");
    while (this.#text[this.#at] === '[') this.#readBrackets();
    const next = this.#text[this.#at];
    if (next !== undefined && next !== '.') throw this.#error("after ']' comes '.', '[' or the end");
  }

  #readParts(): readonly PatternPart[] {
    const parts: PatternPart[] = [];
    for (; this.#at < this.#text.length; this.#at += 1) {
      const char = this.#text[this.#at] ?? '';
      if (char === '.' || char === '[') break;
      if (char === '|') throw this.#error("pipes are not supported (a bar in a key is written '\\|')");
      if (char === '\\') {
        this.#at += 1;
        const escaped = this.#text[this.#at];
        if (escaped === undefined) throw this.#error("a '\\' stands before the character that it escapes");
        parts.push({ char: escaped });
      } else {
        parts.push(char === '*' ? 'many' : char === '?' ? 'one' : { char });
      }
    }
    return parts;
  }

  #readBrackets(): void {
    const close = this.#text.indexOf(']', this.#at);
    const inside = close === -1 ? '' : this.#text.slice(this.#at + 1, close);
    if (inside === '*') this.#segments.push({ kind: 'each', isCount: false });
    else if (/^\d{1,15}$/.test(inside)) this.#segments.push({ kind: 'key', key: inside, index: Number(inside) });
    else throw this.#error("brackets hold an index or '*': [0], [*] (a bracket in a key is written '\\[')");
    this.#at = close + 1;
  }

  #refuseForeignSyntax(): void {
    const rest = this.#text.slice(this.#at, this.#at + 16);
    if (rest.startsWith('#(') || rest.startsWith('#[')) throw this.#error("queries like '#(…)' are not supported");
    if (rest.startsWith('{')) throw this.#error("multipaths like '{a,b}' are not supported; name each path by itself");
    if (rest.startsWith('!')) throw this.#error("literals with '!' are not supported (a key is written '\\!')");
    if (MODIFIERS.test(rest)) throw this.#error("modifiers with '@' are not supported (a key is written '\\@')");
  }

  #error(because: string, at = this.#at): ExpressionError {
    return new ExpressionError(this.#text, at, because);
  }
}

function segmentOf(text: string, parts: readonly PatternPart[]): Segment {
  if (text === '#') return { kind: 'each', isCount: true };
  const chars: string[] = [];
  for (const part of parts) {
    if (typeof part === 'string') return { kind: 'pattern', pattern: parts };
    chars.push(part.char);
  }
  const key = chars.join('');
  if (text === '-1') return { kind: 'key', key, index: APPEND };
  if (/^\d{1,15}$/.test(text)) return { kind: 'key', key, index: Number(text) };
  // A colon makes a key of what would be an index.
  return { kind: 'key', key: /^:\d+$/.test(text) ? key.slice(1) : key };
}

/** Steps at most pattern times key: on a mismatch only the last `*` takes one character more. */
export function matchesPattern(pattern: readonly PatternPart[], key: string): boolean {
  let at = 0;
  let part = 0;
  let star = -1;
  let starAt = 0;
  while (at < key.length) {
    const expected = pattern[part];
    if (expected === 'many') {
      star = part;
      starAt = at;
      part += 1;
    } else if (expected === 'one' || (expected !== undefined && expected.char === key[at])) {
      part += 1;
      at += 1;
    } else if (star !== -1) {
      starAt += 1;
      at = starAt;
      part = star + 1;
    } else {
      return false;
    }
  }
  return pattern.slice(part).every((left) => left === 'many');
}
