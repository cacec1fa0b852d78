import { isNumber, isZero, type Json, numberOf, plainDecimal, spellingOf } from '../json/index.ts';
import { overDocuments } from './document.ts';
import { Path } from './path.ts';
import { ConfigError, type Transform, TransformError } from './transform.ts';

export type CastType = 'string' | 'int64' | 'float64' | 'bool' | 'null';

export interface CastConfig {
  /** By path. In YAML, a bare `null` is the value null, not the word. */
  readonly spec: Readonly<Record<string, CastType | null>>;
}

/** Undefined: it can't be turned into that. */
type Cast = (value: Json) => Json | undefined;

const CASTS: Readonly<Record<CastType, Cast>> = {
  string: (value) => {
    if (isNumber(value)) return spellingOf(value);
    return typeof value === 'boolean' ? String(value) : typeof value === 'string' ? value : undefined;
  },
  int64: (value) => {
    const spelling = decimalIn(value);
    const whole = spelling === undefined ? '' : plainDecimal(spelling);
    if (!INT64_DIGITS.test(whole) || BigInt.asIntN(64, BigInt(whole)) !== BigInt(whole)) return undefined;
    return isNumber(value) && whole === spelling ? value : numberOf(whole);
  },
  float64: (value) => {
    const spelling = decimalIn(value);
    if (spelling === undefined || !Number.isFinite(Number(spelling))) return undefined;
    return isNumber(value) ? value : numberOf(spelling);
  },
  bool: (value) => {
    if (typeof value === 'boolean') return value;
    if (typeof value === 'string') return BOOLEANS.get(value.toLowerCase());
    if (!isNumber(value)) return undefined;
    return isZero(spellingOf(value)) ? false : plainDecimal(spellingOf(value)) === '1' ? true : undefined;
  },
  null: () => null,
};

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

/** Before a BigInt is made of it: a million digits would take a while. */
const INT64_DIGITS = /^-?\d{1,19}$/;
const NUMERIC = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;
/** By itself: in one expression with the digits behind them, zeros would be tried as both. */
const LEADING_ZEROS = /^0+(?=\d)/;

/** The number that a value is or spells, as JSON spells it: `+07.50` is `7.50`. */
function decimalIn(value: Json): string | undefined {
  if (isNumber(value)) return spellingOf(value);
  if (typeof value !== 'string') return undefined;
  const [match, sign, whole = '', fraction, exponent] = NUMERIC.exec(value) ?? [];
  if (match === undefined || !/^[+-]?\.?\d/.test(value)) return undefined;
  const digits =
    (sign === '-' ? '-' : '') + (whole.replace(LEADING_ZEROS, '') || '0') + (fraction ? `.${fraction}` : '');
  return exponent === undefined ? digits : `${digits}e${exponent}`;
}

/** Converts values where they are. What is missing is skipped; what can't be converted fails the message. */
export function cast({ spec }: CastConfig): Transform {
  const casts = Object.entries(spec).map(([text, wanted]) => {
    const field = `spec[${text}]`;
    const type = wanted ?? 'null';
    if (!Object.hasOwn(CASTS, type)) {
      throw new ConfigError(field, `'${type}' is none of ${Object.keys(CASTS).join(', ')}`);
    }
    return { path: Path.compile(field, text), type, convert: CASTS[type] };
  });
  if (casts.length === 0) throw new ConfigError('spec', 'at least one field is required');
  return overDocuments((document) => {
    let changed = document;
    for (const { path, type, convert } of casts) {
      changed = path.update(changed, (value) => {
        const converted = convert(value);
        if (converted === undefined) throw new TransformError(`'${path.text}': ${kindOf(value)} is no ${type}`);
        return converted;
      });
    }
    return changed;
  });
}

const kindOf = (value: Json): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'this array';
  return `this ${isNumber(value) ? 'number' : typeof value}`;
};
