import { renameKeys } from './rename-keys.ts';
import type { Transform } from './transform.ts';

export interface SnakeCaseConfig {
  /** Objects in objects and arrays, too. */
  readonly deep?: boolean;
}

export const snakeCase = ({ deep = false }: SnakeCaseConfig = {}): Transform => renameKeys(toSnakeCase, deep);

const UPPER = /^\p{Lu}$/u;
const LOWER = /^\p{Ll}$/u;
const LOWER_OR_DIGIT = /^[\p{Ll}\p{Nd}]$/u;

/** `userID` is `user_id`, `XMLParser` is `xml_parser`. */
export function toSnakeCase(key: string): string {
  const chars = Array.from(key);
  let result = '';
  for (const [at, char] of chars.entries()) {
    if (!UPPER.test(char)) {
      result += char;
      continue;
    }
    const before = chars[at - 1] ?? '';
    const after = chars[at + 1] ?? '';
    const beginsWord = LOWER_OR_DIGIT.test(before) || (UPPER.test(before) && LOWER.test(after));
    result += (beginsWord ? '_' : '') + lowerCase(char);
  }
  return result;
}

/** A few letters have no single lower-case one; they stay. */
function lowerCase(char: string): string {
  const lower = char.toLowerCase();
  return lower.length === char.length ? lower : char;
}
