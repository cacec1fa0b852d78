import { isDeepStrictEqual } from 'node:util';
import { apiVersionOf } from '@polder/kube/kinds';
import { isObject, type Json, type JsonObject } from '../schema/schema.ts';
import { badRequest, StatusError } from '../status.ts';
import { type Conflict, conflictsOver } from './conflicts.ts';
import { FieldSet } from './field-set.ts';
import { KUBECTL, lastAppliedFields, withLastApplied } from './last-applied.ts';
import { decodeManagedFields, idOf, type Ownerships } from './managed-fields.ts';
import { Shape } from './shape.ts';
import { misfitOf } from './shape-errors.ts';
import {
  compareObjects,
  dispossess,
  emptyObject,
  ignoredSet,
  metadataOf,
  ownable,
  ownershipBy,
  stamp,
  type TrackedKind,
  type Write,
  withOwners,
  withoutManagedFields,
} from './tracking.ts';
import { fieldsOf, removeFields, withNamedParents } from './typed-fields.ts';
import { mergeTyped } from './typed-merge.ts';
import { ownersAfter } from './update.ts';

/** Server-side apply: the fields that one manager wants, laid over the live object. */
export interface Apply extends Write {
  /** Undefined when the apply creates the object. */
  readonly live: JsonObject | undefined;
  readonly applied: JsonObject;
  /** Take fields from their owners instead of reporting a conflict. */
  readonly force: boolean;
}

export type ApplyOutcome =
  | {
      readonly outcome: 'applied';
      /** Not defaulted yet; call `settleTimes` after that. */
      readonly object: JsonObject;
      /** Whether anything but times differs from the live object. */
      readonly isChanged: boolean;
    }
  | { readonly outcome: 'conflict'; readonly conflicts: readonly Conflict[] };

/**
 * - Fields of the configuration are set, and owned by the manager from now on, together with whoever had the same value.
 * - A field that someone else owns and that would change is a conflict, unless forced.
 * - Fields that the manager applied before and now left out are removed, unless someone else owns them too.
 */
export function applyConfiguration(apply: Apply): ApplyOutcome {
  const { kind, live, applied, force } = apply;
  checkConfiguration(kind, applied);
  const shape = Shape.of(kind.schema);
  const before = live === undefined ? emptyObject(apply) : withoutManagedFields(live);
  const known = ownersOf(apply, before);

  const applier = ownershipBy(apply, 'Apply');
  const id = idOf(applier);
  const previous = known.get(id);
  const fields = fieldsOf(applied, shape).without(ignoredSet(apply));
  const owners = new Map(known).set(id, { ...applier, time: previous?.time, fields });

  const merged = mergeTyped(before, applied, shape);
  const gone = abandoned(merged, previous?.fields, fields, owners, shape);
  const pruned = removeFields(merged, gone, shape, null);
  const changes = compareObjects(before, pruned, apply);
  if (!force) {
    const taken = changes.modified.union(changes.added);
    const excused = apply.manager === KUBECTL ? lastAppliedFields(before, shape) : FieldSet.empty;
    const conflicts = conflictsOver(taken.difference(excused), withoutOwner(owners, id));
    if (conflicts.length > 0) return { outcome: 'conflict', conflicts };
  }

  const object = withoutHollows(pruned, removeFields(merged, gone, shape, undefined), kind);
  const left = dispossess(owners, changes, id);
  const owned = ownable(fields);
  // Nothing changed by it, so no time either: the surprise of an applier without a stamp is the real server's.
  const time = isDeepStrictEqual(before, object) ? previous?.time : stamp(apply.time);
  if (owned.isEmpty) left.delete(id);
  else left.set(id, { ...applier, time, fields: owned });
  const stored = apply.manager === KUBECTL ? withLastApplied(object, applied) : object;
  const settled = settleTimes(live, withOwners(stored, left));
  return { outcome: 'applied', object: settled, isChanged: !isDeepStrictEqual(settled, live) };
}

function withoutOwner(owners: Ownerships, id: string): Ownerships {
  const others = new Map(owners);
  others.delete(id);
  return others;
}

function checkConfiguration(kind: TrackedKind, applied: JsonObject): void {
  const { name, namespace, managedFields } = metadataOf(applied);
  const type = `${textOf(applied.apiVersion)}, Kind=${textOf(applied.kind)}`;
  if (type !== `${apiVersionOf(kind)}, Kind=${kind.kind}`) throw badRequest(`invalid object type: ${type}`);
  if (managedFields !== undefined && managedFields !== null) throw badRequest('metadata.managedFields must be nil');
  const misfit = misfitOf(applied, Shape.of(kind.schema));
  if (misfit === undefined) return;
  // The server has no status for this one, so it is a 500 without a reason.
  throw new StatusError(
    500,
    '',
    `failed to create typed patch object (${textOf(namespace)}/${textOf(name)}; ${type}): ${misfit}`,
  );
}

const textOf = (value: Json | undefined) => (typeof value === 'string' ? value : '');

/** An object without owners was there before anyone applied: what it holds then belongs to that time. */
function ownersOf(apply: Apply, before: JsonObject): Ownerships {
  if (apply.live === undefined) return new Map();
  const owners = decodeManagedFields(metadataOf(apply.live).managedFields, Shape.of(apply.kind.schema));
  if (owners === undefined) throw new StatusError(500, '', 'failed to decode managed fields');
  if (owners.size > 0) return owners;
  return ownersAfter(emptyObject(apply), before, owners, { ...apply, manager: 'before-first-apply' });
}

/** The fields that the manager applied last time, not this time, and that nobody else owns. */
function abandoned(
  merged: JsonObject,
  last: FieldSet | undefined,
  fields: FieldSet,
  owners: Ownerships,
  shape: Shape,
): FieldSet {
  // Mostly nothing is left out, and then there is nothing to work out.
  if (last === undefined || last.difference(fields).isEmpty) return FieldSet.empty;
  const all = withNamedParents(fieldsOf(merged, shape), shape);
  const without = (gone: FieldSet) => withNamedParents(fieldsOf(removeFields(merged, gone, shape, null), shape), shape);
  const ours = withNamedParents(last, shape);
  const owned = [...owners.values()].map(({ fields }) => withNamedParents(fields, shape));
  // Everything of ours goes first, and with it what is inside of it. Then what anyone owns comes back; and then what
  // nobody owns (defaults, say) and was only swept away with its parent.
  const kept = owned.reduce((set, fields) => set.union(fields), without(ours));
  return all.difference(without(all.difference(kept))).intersection(ours);
}

/**
 * A struct of a built-in kind cannot hold the null of a field that was emptied. A custom resource can: there it meets the
 * schema, which mostly refuses it. So `a: {}` after `a: { b: 1 }` by its only owner is invalid, and leaving out `a` is
 * the way to empty it. The real server does that, and clients see it.
 */
function withoutHollows(pruned: Json, dense: Json | undefined, { origin }: TrackedKind): JsonObject {
  const object = isObject(dense) ? dense : {};
  if (origin === 'builtin' || !isObject(pruned)) return object;
  return object.metadata === undefined ? pruned : { ...pruned, metadata: object.metadata };
}

/**
 * Keeps the times of the live object if they are all that changed: a write that changes nothing must not make a new
 * version. To be called on what will be stored, after defaulting.
 */
export function settleTimes(live: JsonObject | undefined, object: JsonObject): JsonObject {
  if (live === undefined || !isDeepStrictEqual(withoutTimes(live), withoutTimes(object))) return object;
  return live;
}

function withoutTimes(object: JsonObject): JsonObject {
  const { managedFields, ...metadata } = metadataOf(object);
  const entries = Array.isArray(managedFields) ? managedFields : [];
  const timeless = entries.map((entry) => {
    if (!isObject(entry)) return entry;
    const { time: _, ...rest } = entry;
    return rest;
  });
  return { ...object, metadata: { ...metadata, managedFields: timeless } };
}
