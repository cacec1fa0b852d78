/**
 * From what typebox writes (JSON Schema 2020-12) to what a CRD takes (a "structural" schema). In a structural schema every
 * field has exactly one type, said in one place; so literals become `enum`, `null` becomes `nullable`, records become
 * `additionalProperties`, and a union of objects becomes one object with rules (see `variants.ts`).
 *
 * What has no counterpart is an error that names the place and the way to write it: leaving it out would give a server that
 * accepts what the type forbids.
 */
import type { TSchema } from 'typebox';
import { NUMBER_FORMATS, STRING_FORMATS } from './formats.ts';
import type { JsonSchema } from './json-schema.ts';
import { SchemaError, type StructuralSchema } from './structural-schema.ts';
import { mergeAll, mergeVariants } from './variants.ts';

export function structuralOf(schema: TSchema, path: string): StructuralSchema {
  // Through JSON: what a server would get, without the properties that typebox keeps for itself.
  const source: Source = JSON.parse(JSON.stringify(schema));
  return translate(source, path);
}

type Scalar = string | number | boolean;

/** A schema as typebox writes it, where that differs from how Kubernetes does. */
interface Source
  extends Omit<JsonSchema, 'items' | 'properties' | 'additionalProperties' | 'enum' | Composition | Limit> {
  readonly const?: Scalar;
  readonly enum?: readonly Scalar[];
  readonly items?: Source | readonly Source[];
  readonly properties?: Readonly<Record<string, Source>>;
  readonly patternProperties?: Readonly<Record<string, Source>>;
  readonly additionalProperties?: Source | boolean;
  readonly anyOf?: readonly Source[];
  readonly oneOf?: readonly Source[];
  readonly allOf?: readonly Source[];
  readonly not?: Source;
  readonly exclusiveMinimum?: number | boolean;
  readonly exclusiveMaximum?: number | boolean;
  readonly 'x-polder-secret'?: boolean;
}
type Composition = 'anyOf' | 'oneOf' | 'allOf' | 'not';
type Limit = 'exclusiveMinimum' | 'exclusiveMaximum';

const NEVER: Readonly<Record<string, string>> = {
  $ref: 'a CRD cannot refer to another schema; write it out, or use anything() for what nests without end',
  $defs: 'a CRD cannot refer to another schema; write it out, or use anything() for what nests without end',
  if: 'a CRD has no conditions; use withRules()',
  dependencies: 'a CRD has no conditions; use withRules()',
  dependentRequired: 'a CRD has no conditions; use withRules()',
  dependentSchemas: 'a CRD has no conditions; use withRules()',
  contains: 'a CRD cannot say what a list contains; use withRules()',
  propertyNames: 'a CRD cannot say what keys look like; use withRules() with self.all(key, key.matches(…))',
  prefixItems: 'a CRD has no tuples; use an object or a list of one type',
  uniqueItems: 'the API server refuses it; use listSet()',
};

/** Said to people or to other tools; no server needs it. */
const DROPPED: readonly string[] = [
  '$schema',
  '$id',
  'examples',
  'readOnly',
  'writeOnly',
  'additionalItems',
  'unevaluatedProperties',
];

/** A schema with these alone is `Type.Unknown()`; a CRD would drop all of the value without being told to keep it. */
const SAYS_NO_TYPE: readonly string[] = [...DROPPED, 'description', 'title', 'default', 'x-polder-secret'];

function translate(source: Source, path: string): StructuralSchema {
  for (const [keyword, advice] of Object.entries(NEVER)) {
    if (Object.hasOwn(source, keyword)) throw new SchemaError(path, `${keyword}: ${advice}`);
  }
  const hasOneType = source.type !== undefined || source['x-kubernetes-int-or-string'] === true;
  if (!hasOneType && source.anyOf !== undefined) return unionOf(source, source.anyOf, path);
  if (!hasOneType && source.allOf !== undefined) {
    const parts = source.allOf.map((part) => translate(part, path));
    return around(source, mergeAll(parts, path), path);
  }
  if (source.const !== undefined) return around(source, enumOf([source.const], path), path);
  if (!hasOneType && source.enum !== undefined) return around(source, enumOf(source.enum, path), path);
  if (source.type === 'null') throw new SchemaError(path, 'null alone is no type; use a union of a type and null');
  const isAnything = Object.keys(source).every((keyword) => SAYS_NO_TYPE.includes(keyword));
  const kept = { 'x-kubernetes-preserve-unknown-fields': true };
  return { ...plain(source, path), ...childrenOf(source, path), ...(isAnything && kept) };
}

/** Everything but the schemas below. */
function plain(source: Source, path: string): StructuralSchema {
  const {
    items: _items,
    properties: _properties,
    additionalProperties: _additional,
    patternProperties: _,
    ...rest
  } = source;
  const { exclusiveMinimum, exclusiveMaximum, anyOf, oneOf, allOf, not, const: _const, ...own } = rest;
  if (own.format !== undefined) checkFormat(own.format, own.type, path);
  if (own.pattern !== undefined) checkPattern(own.pattern, path);
  for (const bound of ['minimum', 'maximum'] as const) {
    if (own[bound] === undefined || typeof source[EXCLUSIVE[bound]] !== 'number') continue;
    throw new SchemaError(path, `a CRD has one ${bound}; give ${bound} or ${EXCLUSIVE[bound]}`);
  }
  return {
    ...Object.fromEntries(Object.entries(own).filter(([keyword]) => !DROPPED.includes(keyword))),
    ...limit(exclusiveMinimum, 'minimum'),
    ...limit(exclusiveMaximum, 'maximum'),
    // Beside a type these only narrow it, and a structural schema has them as they are.
    ...(anyOf && { anyOf: anyOf.map(narrowing) }),
    ...(oneOf && { oneOf: oneOf.map(narrowing) }),
    ...(allOf && { allOf: allOf.map(narrowing) }),
    ...(not && { not: narrowing(not) }),
  };
}

const EXCLUSIVE = { minimum: 'exclusiveMinimum', maximum: 'exclusiveMaximum' } as const;

/** Kubernetes says with a flag beside the limit what JSON Schema says with a second limit. */
function limit(value: number | boolean | undefined, bound: 'minimum' | 'maximum'): JsonSchema {
  if (value === undefined) return {};
  const flag = EXCLUSIVE[bound];
  return typeof value === 'boolean' ? { [flag]: value } : { [bound]: value, [flag]: true };
}

function narrowing(source: Source): JsonSchema {
  const { const: only, exclusiveMinimum, exclusiveMaximum, ...rest } = source;
  const node: JsonSchema = JSON.parse(JSON.stringify(rest));
  return {
    ...node,
    ...limit(exclusiveMinimum, 'minimum'),
    ...limit(exclusiveMaximum, 'maximum'),
    ...(only !== undefined && { enum: [only] }),
  };
}

function checkFormat(format: string, type: string | undefined, path: string): void {
  const known = type === 'string' ? STRING_FORMATS : NUMBER_FORMATS;
  if (known.has(format)) return;
  const all = [...known.keys()].join(', ');
  throw new SchemaError(path, `format ${format} is none that the API server is sure to check (${all}); use a pattern`);
}

/** The API server's expressions never look back or ahead, which is what makes them safe to run on anybody's input. */
function checkPattern(pattern: string, path: string): void {
  if (!/\(\?(=|!|<=|<!)|\\[1-9]/.test(pattern)) return;
  throw new SchemaError(
    path,
    `pattern ${pattern} looks around or refers back, which the API server cannot; use withRules()`,
  );
}

function childrenOf(source: Source, path: string): StructuralSchema {
  const { items, properties, patternProperties, additionalProperties } = source;
  if (Array.isArray(items)) throw new SchemaError(path, 'a CRD has no tuples; use an object or a list of one type');
  const values = valuesOf(source, path);
  if (properties !== undefined && values !== undefined) {
    throw new SchemaError(path, 'a CRD has either named fields or a map; move the map into a field of its own');
  }
  const isOpen = additionalProperties === true && patternProperties === undefined;
  return {
    ...(items !== undefined && !isList(items) && { items: translate(items, `${path}[]`) }),
    ...(properties && { properties: eachOf(properties, path) }),
    ...(values && { additionalProperties: translate(values, `${path}.*`) }),
    ...(isOpen && { 'x-kubernetes-preserve-unknown-fields': true }),
  };
}

const isList = (items: Source | readonly Source[]): items is readonly Source[] => Array.isArray(items);

function eachOf(properties: Readonly<Record<string, Source>>, path: string): Record<string, StructuralSchema> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, translate(property, `${path}.${name}`)]),
  );
}

/** The schema of a map's values. typebox has the keys as a pattern, of which a CRD knows only the one that fits all. */
function valuesOf({ patternProperties, additionalProperties }: Source, path: string): Source | undefined {
  if (patternProperties === undefined)
    return typeof additionalProperties === 'object' ? additionalProperties : undefined;
  const [only, ...others] = Object.entries(patternProperties);
  if (only === undefined || others.length > 0 || (only[0] !== '^.*$' && only[0] !== '')) {
    const advice = 'use Type.Record(Type.String(), …) and withRules() with self.all(key, key.matches(…))';
    throw new SchemaError(path, `a CRD cannot say what the keys of a map look like; ${advice}`);
  }
  return only[1];
}

function unionOf(source: Source, members: readonly Source[], path: string): StructuralSchema {
  const all = members.flatMap(flattened);
  const rest = all.filter((member) => member.type !== 'null');
  const isNullable = rest.length < all.length;
  const union = around(source, oneOf(rest, path), path);
  if (!isNullable) return union;
  // Measured on v1.36: null is tested against `enum` like any value, and a null written into `enum` is lost on the way.
  if (union.enum)
    throw new SchemaError(path, 'the API server refuses null where there is an enum; use Type.Optional()');
  return { ...union, nullable: true };
}

function flattened(member: Source): readonly Source[] {
  const isBare = Object.keys(member).length === 1;
  return isBare && member.anyOf ? member.anyOf.flatMap(flattened) : [member];
}

function oneOf(members: readonly Source[], path: string): StructuralSchema {
  const [first, ...others] = members;
  if (first === undefined) throw new SchemaError(path, 'a union of nothing');
  if (others.length === 0) return translate(first, path);
  if (members.every((member) => member.const !== undefined || member.enum !== undefined)) {
    return enumOf(
      members.flatMap((member) => member.enum ?? member.const ?? []),
      path,
    );
  }
  const isBare = members.every((member) => Object.keys(member).length === 1);
  const types = new Set(members.map((member) => member.type));
  if (isBare && types.size === 2 && types.has('integer') && types.has('string'))
    return { 'x-kubernetes-int-or-string': true };
  if (members.every((member) => member.type === 'object' && member.properties !== undefined)) {
    return mergeVariants(
      members.map((member) => translate(member, path)),
      path,
    );
  }
  const advice = 'a field has one type; give each alternative a field of its own and require one of them withRules()';
  throw new SchemaError(
    path,
    `a union of ${members.map((member) => member.type ?? 'unknown').join(' and ')}: ${advice}`,
  );
}

function enumOf(values: readonly Scalar[], path: string): StructuralSchema {
  const types = new Set(values.map(typeOf));
  if (types.has('number') && types.delete('integer')) types.add('number');
  const [type, ...others] = types;
  if (type === undefined || others.length > 0) {
    throw new SchemaError(path, `${values.map((value) => JSON.stringify(value)).join(', ')} are not of one type`);
  }
  return { type, enum: [...new Set(values)] };
}

function typeOf(value: Scalar): string {
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/** What is said around a union, a literal or an intersection holds beside what its parts say. */
function around(source: Source, node: StructuralSchema, path: string): StructuralSchema {
  const { anyOf: _any, allOf: _all, const: _const, enum: _enum, type: _type, ...said } = source;
  const rules = [...(node['x-kubernetes-validations'] ?? []), ...(said['x-kubernetes-validations'] ?? [])];
  return { ...node, ...plain(said, path), ...(rules.length > 0 && { 'x-kubernetes-validations': rules }) };
}
