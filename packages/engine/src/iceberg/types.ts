/** Iceberg's types and schemas, and how they are written in JSON. */
import type { Json, PlainObject } from '../json/index.ts';
import type { Answer } from './answer.ts';
import { unsupported } from './trouble.ts';

export type PrimitiveType =
  | { readonly kind: 'boolean' | 'int' | 'long' | 'float' | 'double' | 'date' | 'time' | 'string' | 'uuid' | 'binary' }
  /** In microseconds. With `isUtc`, a moment; without, what a calendar and a clock show somewhere. */
  | { readonly kind: 'timestamp'; readonly isUtc: boolean }
  | { readonly kind: 'timestamp-ns'; readonly isUtc: boolean }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'fixed'; readonly length: number };

export interface StructType {
  readonly kind: 'struct';
  readonly fields: readonly Field[];
}

export interface ListType {
  readonly kind: 'list';
  readonly element: Field;
}

export interface MapType {
  readonly kind: 'map';
  readonly key: Field;
  readonly value: Field;
}

export type Type = PrimitiveType | StructType | ListType | MapType;

/** A column, a member of a struct, or what a list or a map holds. */
export interface Field {
  /** Files refer to it by this number, which it keeps when it is renamed. */
  readonly id: number;
  readonly name: string;
  readonly isRequired: boolean;
  readonly type: Type;
}

export interface Schema {
  readonly id: number;
  readonly fields: readonly Field[];
}

export function isPrimitive(type: Type): type is PrimitiveType {
  return type.kind !== 'struct' && type.kind !== 'list' && type.kind !== 'map';
}

export function schemaOf(answer: Answer): Schema {
  return { id: answer.field('schema-id').int, fields: answer.field('fields').list.map(fieldOf) };
}

function fieldOf(answer: Answer): Field {
  return {
    id: answer.field('id').int,
    name: answer.field('name').text,
    isRequired: answer.field('required').flag,
    type: typeOf(answer.field('type')),
  };
}

function typeOf(answer: Answer): Type {
  if (answer.isText) return primitiveOf(answer.text);
  const kind = answer.field('type').text;
  switch (kind) {
    case 'struct':
      return { kind, fields: answer.field('fields').list.map(fieldOf) };
    case 'list':
      return { kind, element: partOf(answer, 'element') };
    case 'map':
      return { kind, key: partOf(answer, 'key'), value: partOf(answer, 'value') };
    default:
      throw unsupported(`columns of the type ${kind} can't be used`);
  }
}

function partOf(answer: Answer, name: 'element' | 'key' | 'value'): Field {
  return {
    id: answer.field(`${name}-id`).int,
    name,
    isRequired: name === 'key' || answer.field(`${name}-required`).flag,
    type: typeOf(answer.field(name)),
  };
}

export function primitiveOf(text: string): PrimitiveType {
  switch (text) {
    case 'boolean':
    case 'int':
    case 'long':
    case 'float':
    case 'double':
    case 'date':
    case 'time':
    case 'string':
    case 'uuid':
    case 'binary':
      return { kind: text };
    case 'timestamp':
    case 'timestamptz':
      return { kind: 'timestamp', isUtc: text === 'timestamptz' };
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return { kind: 'timestamp-ns', isUtc: text === 'timestamptz_ns' };
  }
  const [, precision, scale] = /^decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)$/.exec(text) ?? [];
  if (precision !== undefined) return { kind: 'decimal', precision: Number(precision), scale: Number(scale) };
  const [, length] = /^fixed\[\s*(\d+)\s*\]$/.exec(text) ?? [];
  if (length !== undefined) return { kind: 'fixed', length: Number(length) };
  throw unsupported(`columns of the type ${text} can't be used`);
}

/** As the specification spells it. */
export function typeName(type: Type): string {
  if (type.kind === 'timestamp') return type.isUtc ? 'timestamptz' : 'timestamp';
  if (type.kind === 'timestamp-ns') return type.isUtc ? 'timestamptz_ns' : 'timestamp_ns';
  if (type.kind === 'decimal') return `decimal(${type.precision}, ${type.scale})`;
  return type.kind === 'fixed' ? `fixed[${type.length}]` : type.kind;
}

export function schemaJson({ id, fields }: Schema): PlainObject {
  return { type: 'struct', 'schema-id': id, fields: fields.map(fieldJson) };
}

function fieldJson({ id, name, isRequired, type }: Field): PlainObject {
  return { id, name, required: isRequired, type: typeJson(type) };
}

function typeJson(type: Type): Json {
  if (isPrimitive(type)) return typeName(type);
  switch (type.kind) {
    case 'struct':
      return { type: 'struct', fields: type.fields.map(fieldJson) };
    case 'list': {
      const { id, isRequired, type: element } = type.element;
      return { type: 'list', 'element-id': id, 'element-required': isRequired, element: typeJson(element) };
    }
    case 'map':
      return {
        type: 'map',
        'key-id': type.key.id,
        key: typeJson(type.key.type),
        'value-id': type.value.id,
        'value-required': type.value.isRequired,
        value: typeJson(type.value.type),
      };
  }
}
