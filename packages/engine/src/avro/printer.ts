import avro, { type Type } from 'avsc';
import { dateText, decimalSpelling, momentText, shortestFloat, timeText } from '../json/index.ts';
import { Logical } from './types.ts';

/**
 * Prints a decoded value as JSON text, as people and databases expect it: unions without their wrappers, longs and decimals
 * with all their digits, times as RFC 3339.
 *
 * | Avro | JSON |
 * | --- | --- |
 * | union | the value of the branch, or null |
 * | long, decimal | a number, exact |
 * | float, double | a number; `"NaN"`, `"Infinity"`, `"-Infinity"` |
 * | bytes, fixed | base64 |
 * | date | `"2026-01-31"` |
 * | time-millis, -micros | `"13:45:00.123"`, `"13:45:00.123456"` |
 * | timestamp-millis, -micros, -nanos | `"2026-01-31T13:45:00.123Z"`, … |
 * | local-timestamp-… | the same without `Z` |
 * | duration | `{"months":1,"days":2,"milliseconds":3}` |
 * | uuid, enum | the text |
 * | any other logical type | as if it were not there |
 */
export type Printer = (value: unknown) => string;

export function printerOf(type: Type): Printer {
  return compile(type, new Map());
}

function compile(type: Type, known: Map<Type, Printer>): Printer {
  const before = known.get(type);
  if (before) return before;
  // A record may contain itself: whoever meets it again while it is compiled gets this, which looks when it is called.
  let compiled: Printer | undefined;
  known.set(type, (value) => (compiled ?? fail(value))(value));
  compiled = printer(type, known);
  known.set(type, compiled);
  return compiled;
}

function printer(type: Type, known: Map<Type, Printer>): Printer {
  const { types } = avro;
  if (type instanceof Logical) return logicalPrinter(type, compile(type.underlyingType, known));
  if (type instanceof types.RecordType) return recordPrinter(type, known);
  if (type instanceof types.ArrayType) {
    const item = compile(type.itemsType, known);
    return (value) => (Array.isArray(value) ? `[${value.map(item).join(',')}]` : fail(value));
  }
  if (type instanceof types.MapType) {
    const valuesType: Type = type.valuesType;
    const item = compile(valuesType, known);
    return (value) => {
      const entries = Object.entries(asObject(value)).map(([key, one]) => `${quote(key)}:${item(one)}`);
      return `{${entries.join(',')}}`;
    };
  }
  if (type instanceof types.WrappedUnionType) return unionPrinter(type, known);
  if (type instanceof types.BytesType || type instanceof types.FixedType) {
    return (value) => quote(asBuffer(value).toString('base64'));
  }
  if (type instanceof types.FloatType) return (value) => (typeof value === 'number' ? float(value) : fail(value));
  return scalar;
}

function recordPrinter(type: avro.types.RecordType, known: Map<Type, Printer>): Printer {
  const fields = type.fields.map(({ name, type }) => ({
    name,
    start: `${quote(name)}:`,
    print: compile(type, known),
  }));
  return (value) => {
    const record = asObject(value);
    return `{${fields.map(({ name, start, print }) => start + print(record[name])).join(',')}}`;
  };
}

/** A wrapped value is an object with one property, named after its branch. */
function unionPrinter(type: avro.types.WrappedUnionType, known: Map<Type, Printer>): Printer {
  const branches = new Map(type.types.map((branch) => [branch.branchName ?? '', compile(branch, known)]));
  return (value) => {
    if (value === null) return 'null';
    const [entry = fail(value)] = Object.entries(asObject(value));
    return (branches.get(entry[0]) ?? fail)(entry[1]);
  };
}

function scalar(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : quote(String(value));
  return typeof value === 'bigint' || typeof value === 'boolean' || value === null ? String(value) : fail(value);
}

function float(value: number): string {
  return Number.isFinite(value) ? String(shortestFloat(value)) : quote(String(value));
}

function logicalPrinter({ kind, scale, underlyingType }: Logical, underlying: Printer): Printer {
  const isLong = underlyingType instanceof avro.types.LongType || underlyingType.typeName === 'abstract:long';
  const isInt = underlyingType instanceof avro.types.IntType;
  const isBytes = underlyingType instanceof avro.types.BytesType || underlyingType instanceof avro.types.FixedType;
  if (kind === 'decimal' && isBytes) return (value) => decimal(asBuffer(value), scale);
  if (kind === 'date' && isInt) {
    return (value) => quote(dateText(Number(value)) ?? outOfRange(value));
  }
  if (kind === 'time-millis' && isInt) return (value) => quote(timeText(asBigInt(value), 3));
  if (kind === 'time-micros' && isLong) return (value) => quote(timeText(asBigInt(value), 6));
  const [, local, unit = ''] = /^(local-)?timestamp-(millis|micros|nanos)$/.exec(kind) ?? [];
  const digits = { millis: 3, micros: 6, nanos: 9 }[unit];
  if (digits !== undefined && isLong)
    return (value) => quote(momentText(asBigInt(value), digits, !local) ?? outOfRange(value));
  if (kind === 'duration' && underlyingType instanceof avro.types.FixedType && underlyingType.size === 12) {
    return (value) => {
      const [months, days, milliseconds] = [0, 4, 8].map((at) => asBuffer(value).readUInt32LE(at));
      return `{"months":${months},"days":${days},"milliseconds":${milliseconds}}`;
    };
  }
  // On a type that it is not defined for, a logical type is to be ignored.
  return underlying;
}

/** Two's complement, big-endian. */
function decimal(bytes: Buffer, scale: number): string {
  const unscaled = bytes.length === 0 ? 0n : BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`));
  return decimalSpelling(unscaled, scale);
}

function outOfRange(value: unknown): never {
  throw new Error(`a date is out of range (${String(value)} since 1970)`);
}

const quote = (text: string) => JSON.stringify(text);

function asBigInt(value: unknown): bigint {
  return typeof value === 'bigint' || typeof value === 'number' ? BigInt(value) : fail(value);
}

function asBuffer(value: unknown): Buffer {
  return Buffer.isBuffer(value) ? value : fail(value);
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : fail(value);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function fail(value: unknown): never {
  throw new Error(`a decoded value does not fit its schema (${typeof value})`);
}
