/** Secrets in a spec: where they are referred to, how their values get there, and how a spec is shown without them. */
import { withoutUser } from './field-error.ts';
import { flow } from './flow.ts';
import { choiceOf, extrasOf, type Fields, isFields, isGiven, valueOf } from './given.ts';
import { childOf, entryOf, type Place, ROOT } from './place.ts';
import { type Block, type Schema, schemaOf, secretRefOf } from './schema.ts';

/** A reference to a key of a Secret. */
export interface SecretRefPath {
  /** Where the value belongs, from the spec on: `/source/kafka/topic`. The name under which `joinSecrets` looks for it. */
  readonly pointer: string;
  /** The reference itself, for messages: `spec.source.kafka.topicSecretRef`. */
  readonly field: string;
  readonly name: string;
  readonly key: string;
  /** If not given, the namespace of the flow. */
  readonly namespace?: string;
  /** What stands in the spec where the value belongs. */
  readonly literal?: unknown;
}

/** Every reference of a spec, in either shape. Those without a name or key are left to validation. */
export function secretRefsOf(spec: unknown): readonly SecretRefPath[] {
  const found: SecretRefPath[] = [];
  rewrite(schemaOf(flow), spec, ROOT, (properties, fields, place) => {
    for (const [name, property] of Object.entries(properties)) {
      const refName = secretRefOf(name, property);
      const ref = refName === undefined ? undefined : valueOf(fields, refName);
      if (refName === undefined || !isFields(ref)) continue;
      const [secret, key, namespace] = ['name', 'key', 'namespace'].map((part) => valueOf(ref, part));
      if (typeof secret !== 'string' || typeof key !== 'string' || !isGiven(secret) || !isGiven(key)) continue;
      found.push({
        pointer: childOf(place, name).pointer,
        field: childOf(place, refName).field,
        name: secret,
        key,
        ...(typeof namespace === 'string' && isGiven(namespace) && { namespace }),
        ...(isGiven(valueOf(fields, name)) && { literal: valueOf(fields, name) }),
      });
    }
    return fields;
  });
  return found;
}

/**
 * The spec with the values of its secrets in place, in the shape in which it came. A value wins over what was there; the
 * references stay, so that `redacted` still knows where values came from.
 */
export function joinSecrets(spec: unknown, secrets: ReadonlyMap<string, string>): unknown {
  return rewrite(schemaOf(flow), spec, ROOT, (properties, fields, place) => {
    const joined = Object.entries(properties).flatMap(([name, property]) => {
      const ref = secretRefOf(name, property);
      const value = secrets.get(childOf(place, name).pointer);
      if (ref === undefined || value === undefined || !isFields(valueOf(fields, ref))) return [];
      return [[name, property.type === 'array' ? listOf(value) : value] as const];
    });
    return { ...fields, ...Object.fromEntries(joined) };
  });
}

/** `a:9092, b:9092` */
const listOf = (text: string) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

export const REDACTED = '<redacted>';

/**
 * The spec for logs and dumps. Shown is only what is declared and no secret: what came from a Secret is hidden whatever field
 * it is in, and so is what no declaration knows, which may be a password under a misspelled name.
 */
export function redacted(spec: unknown): unknown {
  return rewrite(
    schemaOf(flow),
    spec,
    ROOT,
    (properties, fields) =>
      Object.fromEntries(
        Object.entries(fields).map(([name, value]) => {
          const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
          if (property === undefined) return [name, isReference(properties, name) ? withoutUnknown(value) : REDACTED];
          const ref = secretRefOf(name, property);
          const isFromSecret = ref !== undefined && isGiven(valueOf(fields, ref));
          const isHidden = property['x-polder-secret'] === true || isFromSecret;
          return [name, isHidden && isGiven(value) ? REDACTED : value];
        }),
      ),
    shown,
  );
}

const isReference = (properties: Readonly<Record<string, Schema>>, name: string) =>
  Object.entries(properties).some(([field, property]) => secretRefOf(field, property) === name);

function withoutUnknown(ref: unknown): unknown {
  if (!isFields(ref)) return REDACTED;
  const known = ['name', 'key', 'namespace'];
  return Object.fromEntries(
    Object.entries(ref).map(([name, value]) => [
      name,
      known.includes(name) && typeof value === 'string' ? value : REDACTED,
    ]),
  );
}

/** A value that is no object of ours: shown if it has the type that is declared, and without what is secret inside. */
function shown(schema: Schema, value: unknown): unknown {
  if (value === REDACTED || value === null || typeof value === 'boolean' || typeof value === 'number') return value;
  if (typeof value === 'string') {
    const isText = schema.type === 'string' || schema['x-kubernetes-int-or-string'] === true;
    return isText && !value.includes('PRIVATE KEY-----') ? withoutUser(value) : REDACTED;
  }
  return schema['x-kubernetes-preserve-unknown-fields'] ? value : REDACTED;
}

type Change = (properties: Readonly<Record<string, Schema>>, fields: Fields, place: Place) => Fields;

/**
 * Walks along the declarations and puts what `change` makes of each object with declared fields in its place; objects inside
 * are visited after the one around them. `leaf` has the last word on all other values.
 */
function rewrite(
  schema: Schema,
  value: unknown,
  place: Place,
  change: Change,
  leaf: (schema: Schema, value: unknown) => unknown = (_schema, value) => value,
): unknown {
  const into = (inner: Schema, value: unknown, at: Place) => rewrite(inner, value, at, change, leaf);
  const { 'x-polder-block': block, properties, items, additionalProperties } = schema;
  if (Array.isArray(value) && items) return value.map((item, index) => into(items, item, entryOf(place, index)));
  if (!isFields(value)) return leaf(schema, value);
  if (additionalProperties) {
    return fieldsFrom(value, (key, entry) => into(additionalProperties, entry, entryOf(place, key)));
  }
  const known = block ? partsOf(block, value) : properties;
  if (known === undefined) return leaf(schema, value);
  return fieldsFrom(change(known, value, place), (name, field) => {
    const property = Object.hasOwn(known, name) ? known[name] : undefined;
    return property && field !== undefined ? into(property, field, childOf(place, name)) : field;
  });
}

const TEXT: Schema = { type: 'string' };

/** What a block of this type consists of. */
function partsOf(block: Block, fields: Fields): Readonly<Record<string, Schema>> {
  const choice = choiceOf(block, fields);
  if (choice === undefined) return { type: TEXT };
  const { type, schema } = choice;
  return { type: TEXT, config: schema, [type]: schema, ...extrasOf(block) };
}

function fieldsFrom(fields: Fields, change: (name: string, value: unknown) => unknown): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, change(name, value)]));
}
