/** As `durationOf` reads it: `1m30s`. */
export function describeDuration(ms: number): string {
  let left = ms;
  let text = '';
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size);
    if (count > 0) text += `${count}${unit}`;
    left -= count * size;
  }
  return text === '' || left > 0 ? `${text}${left}ms` : text;
}

const UNITS: readonly (readonly [string, number])[] = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
];
