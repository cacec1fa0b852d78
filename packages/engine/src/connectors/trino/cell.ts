import {
  entriesOf,
  get,
  isArray,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
  plainDecimal,
  printJson,
} from '../../json/index.ts';
import { decodedString } from '../sql/index.ts';
import { isDate, printUtc, type Utc, utcOfEpoch, utcOfText } from './moment.ts';
import { fieldName, type RowField, type TrinoType } from './type.ts';

/**
 * A value on its way into a column: the text that Trino turns into exactly that value, or why there is none. No number passes
 * through a JavaScript one. Equal values of a column that can be a key have equal texts.
 */
export type Cell = { readonly text: string | null } | Refusal;

export interface Refusal {
  /** What the message has, and why that does not fit. */
  readonly because: string;
}

type Scalar = Extract<TrinoType, { kind: 'scalar' }>;

/** What a column of this type makes of a JSON value, given by its text. */
export function cellOf(json: string, type: TrinoType): Cell {
  if (json === 'null') return { text: null };
  if (type.kind !== 'scalar') return nestedCell(json, type);
  const { name } = type;
  if (name === 'json') return { text: json };
  const text = decodedString(json) ?? json;
  if (!text.isWellFormed()) return { because: 'has half a character (a lone surrogate), which no text can have' };
  // Whatever it is, it has a text.
  if (name === 'varchar' || name === 'char') return textCell(text, type);
  if (json.startsWith('{') || json.startsWith('[')) return unfit(json, type);
  const isNumber = /^[-\d]/.test(json);
  const cell = isNumber ? numberCells[name] : undefined;
  const made = (cell ?? textCells[name] ?? asItIs)(text, type);
  return made === undefined ? unfit(json, type) : { text: made };
}

/** SQL that turns the text of a cell, which is the value of `sql`, into a value of the type. */
export function castOf(type: TrinoType, sql: string): string {
  if (type.kind !== 'scalar') return `CAST(CAST(json_parse(${sql}) AS ${textsOf(type)}) AS ${type.sql})`;
  if (type.name === 'varchar' && type.parameters.length === 0) return sql;
  if (type.name === 'varbinary') return `from_base64(${sql})`;
  if (type.name === 'json') return `json_parse(${sql})`;
  return `CAST(${sql} AS ${type.sql})`;
}

/** The same structure with texts for values: Trino casts them as it casts others, but knows no cast from JSON for most. */
function textsOf(type: TrinoType): string {
  switch (type.kind) {
    case 'array':
      return `array(${textsOf(type.element)})`;
    case 'map':
      return `map(varchar, ${textsOf(type.value)})`;
    case 'row':
      return `row(${type.fields.map((field) => textsOf(field.type)).join(', ')})`;
    case 'scalar':
      return 'varchar';
  }
}

/** At most so many characters of a value are repeated. */
const SHOWN = 40;

function unfit(json: string, type: TrinoType): Refusal {
  const shown = json.length > SHOWN ? `${json.slice(0, SHOWN)}…` : json;
  return { because: `has ${shown}, which is no ${type.sql}` };
}

/** Undefined: it is none. */
type Conversion = (text: string, type: Scalar) => string | undefined;

const asItIs: Conversion = (text) => text;

const textCells: Readonly<Record<string, Conversion>> = {
  tinyint: integer(8n),
  smallint: integer(16n),
  integer: integer(32n),
  bigint: integer(64n),
  decimal: decimalOf,
  real: (text) => floatOf(text, Math.fround),
  double: (text) => floatOf(text, Number),
  boolean: (text) => (/^(?:true|false)$/i.test(text) ? text.toLowerCase() : undefined),
  date: (text) => (isDate(text) ? text : undefined),
  time: timeOf,
  timestamp: (text, type) => timestampOf(utcOfText(text), type),
  'timestamp with time zone': (text, type) => timestampOf(utcOfText(text), type, ' UTC'),
  uuid: (text) => (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) ? text.toLowerCase() : undefined),
  // JSON has no bytes; in base64, as Trino itself prints them.
  varbinary: (text) => (Buffer.from(text, 'base64').toString('base64') === text ? text : undefined),
};

/** Where a number means something else than the text that it is spelled with. */
const numberCells: Readonly<Record<string, Conversion>> = {
  timestamp: (text, type) => timestampOf(utcOfEpoch(text), type),
  'timestamp with time zone': (text, type) => timestampOf(utcOfEpoch(text), type, ' UTC'),
};

function textCell(text: string, { name, parameters: [length] }: Scalar): Cell {
  // Trino pads it again.
  const kept = name === 'char' ? withoutPadding(text) : text;
  const size = length === undefined || kept.length <= length ? 0 : Array.from(kept).length;
  if (length !== undefined && size > length)
    return { because: `has ${size} characters, and ${name}(${length}) holds ${length}` };
  return { text: kept };
}

function withoutPadding(text: string): string {
  let end = text.length;
  while (text[end - 1] === ' ') end -= 1;
  return text.slice(0, end);
}

/** More than any integer or decimal has; longer ones are not worth the time it takes to read them. */
const MOST_DIGITS = 100;

function integer(bits: bigint): Conversion {
  const most = 2n ** (bits - 1n) - 1n;
  return (text) => {
    const plain = plainDecimal(text);
    if (plain.length > MOST_DIGITS || !/^-?\d+$/.test(plain)) return undefined;
    const value = BigInt(plain);
    return value <= most && value >= -most - 1n ? value.toString() : undefined;
  };
}

const DECIMAL = /^(-?)0*(\d*)(?:\.(\d+))?$/;

/** One that has more digits than the column is refused: Trino would round it without a word. */
function decimalOf(text: string, { parameters: [precision = 38, scale = 0] }: Scalar): string | undefined {
  const plain = plainDecimal(text);
  if (plain.length > MOST_DIGITS || !/\d/.test(plain)) return undefined;
  const [, sign = '', whole, fraction = ''] = DECIMAL.exec(plain) ?? [];
  if (whole === undefined || whole.length > precision - scale || fraction.length > scale) return undefined;
  const digits = `${whole || '0'}${scale === 0 ? '' : `.${fraction.padEnd(scale, '0')}`}`;
  return /[1-9]/.test(digits) ? sign + digits : digits;
}

function floatOf(text: string, rounded: (number: number) => number): string | undefined {
  if (/^(?:NaN|[+-]?Infinity)$/.test(text)) return text;
  return /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) && Number.isFinite(rounded(Number(text))) ? text : undefined;
}

function timeOf(text: string, { parameters: [precision = 3] }: Scalar): string | undefined {
  const [, seconds, fraction = ''] = /^((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d+))?$/.exec(text) ?? [];
  return seconds === undefined ? undefined : printUtc({ seconds, fraction }, precision);
}

function timestampOf(utc: Utc | undefined, { parameters: [precision = 3] }: Scalar, zone = ''): string | undefined {
  if (!utc) return undefined;
  // To the last digit: `.5` and `.50` are the same moment, which may be a key.
  const fraction = utc.fraction.padEnd(precision, '0');
  return printUtc({ ...utc, fraction }, precision) + zone;
}

/** As JSON with texts for values; rows by the order of their fields, so that no name has to be spelled as Trino does. */
function nestedCell(json: string, type: TrinoType): Cell {
  const value = parseJson(json);
  const texts = value === undefined ? unfit(json, type) : nestedTexts(value, type);
  return 'because' in texts ? texts : { text: texts.json };
}

type Texts = { readonly json: string } | Refusal;

function nestedTexts(value: Json, type: TrinoType): Texts {
  if (value === null) return { json: 'null' };
  switch (type.kind) {
    case 'array':
      if (isArray(value)) return listOf(value.map((item) => nestedTexts(item, type.element)));
      break;
    case 'map':
      if (isObject(value)) return mapOf(value, type);
      break;
    case 'row':
      if (isObject(value))
        return listOf(type.fields.map((field, at) => nestedTexts(memberOf(value, field, at), field.type)));
      break;
    case 'scalar': {
      if (type.name === 'varbinary' || type.name === 'json')
        return { because: `has a ${type.name} within another value, which can't be written` };
      const cell = cellOf(printJson(value), type);
      return 'because' in cell ? cell : { json: JSON.stringify(cell.text) };
    }
  }
  return unfit(printJson(value), type);
}

function mapOf(value: JsonObject, type: Extract<TrinoType, { kind: 'map' }>): Texts {
  const members: string[] = [];
  for (const [key, item] of entriesOf(value)) {
    const name = cellOf(JSON.stringify(key), type.key);
    const texts = nestedTexts(item, type.value);
    if ('because' in name) return name;
    if ('because' in texts) return texts;
    members.push(`${JSON.stringify(name.text)}:${texts.json}`);
  }
  return { json: `{${members.join(',')}}` };
}

/** Trino tells names apart by their letters, not by their case; without a name it calls a field by its place. */
function memberOf(value: JsonObject, { name }: RowField, at: number): Json {
  const wanted = name ?? fieldName(at);
  const member = get(value, wanted);
  if (member !== undefined) return member;
  for (const [key, item] of entriesOf(value)) if (key.toLowerCase() === wanted.toLowerCase()) return item;
  return null;
}

function listOf(items: readonly Texts[]): Texts {
  const texts: string[] = [];
  for (const item of items) {
    if ('because' in item) return item;
    texts.push(item.json);
  }
  return { json: `[${texts.join(',')}]` };
}
