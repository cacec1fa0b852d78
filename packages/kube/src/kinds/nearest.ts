/** The name that was most likely meant: at most a third of its letters away, letters in the wrong case being no distance. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const candidates = known
    .map((candidate) => ({ candidate, distance: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.floor(candidate.length / 3)))
    .toSorted((one, other) => one.distance - other.distance);
  return candidates[0]?.candidate;
}

/** Letters to add, drop, change or swap with the next one (optimal string alignment), two rows of the table at a time. */
function distance(from: string, to: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let taken = 0; taken < from.length; taken++) {
    const next = [taken + 1];
    for (let index = 0; index < to.length; index++) {
      const change = (row[index] ?? 0) + (from[taken] === to[index] ? 0 : 1);
      const isSwap = from[taken] === to[index - 1] && from[taken - 1] === to[index] && taken > 0 && index > 0;
      const swap = isSwap ? (before[index - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(change, swap, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row.at(-1) ?? 0;
}
