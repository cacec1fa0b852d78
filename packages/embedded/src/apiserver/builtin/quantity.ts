import { isNumeric } from '../exact-json.ts';
import { isObject, type Json, type Schema } from '../schema/schema.ts';

/** Amounts as the server writes them: exact (in thousandths of a billionth), with the suffix they came with. */
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const NANO = 1_000_000_000n;
/** The largest whole number of a quantity; what is above becomes this. */
const MAX = 2n ** 63n - 1n;

/** Digits may be missing altogether: to Go `Gi` is zero, only nothing at all is no quantity. */
const SPELLING = /^(?=.)([+-]?)(\d*\.?\d*)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;

export interface Quantity {
  /** In billionths. */
  readonly nanos: bigint;
  readonly form: 'binary' | 'decimal' | 'exponent';
}

/** Undefined when the text is no quantity. */
export function parseQuantity(value: unknown): Quantity | undefined {
  const match = SPELLING.exec(isNumeric(value) ? String(value) : typeof value === 'string' ? value : '');
  if (!match) return undefined;
  const [, sign, digits = '', suffix = ''] = match;
  const [whole = '', fraction = ''] = digits.split('.');
  const exponent = /^[eE][+-]?\d+$/.test(suffix) ? Number(suffix.slice(1)) : undefined;
  const scale = exponent ?? (DECIMAL.indexOf(suffix) - 3) * 3;
  const isBinary = exponent === undefined && suffix.endsWith('i');
  const factor = isBinary ? 1024n ** BigInt(BINARY.indexOf(suffix)) : 1n;
  const shift = 9 + (isBinary ? 0 : scale) - fraction.length;
  const amount = BigInt(whole + fraction || '0') * factor;
  // More precise than a billionth is rounded away from zero, as the server does.
  const nanos = shift >= 0 ? amount * 10n ** BigInt(shift) : divideUp(amount, 10n ** BigInt(-shift));
  const form = isBinary ? 'binary' : exponent === undefined ? 'decimal' : 'exponent';
  const bounded = nanos > MAX * NANO ? MAX * NANO : nanos;
  return { nanos: sign === '-' ? -bounded : bounded, form };
}

/** What Go says of a text that is no quantity; the expression that it names is wider than what it takes. */
export function quantityProblem(value: unknown): string | undefined {
  if (parseQuantity(value) !== undefined) return undefined;
  const isBadSuffix = typeof value === 'string' && /^[+-]?\d*\.?\d*[eEinumkKMGTP]+[-+]?\d*$/.test(value);
  return isBadSuffix
    ? "unable to parse quantity's suffix"
    : "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
}

/** The problem of the first value that the schema calls a quantity and that is none. */
export function misspelledQuantity(schema: Schema | undefined, value: Json): string | undefined {
  if (schema === undefined || value === null) return undefined;
  if (schema.node.format === 'quantity') return quantityProblem(value);
  const members: Iterable<readonly [Schema | undefined, Json]> = Array.isArray(value)
    ? value.map((item: Json) => [schema.items, item] as const)
    : isObject(value)
      ? Object.entries(value).map(([name, member]) => [schema.property(name), member] as const)
      : [];
  for (const [part, member] of members) {
    const problem = misspelledQuantity(part, member);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** `1000m` → `1`, `0.5` → `500m`, `1024Mi` → `1Gi`: the largest suffix that leaves a whole number. */
export function formatQuantity({ nanos, form }: Quantity): string {
  if (nanos === 0n) return '0';
  const whole = nanos / NANO;
  // Fractions, and amounts that are below 1024, cannot be written with binary suffixes.
  if (form === 'binary' && nanos % NANO === 0n && (whole >= 1024n || whole <= -1024n)) {
    let [amount, step] = [whole, 0];
    while (amount % 1024n === 0n && step < BINARY.length - 1) [amount, step] = [amount / 1024n, step + 1];
    return `${amount}${BINARY[step]}`;
  }
  let [amount, step] = [nanos, 0];
  while (amount % 1000n === 0n && step < DECIMAL.length - 1) [amount, step] = [amount / 1000n, step + 1];
  const exponent = (step - 3) * 3;
  return form === 'exponent' && exponent !== 0 ? `${amount}e${exponent}` : `${amount}${DECIMAL[step]}`;
}

/** The server's own spelling of a quantity; anything else comes back as it is, for validation to refuse. */
export function canonical<T>(value: T): T | string {
  const quantity = parseQuantity(value);
  if (!quantity) return value;
  const text = String(value);
  return isKept(text) ? text : formatQuantity(quantity);
}

/**
 * The real server's parser keeps a text that looks canonical to it: digits that fill whole thousands, neither starting
 * nor ending in zeros. `1E3` and `+3` pass that look, and so does `1.001`, which is none but stays.
 */
function isKept(text: string): boolean {
  const [, , digits = '', suffix = ''] = SPELLING.exec(text) ?? [];
  if (suffix.endsWith('i')) return false;
  const [whole = '', fraction = ''] = digits.split('.');
  const shifted = (whole.replace(/^0+/, '') || '0') + fraction;
  const exponent = /^[eE][+-]?\d+$/.test(suffix) ? Number(suffix.slice(1)) : (DECIMAL.indexOf(suffix) - 3) * 3;
  const scale = exponent - fraction.length;
  return shifted.length <= 18 && scale >= -9 && scale % 3 === 0 && !shifted.endsWith('000') && !shifted.startsWith('0');
}

function divideUp(amount: bigint, by: bigint): bigint {
  return amount % by === 0n ? amount / by : amount / by + 1n;
}
