/** What was measured of one peer: a number, or why there is none. */
export type Figure = number | Missing;

export interface Missing {
  readonly missing: string;
}

/** What kept a number from being measured; the first reason stands for all runs. */
export function missing(because: string): Missing {
  return { missing: because };
}

/** The median of all runs. A peer that failed in one of them has failed: half a success is no number. */
export function medianOf(figures: readonly Figure[]): Figure {
  const numbers: number[] = [];
  for (const figure of figures) {
    if (typeof figure !== 'number') return figure;
    numbers.push(figure);
  }
  return numbers.length === 0 ? missing('not measured') : quantile(numbers, 0.5);
}

/** The value below which this part of all values lies (0.5: the median), interpolated between neighbours. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = part * (sorted.length - 1);
  const [below, above] = [sorted[Math.floor(at)] ?? Number.NaN, sorted[Math.ceil(at)] ?? Number.NaN];
  return below + (above - below) * (at - Math.floor(at));
}
