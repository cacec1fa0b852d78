import type { Environment } from '@marcbachmann/cel-js';

const NANO = 1_000_000_000n;
const SUFFIXES: Readonly<Record<string, readonly [numerator: bigint, denominator: bigint]>> = {
  n: [1n, NANO],
  u: [1n, 1_000_000n],
  m: [1n, 1_000n],
  '': [1n, 1n],
  k: [10n ** 3n, 1n],
  M: [10n ** 6n, 1n],
  G: [10n ** 9n, 1n],
  T: [10n ** 12n, 1n],
  P: [10n ** 15n, 1n],
  E: [10n ** 18n, 1n],
  Ki: [1n << 10n, 1n],
  Mi: [1n << 20n, 1n],
  Gi: [1n << 30n, 1n],
  Ti: [1n << 40n, 1n],
  Pi: [1n << 50n, 1n],
  Ei: [1n << 60n, 1n],
};

/** An amount in billionths, the finest Kubernetes keeps: finer ones are rounded up. */
class Quantity {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }

  static parse(text: string): Quantity | undefined {
    const match = /^(?=.)([+-]?)(\d*\.?\d*)(?:[eE]([+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/.exec(text);
    if (match === null) return undefined;
    const [, sign, digits = '', exponent = '0', suffix = ''] = match;
    const [whole = '', fraction = ''] = digits.split('.');
    const [numerator = 1n, denominator = 1n] = SUFFIXES[suffix] ?? [];
    const power = Number(exponent) - fraction.length;
    const top = BigInt(whole + fraction || '0') * numerator * NANO * 10n ** BigInt(Math.max(0, power));
    const bottom = denominator * 10n ** BigInt(Math.max(0, -power));
    const nanos = (top + bottom - 1n) / bottom;
    return new Quantity(sign === '-' ? -nanos : nanos);
  }

  static of(value: Quantity | bigint): Quantity {
    return typeof value === 'bigint' ? new Quantity(value * NANO) : value;
  }

  get isInteger(): boolean {
    const whole = this.nanos / NANO;
    return this.nanos % NANO === 0n && BigInt.asIntN(64, whole) === whole;
  }

  equals(other: unknown): boolean {
    return other instanceof Quantity && other.nanos === this.nanos;
  }
}

function quantityOf(text: string): Quantity {
  const quantity = Quantity.parse(text);
  if (quantity !== undefined) return quantity;
  throw new Error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

const TYPE = 'kubernetes.Quantity';

export function registerQuantity(env: Environment): void {
  env.registerType(TYPE, { ctor: Quantity });
  env.registerOperator(`${TYPE} == ${TYPE}`, (a: Quantity, b: Quantity) => a.equals(b));
  env.registerFunction('isQuantity(string): bool', (text: string) => Quantity.parse(text) !== undefined);
  env.registerFunction(`quantity(string): ${TYPE}`, quantityOf);
  env.registerFunction(`${TYPE}.isInteger(): bool`, (quantity: Quantity) => quantity.isInteger);
  env.registerFunction(`${TYPE}.asInteger(): int`, (quantity: Quantity) => {
    if (!quantity.isInteger) throw new Error('cannot convert value to integer');
    return quantity.nanos / NANO;
  });
  env.registerFunction(`${TYPE}.asApproximateFloat(): double`, (quantity: Quantity) => Number(quantity.nanos) / 1e9);
  env.registerFunction(`${TYPE}.isGreaterThan(${TYPE}): bool`, (a: Quantity, b: Quantity) => a.nanos > b.nanos);
  env.registerFunction(`${TYPE}.isLessThan(${TYPE}): bool`, (a: Quantity, b: Quantity) => a.nanos < b.nanos);
  env.registerFunction(`${TYPE}.compareTo(${TYPE}): int`, (a: Quantity, b: Quantity) => {
    if (a.nanos === b.nanos) return 0n;
    return a.nanos < b.nanos ? -1n : 1n;
  });
  for (const other of [TYPE, 'int']) {
    env.registerFunction(
      `${TYPE}.add(${other}): ${TYPE}`,
      (a: Quantity, b: Quantity | bigint) => new Quantity(a.nanos + Quantity.of(b).nanos),
    );
    env.registerFunction(
      `${TYPE}.sub(${other}): ${TYPE}`,
      (a: Quantity, b: Quantity | bigint) => new Quantity(a.nanos - Quantity.of(b).nanos),
    );
  }
}
