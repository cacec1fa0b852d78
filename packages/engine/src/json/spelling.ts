/** How values are spelled that JSON has no type for, or no exact one: decimals, floats of four bytes, dates and times. */

const DAY_MS = 86_400_000;

/** The point moved `scale` digits to the left. */
export function decimalSpelling(unscaled: bigint, scale: number): string {
  if (scale === 0) return unscaled.toString();
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** 0.1 of four bytes is not 0.10000000149011612: the shortest digits that mean the same float. */
export function shortestFloat(value: number): number {
  if (!Number.isFinite(value)) return value;
  for (let digits = 6; digits < 9; digits++) {
    const shorter = Number(value.toPrecision(digits));
    if (Math.fround(shorter) === value) return shorter;
  }
  return Number(value.toPrecision(9));
}

/** `2026-01-31`, by the days since 1970. Undefined: beyond the year 275760, which is no date to JavaScript nor to anybody. */
export function dateText(days: number): string | undefined {
  const date = new Date(days * DAY_MS);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().split('T', 1)[0];
}

/** `13:45:00.123456`, by what has passed since midnight in a unit of so many digits. */
export function timeText(units: bigint, digits: number): string {
  const perSecond = 10n ** BigInt(digits);
  const seconds = units / perSecond;
  const parts = [seconds / 3_600n, (seconds / 60n) % 60n, seconds % 60n].map((part) => String(part).padStart(2, '0'));
  return `${parts.join(':')}.${String(units % perSecond).padStart(digits, '0')}`;
}

/** `2026-01-31T13:45:00.123456Z`, by what has passed since 1970. Without a zone for what is no moment. Undefined as with dates. */
export function momentText(units: bigint, digits: number, isUtc: boolean): string | undefined {
  const perDay = 86_400n * 10n ** BigInt(digits);
  // Floored: what is before 1970 still has a time that counts up.
  const time = ((units % perDay) + perDay) % perDay;
  const date = dateText(Number((units - time) / perDay));
  return date === undefined ? undefined : `${date}T${timeText(time, digits)}${isUtc ? 'Z' : ''}`;
}
