import type { Json, JsonObject } from '../schema/schema.ts';
import { FieldSet } from './field-set.ts';
import { capUpdaters, decodeManagedFields, idOf, type Ownerships } from './managed-fields.ts';
import { Shape } from './shape.ts';
import {
  compareObjects,
  dispossess,
  emptyObject,
  ignoredSet,
  metadataOf,
  ownable,
  ownershipBy,
  stamp,
  type Write,
  withOwners,
  withoutManagedFields,
} from './tracking.ts';

/** A create, an update or a patch that is no apply: whoever changes a field becomes its only owner. */
export interface Update extends Write {
  /** Undefined on create. */
  readonly live: JsonObject | undefined;
  /** The object as it shall be stored, after defaulting. */
  readonly updated: JsonObject;
}

/** The updated object with its new `managedFields`. */
export function trackUpdate(update: Update): JsonObject {
  const { live, updated } = update;
  const owners = ownersBefore(update);
  const object = withoutManagedFields(updated);
  // Whoever cleared the list asked for an object without tracking; only an apply starts it again.
  if (owners.size === 0 && live !== undefined) return object;
  const before = live === undefined ? emptyObject(update) : withoutManagedFields(live);
  return withOwners(object, ownersAfter(before, object, owners, update));
}

/** The owners after `write` turned one object into another. */
export function ownersAfter(before: Json, after: Json, owners: Ownerships, write: Write): Ownerships {
  const changes = compareObjects(before, after, write);
  const left = dispossess(owners, changes, undefined);
  const gained = ownable(changes.modified.union(changes.added).without(ignoredSet(write)));
  if (!gained.isEmpty) {
    const writer = ownershipBy(write, 'Update');
    const known = left.get(idOf(writer))?.fields ?? FieldSet.empty;
    left.set(idOf(writer), { ...writer, time: stamp(write.time), fields: gained.union(known) });
  }
  return capUpdaters(left);
}

/**
 * A request may rewrite `managedFields`, or clear it with `[]` or `[{}]`. What cannot be understood is ignored, and so is
 * an absent list: clients that do not know the field must not wipe it out by accident.
 */
function ownersBefore({ kind, live, updated, subresource }: Update): Ownerships {
  const shape = Shape.of(kind.schema);
  const stored = () => decodeManagedFields(live && metadataOf(live).managedFields, shape) ?? new Map();
  if (subresource !== undefined) return stored();
  const { managedFields } = metadataOf(updated);
  if (isReset(managedFields)) return new Map();
  const sent = decodeManagedFields(managedFields, shape);
  return sent === undefined || sent.size === 0 ? stored() : sent;
}

function isReset(entries: Json | undefined): boolean {
  if (!Array.isArray(entries)) return false;
  const [first, ...others] = entries;
  return first === undefined || (others.length === 0 && JSON.stringify(first) === '{}');
}
