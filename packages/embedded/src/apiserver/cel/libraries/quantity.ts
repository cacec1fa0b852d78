import type { Environment } from '@marcbachmann/cel-js';
import { parseQuantity, quantityProblem } from '../../builtin/quantity.ts';

const NANO = 1_000_000_000n;

/** An amount as expressions see it. */
class Quantity {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }

  static parse(text: string): Quantity | undefined {
    const parsed = parseQuantity(text);
    return parsed && new Quantity(parsed.nanos);
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
  throw new Error(quantityProblem(text));
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
