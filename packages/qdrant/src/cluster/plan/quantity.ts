const UNITS: Readonly<Record<string, number>> = {
  '': 0,
  K: 3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY: Readonly<Record<string, bigint>> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n };

/** How many bytes a quantity is, in thousandths: `1.5Gi`, `2e3`, `10G`. Undefined if it is none. */
export function milliBytes(text: string): bigint | undefined {
  const [, whole, fraction = '', exponent = '0', unit = ''] =
    /^(\d+)(?:\.(\d+))?(?:e(\d{1,2}))?([EPTGMKk]i?)?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const decimal = UNITS[unit];
  const factor = decimal === undefined ? 1n << (BINARY[unit] ?? 0n) : 10n ** BigInt(decimal);
  const digits = BigInt(`${whole}${fraction}`) * 10n ** BigInt(exponent) * factor * 1000n;
  return digits / 10n ** BigInt(fraction.length);
}

/** Less than 0, 0 or more, as `a` is smaller, the same or larger. 0 also if one of them is none. */
export function compareSizes(a: string | undefined, b: string | undefined): number {
  const [left, right] = [a, b].map((text) => (text === undefined ? undefined : milliBytes(text)));
  if (left === undefined || right === undefined || left === right) return 0;
  return left < right ? -1 : 1;
}
