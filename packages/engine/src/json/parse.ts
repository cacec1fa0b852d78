import { ObjectBuilder } from './object.ts';
import { ExactNumber, type Json } from './value.ts';

/**
 * Above this a text counts as no JSON and passes as it is, as a malformed one does. Up to it, code that recurses over a
 * document stays within the stack: `JSON.stringify` ends at about 4,500 levels, most of ours later.
 */
export const MAX_DEPTH = 2000;

/** Undefined: it is no JSON. */
export function parseJson(text: string): Json | undefined {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (isTooDeep(text)) return undefined;
  return needsExactness(text) ? parseExactly(text) : value;
}

/**
 * Behind a bracket, comma or colon: a key of digits, or a number that may not be spelled as JavaScript would (16 characters, a
 * zero at the end, an exponent, very small, or -0). A look at the text instead of at every token, in one expression that
 * never goes back further than the number it is at: strings may raise false alarms, which only cost time.
 */
const AT_RISK =
  /[:[,{][ \n\r\t]*(?:"\d{1,10}"[ \n\r\t]*:|-?\d(?:[\d.]{15}|\d*\.\d*0[ \n\r\t,\]}]|\d*(?:\.\d+)?[eE]|\.000000|(?<=-0)[ \n\r\t,\]}]))/;
const IS_NUMBER = /^[ \n\r\t]*[-\d]/;
/** A digit in disguise: `{"\u0031": …}`. */
const ESCAPED_DIGIT = '\\u003';

const needsExactness = (text: string): boolean =>
  AT_RISK.test(text) || text.includes(ESCAPED_DIGIT) || IS_NUMBER.test(text);

/** Few texts have as many brackets as it takes; only those are looked at character by character. */
function isTooDeep(text: string): boolean {
  if (text.length <= 2 * MAX_DEPTH) return false;
  return occursOften(text, '[', '{') && depthOf(text) > MAX_DEPTH;
}

function occursOften(text: string, ...brackets: readonly string[]): boolean {
  let left = MAX_DEPTH;
  for (const bracket of brackets) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      left -= 1;
      if (left < 0) return true;
    }
  }
  return false;
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') at = endOfString(text, at);
    else if (char === '[' || char === '{') deepest = Math.max(deepest, (depth += 1));
    else if (char === ']' || char === '}') depth -= 1;
  }
  return deepest;
}

type Container =
  | { readonly items: Json[]; readonly members?: never }
  | { readonly members: ObjectBuilder; readonly items?: never; key: string | undefined };

/**
 * The slow way, over a text that is known to be JSON, so that it need not tell what is wrong with others. (A reviver that
 * looks at the source of each number is twice as slow, and keeps no order.)
 */
function parseExactly(text: string): Json {
  const open: Container[] = [];
  let done: Json = null;
  const add = (value: Json) => {
    const container = open.at(-1);
    if (container === undefined) done = value;
    else if (container.items !== undefined) container.items.push(value);
    else if (container.key !== undefined) {
      container.members.set(container.key, value);
      container.key = undefined;
    }
  };
  let at = 0;
  while (at < text.length) {
    const start = at;
    const char = text.charAt(at);
    at += 1;
    switch (char) {
      case '{':
        open.push({ members: new ObjectBuilder(), key: undefined });
        break;
      case '[':
        open.push({ items: [] });
        break;
      case '}':
      case ']': {
        const closed = open.pop();
        add(closed?.items ?? closed?.members?.build() ?? null);
        break;
      }
      case '"': {
        at = endOfString(text, start) + 1;
        const string = stringIn(text, start, at);
        const container = open.at(-1);
        if (container?.members !== undefined && container.key === undefined) container.key = string;
        else add(string);
        break;
      }
      case 't':
        at += 'rue'.length;
        add(true);
        break;
      case 'f':
        at += 'alse'.length;
        add(false);
        break;
      case 'n':
        at += 'ull'.length;
        add(null);
        break;
      case ',':
      case ':':
      case ' ':
      case '\n':
      case '\r':
      case '\t':
        break;
      default:
        at = endOfNumber(text, at);
        add(numberOf(text.slice(start, at)));
    }
  }
  return done;
}

/** A number if JavaScript spells it the same way. */
export function numberOf(spelling: string): number | ExactNumber {
  const number = Number(spelling);
  return String(number) === spelling ? number : new ExactNumber(spelling);
}

/** Where the string that begins at `start` has its closing quote. Each backslash is looked at once. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text.charCodeAt(before - 1) === 92) before -= 1;
    if ((end - before) % 2 === 0) return end;
  }
}

function stringIn(text: string, start: number, end: number): string {
  const string = text.slice(start + 1, end - 1);
  if (!string.includes('\\')) return string;
  const unescaped: string = JSON.parse(text.slice(start, end));
  return unescaped;
}

function endOfNumber(text: string, from: number): number {
  for (let at = from; ; at += 1) {
    const code = text.charCodeAt(at);
    const isPart =
      (code >= 48 && code <= 57) || code === 46 || code === 101 || code === 69 || code === 43 || code === 45;
    if (!isPart) return at;
  }
}
