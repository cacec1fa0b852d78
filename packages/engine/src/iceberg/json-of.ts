/**
 * What a file holds, as JSON: numbers with all their digits, times as ISO 8601, bytes as base64.
 *
 * | Iceberg | JSON |
 * | --- | --- |
 * | int, long, decimal | a number, exact |
 * | float, double | a number; `"NaN"`, `"Infinity"`, `"-Infinity"` |
 * | date, time | `"2026-01-31"`, `"13:45:00.123456"` |
 * | timestamptz, timestamp | `"2026-01-31T13:45:00.123456Z"`, the same without `Z` |
 * | uuid | `"f79c3e09-677c-4bbd-a479-3f349cb785e7"` |
 * | binary, fixed | base64 |
 * | struct, map | an object; the keys of a map are the texts of its keys |
 * | list | an array |
 */
import type { SchemaTree } from 'hyparquet';
import {
  dateText,
  decimalSpelling,
  type Json,
  momentText,
  numberOf,
  ObjectBuilder,
  shortestFloat,
  textOf,
  timeText,
} from '../json/index.ts';
import { bigintOfTwosComplement } from './binary.ts';
import { unsupported } from './trouble.ts';
import { type Field, isPrimitive, type PrimitiveType, type Type, typeName } from './types.ts';

/** Of one column; `value` is as the file stores it. */
export type ToJson = (value: unknown) => Json;

/** `node`: the column as the file describes it, by which it may be narrower or called otherwise. */
export function jsonOf(type: Type, node: SchemaTree): ToJson {
  const convert = converterOf(type, node);
  return (value) => {
    if (value === undefined || value === null) return null;
    const json = convert(value);
    if (json !== undefined) return json;
    throw unsupported(`a value of the column "${node.path.join('.')}" is no ${typeName(type)}`);
  };
}

type Converter = (value: unknown) => Json | undefined;

function converterOf(type: Type, node: SchemaTree): Converter {
  if (isPrimitive(type)) return leafConverter(type, node);
  switch (type.kind) {
    case 'struct':
      return structConverter(type.fields, node);
    case 'list': {
      // A group of its own around each element; old files go without it.
      const [repeated = node] = node.children;
      const element = jsonOf(
        type.element.type,
        repeated.children.length === 1 ? (repeated.children[0] ?? repeated) : repeated,
      );
      return (value) => (isList(value) ? Array.from(value, element) : undefined);
    }
    case 'map':
      return mapConverter(type.key, type.value, node);
  }
}

function structConverter(fields: readonly Field[], node: SchemaTree): Converter {
  const hasIds = node.children.some(({ element }) => element.field_id !== undefined);
  const members = fields.map((field) => {
    const child = node.children.find(({ element }) =>
      hasIds ? element.field_id === field.id : element.name === field.name,
    );
    return { name: field.name, fileName: child?.element.name, toJson: child && jsonOf(field.type, child) };
  });
  return (value) => {
    if (!isObject(value)) return undefined;
    const object = new ObjectBuilder();
    for (const { name, fileName = '', toJson } of members) object.set(name, toJson ? toJson(value[fileName]) : null);
    return object.build();
  };
}

function mapConverter(key: Field, value: Field, node: SchemaTree): Converter {
  const [entries] = node.children;
  const [keyNode, valueNode] = entries?.children ?? [];
  if (entries === undefined || keyNode === undefined || valueNode === undefined) return () => undefined;
  const [keyJson, valueJson] = [jsonOf(key.type, keyNode), jsonOf(value.type, valueNode)];
  const [pairsName, keyName, valueName] = [entries, keyNode, valueNode].map(({ element }) => element.name);
  return (map) => {
    const pairs = isObject(map) ? map[pairsName ?? ''] : undefined;
    if (!isList(pairs)) return undefined;
    const object = new ObjectBuilder();
    for (const pair of pairs) {
      if (!isObject(pair)) return undefined;
      object.set(textOf(keyJson(pair[keyName ?? ''])), valueJson(pair[valueName ?? '']));
    }
    return object.build();
  };
}

function leafConverter(type: PrimitiveType, { element }: SchemaTree): Converter {
  switch (type.kind) {
    case 'boolean':
      return (value) => (typeof value === 'boolean' ? value : undefined);
    case 'int':
    case 'long':
      return (value) => (isInteger(value) ? exact(BigInt(value).toString()) : undefined);
    case 'float':
      return (value) => (typeof value === 'number' ? doubleJson(shortestFloat(value)) : undefined);
    case 'double':
      return (value) => (typeof value === 'number' ? doubleJson(value) : undefined);
    case 'decimal':
      return (value) => {
        const unscaled = isInteger(value)
          ? BigInt(value)
          : isBytes(value)
            ? bigintOfTwosComplement(bufferOf(value))
            : undefined;
        return unscaled === undefined ? undefined : exact(decimalSpelling(unscaled, type.scale));
      };
    case 'date':
      return (value) => (typeof value === 'number' ? dateText(value) : undefined);
    case 'time': {
      const toMicros = unitsOf(element, 1_000_000n);
      return (value) => (isInteger(value) ? timeText(toMicros(BigInt(value)), 6) : undefined);
    }
    case 'timestamp':
    case 'timestamp-ns': {
      const digits = type.kind === 'timestamp' ? 6 : 9;
      const toUnits = unitsOf(element, 10n ** BigInt(digits));
      return (value) => (isInteger(value) ? momentText(toUnits(BigInt(value)), digits, type.isUtc) : undefined);
    }
    case 'string':
      return (value) => (typeof value === 'string' ? value : isBytes(value) ? bufferOf(value).toString() : undefined);
    case 'uuid':
      return (value) => (isBytes(value) ? uuidText(bufferOf(value).toString('hex')) : undefined);
    case 'binary':
    case 'fixed':
      return (value) => (isBytes(value) ? bufferOf(value).toString('base64') : undefined);
  }
}

/** From the unit of the file to the one that is wanted, both by how many make a second. */
function unitsOf(
  { type, converted_type, logical_type }: SchemaTree['element'],
  wanted: bigint,
): (value: bigint) => bigint {
  const unit = logical_type?.type === 'TIME' || logical_type?.type === 'TIMESTAMP' ? logical_type.unit : undefined;
  const isMillis = unit === 'MILLIS' || converted_type === 'TIMESTAMP_MILLIS' || converted_type === 'TIME_MILLIS';
  const isNanos = unit === 'NANOS' || type === 'INT96';
  const stored = isMillis ? 1_000n : isNanos ? 1_000_000_000n : 1_000_000n;
  if (stored <= wanted) return (value) => value * (wanted / stored);
  // Floored, so that what is before 1970 stays in its order.
  const step = stored / wanted;
  return (value) => (value - (((value % step) + step) % step)) / step;
}

const exact = (spelling: string): Json => numberOf(spelling);

function doubleJson(value: number): Json {
  if (!Number.isFinite(value)) return String(value);
  return Object.is(value, -0) ? numberOf('-0') : value;
}

const uuidText = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

const isInteger = (value: unknown): value is number | bigint => typeof value === 'bigint' || Number.isInteger(value);
const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array;
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
const isList = (value: unknown): value is Iterable<unknown> & ArrayLike<unknown> =>
  Array.isArray(value) || ArrayBuffer.isView(value);
const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
