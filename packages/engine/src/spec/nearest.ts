/** The name that was most likely meant: no further away than a third of its letters, upper and lower case being one. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const limit = Math.max(1, Math.floor(candidate.length / 3));
    // A name that differs that much in length alone needs no counting, however long somebody made it.
    if (Math.abs(name.length - candidate.length) > limit) continue;
    const distance = edits(name.toLowerCase(), candidate.toLowerCase());
    if (distance <= limit && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { candidate, distance };
  }
  return best?.candidate;
}

/** How many letters to add, drop or change (Levenshtein), one row of the table at a time. */
function edits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [taken, letter] of Array.from(from).entries()) {
    const next = [taken + 1];
    for (let index = 0; index < to.length; index++) {
      const change = (row[index] ?? 0) + (letter === to[index] ? 0 : 1);
      next.push(Math.min(change, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
