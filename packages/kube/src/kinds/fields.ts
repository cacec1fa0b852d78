/** What Kubernetes has and JSON Schema has not, as typebox schemas. */
import { type Static, type TArrayOptions, type TSchema, type TSchemaOptions, type TUnsafe, Type } from 'typebox';
import { type CoreTypes, coreSchemas } from './core-schemas.gen.ts';
import type { ValidationRule } from './json-schema.ts';

/** CEL rules on a field; the API server runs them, with `self` being the field's value. */
export function withRules<S extends TSchema>(schema: S, rules: readonly ValidationRule[]): S {
  return annotated(schema, { 'x-kubernetes-validations': rules });
}

/** Keeps fields that the schema does not name, instead of dropping them. */
export function withUnknownFields<S extends TSchema>(schema: S): S {
  return annotated(schema, { 'x-kubernetes-preserve-unknown-fields': true });
}

/** Never quoted by `validate`. The mark stays here: no server knows it, and `crdOf` leaves it out. */
export function secret<S extends TSchema>(schema: S): S {
  return annotated(schema, { 'x-polder-secret': true });
}

/** A list whose items are told apart by `keys`: two managers can each own an item. Keys must be required or have defaults. */
export function listMap<I extends TSchema>(
  items: I,
  keys: readonly [keyof Static<I> & string, ...(keyof Static<I> & string)[]],
  options: TArrayOptions = {},
) {
  return Type.Array(items, { ...options, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys });
}

/** A list without doubles and without order. */
export function listSet<I extends TSchema>(items: I, options: TArrayOptions = {}) {
  return Type.Array(items, { ...options, 'x-kubernetes-list-type': 'set' });
}

/** A list that has one owner and is replaced as a whole, which is what the server takes every other list for as well. */
export function atomicList<I extends TSchema>(items: I, options: TArrayOptions = {}) {
  return Type.Array(items, { ...options, 'x-kubernetes-list-type': 'atomic' });
}

/** `3` or `"25%"`. */
export function intOrString(options: TSchemaOptions = {}): TUnsafe<number | string> {
  return Type.Unsafe<number | string>({ ...options, 'x-kubernetes-int-or-string': true });
}

/** Any JSON, kept as it is. `T` is the caller's word for it: nobody checks. */
export function anything<T = unknown>(options: TSchemaOptions = {}): TUnsafe<T> {
  return Type.Unsafe<T>({ ...options, 'x-kubernetes-preserve-unknown-fields': true });
}

/** A type of Kubernetes itself (`Affinity`, `Toleration`, …), with the schema the API server has for it. */
export function core<Name extends keyof CoreTypes>(name: Name, options: TSchemaOptions = {}): TUnsafe<CoreTypes[Name]> {
  return Type.Unsafe<CoreTypes[Name]>({ ...coreSchemas[name], ...options });
}

/** A copy with more keywords. What typebox knows of a schema (optional or not) is in properties that a spread leaves out. */
function annotated<S extends TSchema>(schema: S, keywords: Readonly<Record<string, unknown>>): S {
  const more = Object.getOwnPropertyDescriptors(keywords);
  const copy: S = Object.create(Object.prototype, { ...Object.getOwnPropertyDescriptors(schema), ...more });
  return copy;
}
