import type { Snapshot } from './snapshot.ts';

/**
 * The end of a revision's name. It is the real controller's hash, so that a set has the same revisions here and there: FNV-1
 * over the snapshot as Go writes it, then over the collision count, in letters and digits that spell no words.
 */
export function hashOf(snapshot: Snapshot, collisionCount: number): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(goJson(snapshot) + String(collisionCount), 'utf8')) {
    hash = (Math.imul(hash, 0x01000193) ^ byte) >>> 0;
  }
  return Array.from(String(hash), (digit) => LETTERS[digit.charCodeAt(0) % LETTERS.length]).join('');
}

const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

/** With sorted keys, and escapes for what a browser could take for markup. */
function goJson(value: unknown): string {
  return JSON.stringify(sorted(value)).replace(/[<>&\u2028\u2029]/g, escaped);
}

const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}
