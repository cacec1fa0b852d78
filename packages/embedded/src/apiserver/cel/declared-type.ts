import type { Environment } from '@marcbachmann/cel-js';
import { Duration } from '@marcbachmann/cel-js/evaluator';
import { isObject, type JsonSchema, type Schema } from '../schema/schema.ts';
import { equalValues } from './equality.ts';
import { escapeProperty } from './escaping.ts';

/** What a schema is in CEL: the name of the type, and how a JSON value becomes one. */
export interface DeclaredType {
  readonly name: string;
  readonly toCel: (value: unknown) => unknown;
}

const STRING_FORMATS: Readonly<Record<string, DeclaredType>> = {
  byte: { name: 'bytes', toCel: (value) => new Uint8Array(Buffer.from(String(value), 'base64')) },
  date: {
    name: 'google.protobuf.Timestamp',
    toCel: (value) => new Date(`${String(value)}T00:00:00Z`),
  },
  'date-time': { name: 'google.protobuf.Timestamp', toCel: (value) => new Date(String(value)) },
  duration: { name: 'google.protobuf.Duration', toCel: (value) => durationOf(String(value)) },
};

const asIs = (value: unknown) => value;
const DYNAMIC: DeclaredType = {
  name: 'dyn',
  toCel: (value) => (Number.isInteger(value) ? BigInt(Number(value)) : value),
};
const SCALARS: Readonly<Record<string, DeclaredType>> = {
  string: { name: 'string', toCel: asIs },
  boolean: { name: 'bool', toCel: asIs },
  number: { name: 'double', toCel: (value) => (typeof value === 'bigint' ? Number(value) : value) },
  integer: { name: 'int', toCel: (value) => (typeof value === 'number' ? BigInt(Math.trunc(value)) : value) },
};

const TEXT: JsonSchema = { type: 'string' };
const OBJECT_META: JsonSchema = { type: 'object', properties: { name: TEXT, generateName: TEXT } };

/**
 * Declares a schema's types. undefined when expressions cannot see the value: without a type nothing is known of it.
 * The root of a resource has `apiVersion`, `kind`, `metadata.name` and `metadata.generateName`, and nothing else of metadata.
 */
export function declareType(env: Environment, schema: Schema, isResource: boolean): DeclaredType | undefined {
  const { node } = schema;
  if (node['x-kubernetes-int-or-string']) return DYNAMIC;
  if (node.type === 'array') {
    const { items } = schema;
    const element = items && declareType(env, items, items.node['x-kubernetes-embedded-resource'] === true);
    return element && listOf(element);
  }
  if (node.type === 'object') {
    if (typeof node.additionalProperties !== 'object') return declareObject(env, schema, isResource);
    const values = schema.within(node.additionalProperties);
    const element = declareType(env, values, values.node['x-kubernetes-embedded-resource'] === true);
    return element && mapOf(element);
  }
  if (node.type === 'string') return STRING_FORMATS[node.format ?? ''] ?? SCALARS.string;
  return SCALARS[node.type ?? ''];
}

const listOf = ({ name, toCel }: DeclaredType): DeclaredType => ({
  name: `list<${name}>`,
  toCel: (value) => (Array.isArray(value) ? value.map(toCel) : []),
});

const mapOf = ({ name, toCel }: DeclaredType): DeclaredType => ({
  name: `map<string, ${name}>`,
  toCel: (value) => new Map(Object.entries(isObject(value) ? value : {}).map(([key, member]) => [key, toCel(member)])),
});

let serial = 0;

function declareObject(env: Environment, schema: Schema, isResource: boolean): DeclaredType {
  const properties = { ...schema.node.properties };
  if (isResource) Object.assign(properties, { apiVersion: TEXT, kind: TEXT, metadata: OBJECT_META });
  const fields = Object.entries(properties).flatMap(([name, node]) => {
    const property = schema.within(node);
    const type = declareType(env, property, property.node['x-kubernetes-embedded-resource'] === true);
    const escaped = escapeProperty(name);
    return type === undefined || escaped === undefined ? [] : [{ name, escaped, type }];
  });
  // An instance of its own class tells the library the type; the fields are in a Map, where no name is special.
  const Fields = class extends Map<string, unknown> {};
  const name = `object.N${++serial}`;
  env.registerType(name, {
    ctor: Fields,
    fields: Object.fromEntries(fields.map(({ escaped, type }) => [escaped, type.name])),
  });
  env.registerOperator(`${name} == ${name}`, sameFields);
  return {
    name,
    toCel: (value) => {
      const object = new Fields();
      for (const { name, escaped, type } of isObject(value) ? fields : []) {
        const member = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
        // The library knows no type that is nullable: null is shown as absent.
        if (member !== undefined && member !== null) object.set(escaped, type.toCel(member));
      }
      return object;
    },
  };
}

const sameFields = (a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>) =>
  a.size === b.size && [...a].every(([key, value]) => b.has(key) && equalValues(value, b.get(key)));

const UNITS: Readonly<Record<string, number>> = { h: 3_600e9, m: 60e9, s: 1e9, ms: 1e6, us: 1e3, µs: 1e3, ns: 1 };

function durationOf(text: string): Duration {
  let nanos = 0;
  for (const [, amount = '0', unit = 's'] of text.matchAll(/([\d.]+)(ns|us|µs|ms|s|m|h)/g)) {
    nanos += Number(amount) * (UNITS[unit] ?? 0);
  }
  const signed = text.startsWith('-') ? -nanos : nanos;
  return new Duration(BigInt(Math.trunc(signed / 1e9)), Math.round(signed % 1e9));
}
