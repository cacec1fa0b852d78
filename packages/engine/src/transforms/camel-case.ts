import { renameKeys } from './rename-keys.ts';
import type { Transform } from './transform.ts';

export interface CamelCaseConfig {
  /** Objects in objects and arrays, too. */
  readonly deep?: boolean;
}

export const camelCase = ({ deep = false }: CamelCaseConfig = {}): Transform => renameKeys(toCamelCase, deep);

/** With a capital in front: `user_name` is `UserName`. Underscores alone stay. */
export function toCamelCase(key: string): string {
  const words = key.split('_').filter((word) => word !== '');
  return words.length === 0 ? key : words.map(capitalize).join('');
}

/** A few letters have no single capital (`ß`); they stay. */
function capitalize(word: string): string {
  const first = String.fromCodePoint(word.codePointAt(0) ?? 0);
  const upper = first.toUpperCase();
  return (upper.length === first.length ? upper : first) + word.slice(first.length);
}
