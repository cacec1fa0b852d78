import { isDeepStrictEqual } from 'node:util';
import type { JsonPatchOperation } from '../client/index.ts';

/**
 * The JSON patch that makes `to` of `from`. Small where objects differ in fields and where lists grew or shrank in one place;
 * a list changed all over is patched element by element, never replaced whole, so that a patch shows what was changed.
 */
export function differences(from: unknown, to: unknown, path = ''): JsonPatchOperation[] {
  if (isDeepStrictEqual(from, to)) return [];
  if (isObject(from) && isObject(to)) return differencesInFields(from, to, path);
  if (Array.isArray(from) && Array.isArray(to)) return differencesInList(from, to, path);
  return [{ op: 'replace', path, value: to }];
}

function differencesInFields(
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
  path: string,
): JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = [];
  for (const name of Object.keys(from)) {
    if (!Object.hasOwn(to, name)) operations.push({ op: 'remove', path: `${path}/${escaped(name)}` });
  }
  for (const [name, value] of Object.entries(to)) {
    const at = `${path}/${escaped(name)}`;
    if (Object.hasOwn(from, name)) operations.push(...differences(from[name], value, at));
    else operations.push({ op: 'add', path: at, value });
  }
  return operations;
}

function differencesInList(from: readonly unknown[], to: readonly unknown[], path: string): JsonPatchOperation[] {
  const shorter = Math.min(from.length, to.length);
  let start = 0;
  while (start < shorter && isDeepStrictEqual(from[start], to[start])) start++;
  let end = 0;
  while (end < shorter - start && isDeepStrictEqual(from.at(-1 - end), to.at(-1 - end))) end++;

  const operations: JsonPatchOperation[] = [];
  const kept = shorter - start - end;
  for (let i = start; i < start + kept; i++) operations.push(...differences(from[i], to[i], `${path}/${i}`));
  // From the back, so that no index moves before its turn.
  for (let i = from.length - end - 1; i >= start + kept; i--) operations.push({ op: 'remove', path: `${path}/${i}` });
  for (let i = start + kept; i < to.length - end; i++)
    operations.push({ op: 'add', path: `${path}/${i}`, value: to[i] });
  return operations;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
