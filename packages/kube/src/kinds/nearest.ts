/** The name that was most likely meant: at most a third of its letters away, letters in the wrong case being no distance. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const candidates = known
    .map((candidate) => ({ candidate, distance: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.floor(candidate.length / 3)))
    .toSorted((one, other) => one.distance - other.distance);
  return candidates[0]?.candidate;
}

/** Letters to add, drop or change (Levenshtein), one row of the table at a time. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [taken, letter] of Array.from(from).entries()) {
    const next = [taken + 1];
    for (const [index, wanted] of Array.from(to).entries()) {
      const change = (row[index] ?? 0) + (letter === wanted ? 0 : 1);
      next.push(Math.min(change, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
