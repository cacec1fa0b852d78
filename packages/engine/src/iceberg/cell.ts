/** JSON values as what a column holds. */
import {
  entriesOf,
  get,
  isArray,
  isNumber,
  isObject,
  type Json,
  plainDecimal,
  printJson,
  spellingOf,
} from '../json/index.ts';
import { dayOf, microsOf, timeOfDayOf } from './calendar.ts';
import { type Field, type Type, typeName } from './types.ts';

/**
 * A value as it is held on its way into a file: days and 32-bit integers as numbers, everything longer (microseconds, unscaled
 * decimals) as bigints, uuids and binaries as bytes, a struct by the names of its fields, a map as its entries.
 */
export type Cell = null | boolean | number | bigint | string | Buffer | readonly Cell[] | StructCell | MapEntry;
export interface StructCell {
  readonly [name: string]: Cell;
}
export interface MapEntry {
  readonly key: Cell;
  readonly value: Cell;
}

/** Why a value does not fit its column. Names columns and rules, never the value. */
export class Misfit {
  readonly because: string;

  constructor(because: string) {
    this.because = because;
  }
}

/** Made once for a column. Absent and null are the same. */
export type ToCell = (json: Json | undefined) => Cell | Misfit;

export function toCell(field: Field, path = field.name): ToCell {
  const convert = converterOf(field.type, path);
  const missing = field.isRequired ? new Misfit(`column "${path}" is required and has no value`) : null;
  const misfit = new Misfit(`column "${path}": the value is no ${typeName(field.type)}`);
  return (json) => (json === undefined || json === null ? missing : (convert(json) ?? misfit));
}

/** Undefined: the value is none of this type. */
type Converter = (json: Exclude<Json, null>) => Cell | Misfit | undefined;

function converterOf(type: Type, path: string): Converter {
  switch (type.kind) {
    case 'boolean':
      return (json) => (typeof json === 'boolean' ? json : undefined);
    case 'int':
      return (json) => {
        const integer = integerOf(json, 32);
        return integer === undefined ? undefined : Number(integer);
      };
    case 'long':
      return (json) => integerOf(json, 64);
    case 'float':
      return (json) => {
        const number = floatOf(json);
        // What is finite must not become infinite.
        return number !== undefined && Number.isFinite(number) && !Number.isFinite(Math.fround(number))
          ? undefined
          : number;
      };
    case 'double':
      return floatOf;
    case 'decimal':
      return (json) => decimalOf(json, type.precision, type.scale);
    case 'date':
      return (json) => (typeof json === 'string' ? dayOf(json) : undefined);
    case 'time':
      return (json) => (typeof json === 'string' ? timeOfDayOf(json) : undefined);
    case 'timestamp':
      return (json) => momentOf(json, 1n);
    case 'timestamp-ns':
      return (json) => momentOf(json, 1_000n);
    case 'string':
      return textOf;
    case 'uuid':
      return (json) => {
        const hex = typeof json === 'string' && UUID.test(json) ? json.replaceAll('-', '') : undefined;
        return hex === undefined ? undefined : Buffer.from(hex, 'hex');
      };
    case 'binary':
      return bytesOf;
    case 'fixed':
      return (json) => {
        const bytes = bytesOf(json);
        return bytes?.length === type.length ? bytes : undefined;
      };
    case 'struct': {
      const members = type.fields.map((field) => ({
        name: field.name,
        convert: toCell(field, `${path}.${field.name}`),
      }));
      return (json) => structOf(json, members);
    }
    case 'list': {
      const element = toCell(type.element, `${path}.element`);
      return (json) => (isArray(json) ? listOf(json, element) : undefined);
    }
    case 'map': {
      const [key, value] = [toCell(type.key, `${path}.key`), toCell(type.value, `${path}.value`)];
      return (json) => mapOf(json, key, value);
    }
  }
}

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const INTEGER = /^-?\d+$/;
const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;
/** More digits than any column holds, and still cheap to look at. */
const MOST_DIGITS = 1_000;

/** Numbers that are too long for JavaScript are often sent as texts. */
function plainNumber(json: Json): string | undefined {
  const spelling = isNumber(json) ? spellingOf(json) : typeof json === 'string' ? json : undefined;
  return spelling === undefined || spelling.length > MOST_DIGITS ? undefined : plainDecimal(spelling);
}

function integerOf(json: Json, bits: number): bigint | undefined {
  if (typeof json === 'number' && Number.isSafeInteger(json) && (bits === 64 || (json | 0) === json))
    return BigInt(json);
  const digits = plainNumber(json);
  if (digits === undefined || !INTEGER.test(digits)) return undefined;
  const integer = BigInt(digits);
  return BigInt.asIntN(bits, integer) === integer ? integer : undefined;
}

function floatOf(json: Json): number | undefined {
  if (typeof json === 'number') return json;
  // JSON has no spelling for these; this is how they come out of a source.
  if (json === 'NaN' || json === 'Infinity' || json === '-Infinity') return Number(json);
  if (!isNumber(json)) return undefined;
  const number = Number(spellingOf(json));
  return Number.isFinite(number) ? number : undefined;
}

/** Unscaled. Digits that the column has no room for must be zeros. */
function decimalOf(json: Json, precision: number, scale: number): bigint | undefined {
  const [, sign, whole = '', fraction = ''] = DECIMAL.exec(plainNumber(json) ?? '') ?? [];
  if (sign === undefined || !/^0*$/.test(fraction.slice(scale))) return undefined;
  const digits = (whole + fraction.slice(0, scale).padEnd(scale, '0')).replace(/^0+(?=\d)/, '');
  return digits.length <= precision || digits === '0' ? BigInt(sign + digits) : undefined;
}

/** Above it a number counts milliseconds: as seconds it would be after the year 2286. */
const MOST_SECONDS = 10_000_000_000n;

function momentOf(json: Json, perMicro: bigint): bigint | undefined {
  const moment = typeof json === 'string' ? microsOf(json) : epochOf(json);
  const units = moment === undefined ? undefined : moment.micros * perMicro + (perMicro > 1n ? moment.nanos : 0n);
  return units !== undefined && BigInt.asIntN(64, units) === units ? units : undefined;
}

function epochOf(json: Json): { readonly micros: bigint; readonly nanos: bigint } | undefined {
  const integer = integerOf(json, 64);
  if (integer === undefined) return undefined;
  const isMilliseconds = (integer < 0n ? -integer : integer) > MOST_SECONDS;
  return { micros: integer * (isMilliseconds ? 1_000n : 1_000_000n), nanos: 0n };
}

/** What is no text goes as JSON. */
function textOf(json: Json): string | undefined {
  const text = typeof json === 'string' ? json : isNumber(json) ? spellingOf(json) : printJson(json);
  // Half a character has no UTF-8.
  return text.isWellFormed() ? text : undefined;
}

const bytesOf = (json: Json): Buffer | undefined =>
  typeof json === 'string' && BASE64.test(json) ? Buffer.from(json, 'base64') : undefined;

function structOf(
  json: Json,
  members: readonly { readonly name: string; readonly convert: ToCell }[],
): StructCell | Misfit | undefined {
  if (!isObject(json)) return undefined;
  // No prototype: a field may have any name.
  const struct: Record<string, Cell> = Object.create(null);
  for (const { name, convert } of members) {
    const cell = convert(get(json, name));
    if (cell instanceof Misfit) return cell;
    struct[name] = cell;
  }
  return struct;
}

function listOf(items: readonly Json[], element: ToCell): readonly Cell[] | Misfit {
  const list: Cell[] = [];
  for (const item of items) {
    const cell = element(item);
    if (cell instanceof Misfit) return cell;
    list.push(cell);
  }
  return list;
}

function mapOf(json: Json, toKey: ToCell, toValue: ToCell): readonly MapEntry[] | Misfit | undefined {
  if (!isObject(json)) return undefined;
  const entries: MapEntry[] = [];
  for (const [name, item] of entriesOf(json)) {
    const [key, value] = [toKey(name), toValue(item)];
    if (key instanceof Misfit) return key;
    if (value instanceof Misfit) return value;
    entries.push({ key, value });
  }
  return entries;
}
