/** Runs a structural schema over a value, in this process: what the API server would do but for the CEL rules. */
import { Ajv, type AnySchemaObject, type ErrorObject, type ValidateFunction } from 'ajv';
import type { DataValidationCxt } from 'ajv/dist/types/index.js';
import { NUMBER_FORMATS, STRING_FORMATS } from './formats.ts';
import type { JsonSchema } from './json-schema.ts';
import type { StructuralSchema, Variants } from './structural-schema.ts';
import { misplaced, needed } from './variants.ts';

export type Check = ValidateFunction;

export function checkOf(schema: StructuralSchema): Check {
  // The schema is our own work, so ajv need not check it; and tidying the generated code costs more than it saves.
  const ours = { meta: false, validateSchema: false, strict: false, code: { optimize: false } } as const;
  const ajv = new Ajv({ allErrors: true, verbose: true, ownProperties: true, ...ours });
  for (const [name, validate] of NUMBER_FORMATS) ajv.addFormat(name, { type: 'number', validate });
  for (const [name, validate] of STRING_FORMATS) ajv.addFormat(name, validate);
  ajv.addKeyword({ keyword: LIST_KEYS, type: 'array', validate: withoutDoubles, errors: true });
  ajv.addKeyword({ keyword: VARIANTS, type: 'object', validate: ofOneVariant, errors: true });
  return ajv.compile(checkable(schema));
}

/**
 * Before it validates, the API server drops nulls from fields that may not be null, then fills in the defaults. Returns a new
 * value; what the schema does not know stays as it is.
 */
export function withDefaults(schema: StructuralSchema, value: unknown): unknown {
  if (Array.isArray(value)) return schema.items ? value.map((item) => withDefaults(schema.items ?? {}, item)) : value;
  if (!isRecord(value)) return value;
  const given = Object.entries(value).flatMap(([name, field]): [string, unknown][] => {
    const known = propertyOf(schema, name);
    if (known === undefined) return [[name, field]];
    return field === null && !known.nullable ? [] : [[name, withDefaults(known, field)]];
  });
  const names = new Set(given.map(([name]) => name));
  const missing = Object.entries(schema.properties ?? {}).flatMap(
    ([name, { default: fallback }]): [string, unknown][] =>
      fallback === undefined || names.has(name) ? [] : [[name, fallback]],
  );
  return Object.fromEntries([...given, ...missing]);
}

/** The schema of a named field or of a map's value. */
export function propertyOf(schema: StructuralSchema, name: string): StructuralSchema | undefined {
  const { properties = {}, additionalProperties } = schema;
  if (Object.hasOwn(properties, name)) return properties[name];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The keywords we add; `problemOf` in `validate.ts` knows their errors. */
const LIST_KEYS = 'x-polder-list-keys';
const VARIANTS = 'x-polder-variants';

/** The same schema in the JSON Schema that ajv speaks, and closed: a field that the server would drop is an error. */
function checkable(schema: StructuralSchema): Readonly<Record<string, unknown>> {
  const { properties, additionalProperties, items, anyOf, oneOf, allOf, not, nullable, default: _, ...rest } = schema;
  const { 'x-kubernetes-int-or-string': isEither, 'x-polder-variants': variants, ...own } = rest;
  const types = isEither ? ['integer', 'string'] : own.type === undefined ? [] : [own.type];
  const listKeys = listKeysOf(schema);
  return {
    ...limits(own),
    ...(types.length > 0 && { type: nullable ? [...types, 'null'] : types }),
    ...(items && { items: checkable(items) }),
    ...(own.type === 'object' && {
      properties: each({ ...(own['x-kubernetes-embedded-resource'] && EMBEDDED), ...properties }, checkable),
      ...(!own['x-kubernetes-preserve-unknown-fields'] && {
        additionalProperties: typeof additionalProperties === 'object' && checkable(additionalProperties),
      }),
    }),
    // Types in there say again what int-or-string says.
    ...(!isEither && anyOf && { anyOf: anyOf.map(limits) }),
    ...(oneOf && { oneOf: oneOf.map(limits) }),
    ...(not && { not: limits(not) }),
    ...(allOf && { allOf: allOf.map(limits) }),
    ...(variants && { [VARIANTS]: variants }),
    ...(listKeys && { [LIST_KEYS]: listKeys }),
  };
}

const OBJECT: StructuralSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const EMBEDDED = { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: OBJECT };

function each<T, U>(record: Readonly<Record<string, T>>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

/** The flags of Kubernetes back into the limits of JSON Schema. */
function limits(schema: JsonSchema | Omit<StructuralSchema, 'properties' | 'items' | 'additionalProperties'>): object {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, ...rest } = schema;
  return {
    ...rest,
    ...(minimum !== undefined && { [exclusiveMinimum ? 'exclusiveMinimum' : 'minimum']: minimum }),
    ...(maximum !== undefined && { [exclusiveMaximum ? 'exclusiveMaximum' : 'maximum']: maximum }),
  };
}

/** What tells the items of a list apart: nothing is the whole item. */
function listKeysOf(schema: StructuralSchema): readonly string[] | undefined {
  if (schema['x-kubernetes-list-type'] === 'set') return [];
  return schema['x-kubernetes-list-type'] === 'map' ? schema['x-kubernetes-list-map-keys'] : undefined;
}

interface DoublesCheck {
  (keys: readonly string[], list: readonly unknown[], parent?: AnySchemaObject, at?: DataValidationCxt): boolean;
  errors?: Partial<ErrorObject>[];
}

const withoutDoubles: DoublesCheck = (keys, list, _parent, at) => {
  const identity = (item: unknown) => (isRecord(item) ? keys.map((key) => item[key]) : item);
  const seen = new Set<string>();
  withoutDoubles.errors = list.flatMap((item, index) => {
    const id = JSON.stringify(identity(item));
    if (!seen.has(id)) return seen.add(id) && [];
    return { keyword: LIST_KEYS, instancePath: `${at?.instancePath ?? ''}/${index}`, params: { keys } };
  });
  return withoutDoubles.errors.length === 0;
};

interface VariantCheck {
  (variants: Variants, object: Readonly<Record<string, unknown>>): boolean;
  errors?: Partial<ErrorObject>[];
}

const variantError = (field: string, message: string) => ({ keyword: VARIANTS, params: { field, message } });

/** The rules that `mergeVariants` writes in CEL for the server, and in its words. */
const ofOneVariant: VariantCheck = (variants, object) => {
  const tag = object[variants.discriminator];
  // An unknown tag is the business of the tag's own enum.
  const needs = typeof tag === 'string' && Object.hasOwn(variants.needs, tag) ? variants.needs[tag] : undefined;
  ofOneVariant.errors =
    typeof tag !== 'string' || needs === undefined
      ? []
      : [
          ...needs
            .filter((name) => !Object.hasOwn(object, name))
            .map((name) => variantError(name, needed(name, variants, tag))),
          ...Object.entries(variants.owners)
            .filter(([name, owners]) => Object.hasOwn(object, name) && !owners.includes(tag))
            .map(([name]) => variantError(name, misplaced(name, variants))),
        ];
  return ofOneVariant.errors.length === 0;
};
