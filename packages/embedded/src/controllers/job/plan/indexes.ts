/**
 * Sets of completion indexes, as ordered spans that neither touch nor overlap: a job of 100,000 completions is mostly one
 * span. The text form is that of `status.completedIndexes`: `1,3-5,7`.
 */
export interface Span {
  readonly first: number;
  readonly last: number;
}
export type Indexes = readonly Span[];

export const NO_INDEXES: Indexes = [];

/** Leaves out what is not below `completions`: a job that shrinks forgets the indexes beyond its end. */
export function parseIndexes(text: string, completions: number): Indexes {
  const spans = text.split(',').map((part): Span => {
    const [first = '', last = first] = part.split('-');
    return { first: Number.parseInt(first, 10), last: Math.min(Number.parseInt(last, 10), completions - 1) };
  });
  return union(spans.filter(({ first, last }) => first <= last));
}

/** Two neighbours are listed (`3,4`), three are a range (`3-5`). */
export function formatIndexes(indexes: Indexes): string {
  return indexes
    .map(({ first, last }) => (first === last ? `${first}` : `${first}${last === first + 1 ? ',' : '-'}${last}`))
    .join(',');
}

export function indexesOf(numbers: Iterable<number>): Indexes {
  return union([...numbers].map((index) => ({ first: index, last: index })));
}

export function union(...sets: readonly Indexes[]): Indexes {
  const merged: { first: number; last: number }[] = [];
  for (const { first, last } of sets.flat().toSorted((a, b) => a.first - b.first)) {
    const before = merged.at(-1);
    if (before && first <= before.last + 1) before.last = Math.max(before.last, last);
    else merged.push({ first, last });
  }
  return merged;
}

export const sizeOf = (indexes: Indexes) => indexes.reduce((size, { first, last }) => size + last - first + 1, 0);

export function hasIndex(indexes: Indexes, index: number): boolean {
  let [low, high] = [0, indexes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((indexes[middle]?.last ?? index) < index) low = middle + 1;
    else high = middle;
  }
  return (indexes[low]?.first ?? Number.POSITIVE_INFINITY) <= index;
}

/** How many indexes two sets have in common. */
export function overlap(a: Indexes, b: Indexes): number {
  return sizeOf(a) + sizeOf(b) - sizeOf(union(a, b));
}

/** The first indexes below `completions` that are not in `taken`, at most `count` of them. */
export function firstFree(taken: Indexes, completions: number, count: number): readonly number[] {
  const free: number[] = [];
  let candidate = 0;
  for (const { first, last } of [...taken, { first: completions, last: completions }]) {
    while (candidate < Math.min(first, completions) && free.length < count) free.push(candidate++);
    candidate = Math.max(candidate, last + 1);
  }
  return free;
}
