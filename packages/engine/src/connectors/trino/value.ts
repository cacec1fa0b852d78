import {
  entriesOf,
  isArray,
  isObject,
  type Json,
  type JsonObject,
  numberOf,
  ObjectBuilder,
  parseJson,
} from '../../json/index.ts';
import { fieldName, type TrinoType } from './type.ts';

/** `YYYY-MM-DD HH:MM:SS[.f]`, and where it is not local: UTC or an offset. Other zones stay as Trino prints them. */
const MOMENT = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?: (?:(UTC)|([+-]\d\d:\d\d)))?$/;
const DECIMAL = /^-?\d+(?:\.\d+)?$/;

/**
 * A value of Trino's protocol as a message has it: decimals are numbers with all their digits, moments are RFC 3339, rows are
 * objects, and what is JSON is not a text of it.
 */
export function valueOf(wire: Json, type: TrinoType): Json {
  if (wire === null) return null;
  switch (type.kind) {
    case 'array':
      return isArray(wire) ? wire.map((item) => valueOf(item, type.element)) : wire;
    case 'map':
      return isObject(wire) ? mapValue(wire, type.value) : wire;
    case 'row':
      return isArray(wire) ? rowValue(wire, type) : wire;
    case 'scalar':
      return typeof wire === 'string' ? scalarValue(wire, type.name) : wire;
  }
}

function mapValue(wire: JsonObject, type: TrinoType): Json {
  const value = new ObjectBuilder();
  for (const [key, item] of entriesOf(wire)) value.set(key, valueOf(item, type));
  return value.build();
}

function rowValue(wire: readonly Json[], { fields }: Extract<TrinoType, { kind: 'row' }>): Json {
  const value = new ObjectBuilder();
  for (const [at, { name, type }] of fields.entries())
    value.set(name ?? fieldName(at), valueOf(wire[at] ?? null, type));
  return value.build();
}

function scalarValue(wire: string, name: string): Json {
  switch (name) {
    case 'decimal':
      return DECIMAL.test(wire) ? numberOf(wire) : wire;
    case 'json':
      return parseJson(wire) ?? wire;
    case 'timestamp':
    case 'timestamp with time zone':
      return wire.replace(
        MOMENT,
        (_, date: string, time: string, utc?: string, offset?: string) =>
          `${date}T${time}${utc === undefined ? (offset ?? '') : 'Z'}`,
      );
    default:
      return wire;
  }
}
