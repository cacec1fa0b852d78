/**
 * Is a CRD's schema structural? Every field has one type, said outside of `allOf`, `anyOf`, `oneOf` and `not`; these only
 * narrow what is there. Pruning and defaulting rest on it. Rules and words: `apiextensions-apiserver/pkg/apiserver/schema`.
 */
import type { FieldError } from '../status.ts';
import { sameJson } from './equality.ts';
import { child, forbidden, indexed, invalidValue, keyed, required } from './field-errors.ts';
import { patternError } from './regular-expression.ts';
import type { JsonSchema } from './schema.ts';

type Level = 'root' | 'item' | 'field';

export function validateStructural(schema: JsonSchema, path: string): readonly FieldError[] {
  return [...invariants(schema, 'root', path), ...completeness(schema, schema, path, path)];
}

const WITHOUT_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function invariants(node: JsonSchema, level: Level, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const properties = Object.entries(node.properties ?? {});
  if (node.type === 'array' && node.items === undefined)
    errors.push(required(child(path, 'items'), 'must be specified'));
  if (node.items !== undefined) errors.push(...invariants(node.items, 'item', child(path, 'items')));
  for (const [name, property] of properties) {
    errors.push(...invariants(property, 'field', keyed(child(path, 'properties'), name)));
  }
  if (node.additionalProperties !== undefined) {
    const here = child(path, 'additionalProperties');
    if (level === 'root') errors.push(forbidden(here, 'must not be used at the root'));
    if (typeof node.additionalProperties === 'object') {
      errors.push(...invariants(node.additionalProperties, 'field', here));
    }
    if (node['x-kubernetes-embedded-resource']) {
      errors.push(forbidden(here, 'must not be used if x-kubernetes-embedded-resource is set'));
    }
  }
  errors.push(...extensions(node, path), ...valueValidation(node, intOrStringPlace(node), path));
  errors.push(...typeErrors(node, level, path), ...metadataErrors(node, level, path));
  const { 'x-kubernetes-embedded-resource': isEmbedded, 'x-kubernetes-preserve-unknown-fields': keeps } = node;
  if (isEmbedded && !keeps && properties.length === 0) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(required(child(path, 'properties'), detail));
  }
  return errors;
}

function extensions(node: JsonSchema, path: string): readonly FieldError[] {
  if (!node['x-kubernetes-int-or-string']) return [];
  const others = ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const;
  return others
    .filter((name) => node[name])
    .map((name) => invalidValue(child(path, name), true, 'must be false if x-kubernetes-int-or-string is true'));
}

function typeErrors(node: JsonSchema, level: Level, path: string): readonly FieldError[] {
  const { type = '' } = node;
  const here = child(path, 'type');
  const errors: FieldError[] = [];
  if (node['x-kubernetes-embedded-resource'] && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type === '' ? required(here, detail) : invalidValue(here, type, detail));
  } else if (type === '' && !node['x-kubernetes-int-or-string'] && !node['x-kubernetes-preserve-unknown-fields']) {
    errors.push(required(here, WITHOUT_TYPE[level]));
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    errors.push(invalidValue(here, type, 'must be object at the root'));
  }
  return errors;
}

/** At the root of a resource the server itself knows `apiVersion`, `kind` and `metadata`. */
function metadataErrors(node: JsonSchema, level: Level, path: string): readonly FieldError[] {
  if (level !== 'root' && !node['x-kubernetes-embedded-resource']) return [];
  const errors: FieldError[] = [];
  const at = (name: string) => keyed(child(path, 'properties'), name);
  for (const name of ['kind', 'apiVersion']) {
    const property = node.properties?.[name];
    if (property !== undefined && property.type !== 'string') {
      errors.push(invalidValue(child(at(name), 'type'), property.type ?? '', 'must be string'));
    }
  }
  const metadata = node.properties?.metadata;
  if (metadata === undefined) return errors;
  if (metadata.type !== 'object') {
    errors.push(invalidValue(child(at('metadata'), 'type'), metadata.type ?? '', 'must be object'));
  }
  if (level === 'root' && !restrictsNamesAlone(metadata)) {
    const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.push(forbidden(at('metadata'), detail));
  }
  return errors;
}

function restrictsNamesAlone(metadata: JsonSchema): boolean {
  const isNames = Object.keys(metadata.properties ?? {}).every((name) => name === 'name' || name === 'generateName');
  return isNames && Object.keys(metadata).every((name) => ['type', 'default', 'properties'].includes(name));
}

/** `anyOf: [integer, string]` may name types, at the node of an int-or-string or first in its `allOf`. */
function intOrStringPlace(node: JsonSchema): 'anyOf' | 'allOf' | undefined {
  const pattern = [{ type: 'integer' }, { type: 'string' }];
  if (sameJson(node.anyOf, pattern)) return 'anyOf';
  return sameJson(node.allOf?.[0]?.anyOf, pattern) ? 'allOf' : undefined;
}

function valueValidation(node: JsonSchema, typesMayBeIn: string | undefined, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (typesMayBeIn !== 'anyOf') {
    for (const [index, part] of (node.anyOf ?? []).entries()) {
      errors.push(...nested(part, indexed(child(path, 'anyOf'), index)));
    }
  }
  for (const [index, part] of (node.allOf ?? []).entries()) {
    const inside = typesMayBeIn === 'allOf' && index === 0 ? 'anyOf' : undefined;
    errors.push(...nested(part, indexed(child(path, 'allOf'), index), inside));
  }
  for (const [index, part] of (node.oneOf ?? []).entries()) {
    errors.push(...nested(part, indexed(child(path, 'oneOf'), index)));
  }
  if (node.not !== undefined) errors.push(...nested(node.not, child(path, 'not')));
  const says = patternError(node.pattern ?? '');
  if (says !== undefined) {
    const detail = `must be a valid regular expression, but isn't: ${says}`;
    errors.push(invalidValue(child(path, 'pattern'), node.pattern, detail));
  }
  return errors;
}

/** What only the structure itself may say. */
const FORBIDDEN_INSIDE: readonly (readonly [keyof JsonSchema, string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

/** A schema inside of `allOf`, `anyOf`, `oneOf` or `not`. */
function nested(node: JsonSchema, path: string, typesMayBeIn?: string): readonly FieldError[] {
  const errors = [...valueValidation(node, typesMayBeIn, path)];
  if (node.items !== undefined) errors.push(...nested(node.items, child(path, 'items')));
  for (const [name, property] of Object.entries(node.properties ?? {})) {
    errors.push(...nested(property, keyed(child(path, 'properties'), name)));
  }
  for (const [name, detail] of FORBIDDEN_INSIDE) {
    if (isSet(node[name])) errors.push(forbidden(child(path, name), detail));
  }
  if (node.properties?.metadata !== undefined) {
    errors.push(forbidden(keyed(child(path, 'properties'), 'metadata'), 'must not be specified in a nested context'));
  }
  return errors;
}

const isSet = (value: unknown) =>
  value !== undefined && value !== false && value !== '' && !(Array.isArray(value) && value.length === 0);

/**
 * What an alternative at the root speaks of must be in the structure too. (The real server asks this of the root's own
 * alternatives only, not of those further down.)
 */
function completeness(node: JsonSchema, structure: JsonSchema, at: string, from: string): readonly FieldError[] {
  const lists = ['allOf', 'anyOf', 'oneOf'] as const;
  const parts = lists.flatMap((name) =>
    (node[name] ?? []).map((part, index) => [part, indexed(child(from, name), index)] as const),
  );
  if (node.not !== undefined) parts.unshift([node.not, child(from, 'not')]);
  return parts.flatMap(([part, path]) => nestedCompleteness(part, structure, at, path));
}

function nestedCompleteness(
  part: JsonSchema,
  structure: JsonSchema | undefined,
  at: string,
  from: string,
): readonly FieldError[] {
  if (structure === undefined) return [required(at, `because it is defined in ${from}`)];
  const errors = [...completeness(part, structure, at, from)];
  if (part.items !== undefined) {
    errors.push(...nestedCompleteness(part.items, structure.items, child(at, 'items'), child(from, 'items')));
  }
  for (const [name, property] of Object.entries(part.properties ?? {})) {
    const [there, here] = [at, from].map((path) => keyed(child(path, 'properties'), name));
    errors.push(...nestedCompleteness(property, structure.properties?.[name], there ?? '', here ?? ''));
  }
  return errors;
}
