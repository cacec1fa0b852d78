/**
 * What happens to every object on its way in, between decoding and storing. The order is the real server's: defaults,
 * then who owns which field, then admission, then validation.
 */
import { isDeepStrictEqual } from 'node:util';
import { validateMetadata } from '../builtin/index.ts';
import { ignoredFields, settleTimes, trackUpdate } from '../merge/index.ts';
import { asJson, asWire } from '../object-text.ts';
import { withDefaults } from '../schema/defaults.ts';
import { ResourceValidator } from '../schema/resource-validator.ts';
import { isObject } from '../schema/schema.ts';
import type { ServedKind, WireMeta, WireObject } from '../served-kind.ts';
import { type FieldError, invalid, messageOf } from '../status.ts';
import type { Call } from './call.ts';

export function defaulted(kind: ServedKind, object: WireObject): WireObject {
  if (kind.origin === 'builtin') return kind.defaults?.(object) ?? object;
  const filled = withDefaults(kind.schema, asJson(object));
  return isObject(filled) ? asWire(filled) : object;
}

/** Writes down who set which field. `settle` keeps the old times if nothing else changed. */
export function tracked(call: Call, live: WireObject | undefined, updated: WireObject, manager: string): WireObject {
  const { kind } = call.served;
  const subresource = call.subresource;
  const liveJson = live && asJson(live);
  const object = trackUpdate({
    kind,
    manager,
    subresource,
    time: call.core.clock.now(),
    ignored: ignoredFields(kind, subresource),
    live: liveJson,
    updated: asJson(updated),
  });
  return asWire(settleTimes(liveJson, object));
}

const validators = new WeakMap<ServedKind, ResourceValidator>();

function validatorOf(kind: ServedKind): ResourceValidator {
  const known = validators.get(kind) ?? new ResourceValidator(kind.schema);
  validators.set(kind, known);
  return known;
}

/** Throws a 422 with everything that is wrong. */
export function validateObject(call: Call, object: WireObject, old: WireObject | undefined): void {
  const { kind } = call.served;
  const errors: FieldError[] = [];
  if (old !== undefined) errors.push(...immutableMetadata(object.metadata, old.metadata));
  errors.push(...(kind.validate?.(object, old) ?? []));
  if (kind.origin === 'custom') {
    errors.push(...validateMetadata(object.metadata).filter(isForAllKinds));
    const verdict = validatorOf(kind).validate(object, old);
    errors.push(...verdict.errors);
    call.warnings.push(...verdict.warnings.map((warning) => `${warning.field}: ${messageOf(warning)}`));
  }
  if (errors.length > 0) throw invalid(kind, object.metadata.name, errors);
}

/** Only the kinds of the core know which finalizers may have no domain; definitions and custom resources do not ask. */
export const isForAllKinds = ({ detail }: FieldError) =>
  !detail.startsWith('name is neither a standard finalizer name');

const IMMUTABLE = ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'];

function immutableMetadata(metadata: WireMeta, old: WireMeta): readonly FieldError[] {
  const errors: FieldError[] = IMMUTABLE.filter((name) => metadata[name] !== old[name]).map((name) => ({
    type: 'Invalid',
    field: `metadata.${name}`,
    value: metadata[name] ?? null,
    detail: 'field is immutable',
  }));
  const added = (metadata.finalizers ?? []).filter((finalizer) => old.finalizers?.includes(finalizer) !== true);
  if (old.deletionTimestamp !== undefined && added.length > 0) {
    const shown = `[]string{${added.map((finalizer) => JSON.stringify(finalizer)).join(', ')}}`;
    errors.push({
      type: 'Forbidden',
      field: 'metadata.finalizers',
      detail: `no new finalizers can be added if the object is being deleted, found new finalizers ${shown}`,
    });
  }
  return errors;
}

/** The desired state: everything but metadata and, where it is written apart, status. */
export function sameDesire(kind: ServedKind, a: WireObject, b: WireObject): boolean {
  const desire = (object: WireObject) => {
    const { metadata: _, ...rest } = object;
    if (kind.origin === 'custom' && !kind.subresources.status) return rest;
    const { status: __, ...desired } = rest;
    return desired;
  };
  return isDeepStrictEqual(desire(a), desire(b));
}

/** Whether a write would change anything at all, the version aside. */
export function isSame(a: WireObject, b: WireObject): boolean {
  const versionless = (object: WireObject) => {
    const { resourceVersion: _, ...metadata } = object.metadata;
    return { ...object, metadata };
  };
  return isDeepStrictEqual(withoutUndefined(versionless(a)), withoutUndefined(versionless(b)));
}

/** A field that is undefined is not written, so it makes no difference. */
function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [name, withoutUndefined(member)]),
  );
}
