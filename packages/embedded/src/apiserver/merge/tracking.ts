import { isDeepStrictEqual } from 'node:util';
import { apiVersionOf } from '@polder/kube/kinds';
import { isObject, type Json, type JsonObject } from '../schema/schema.ts';
import type { ServedKind } from '../served-kind.ts';
import { type Comparison, compareValues } from './comparison.ts';
import { FieldSet } from './field-set.ts';
import { encodeManagedFields, type Ownership, type Ownerships } from './managed-fields.ts';
import { type FieldPath, fieldElement } from './path-element.ts';
import { Shape } from './shape.ts';
import { withZeroValues } from './zero-values.ts';

/** What tracking has to know of a kind. */
export type TrackedKind = Pick<ServedKind, 'group' | 'version' | 'kind' | 'schema' | 'origin' | 'subresources'>;

/** Who writes, where and when. */
export interface Write {
  readonly kind: TrackedKind;
  /** The field manager: as the request names it, else from its user agent. */
  readonly manager: string;
  /** `status` or `scale`; left out for the object's own endpoint. */
  readonly subresource?: string | undefined;
  /** Milliseconds since the epoch, from the server's clock. */
  readonly time: number;
  /** Fields that this endpoint resets whatever a request says, so that nobody can come to own them: `ignoredFields`. */
  readonly ignored?: readonly (readonly string[])[] | undefined;
}

/**
 * The fields that a write to an endpoint cannot set: `/status` sets only status and the object's own endpoint all but
 * status, if the kind keeps the two apart.
 */
export function ignoredFields(kind: TrackedKind, subresource?: string): readonly (readonly string[])[] {
  if (subresource === 'status') {
    return kind.origin === 'custom' ? [['metadata'], ['spec']] : [['spec'], ...(MORE_THAN_SPEC[kind.kind] ?? [])];
  }
  return subresource === undefined && kind.subresources.status ? [['status']] : [];
}

/** Built-in kinds whose `/status` also keeps its hands off some metadata. */
const MORE_THAN_SPEC: Readonly<Record<string, readonly (readonly string[])[]>> = {
  Deployment: [['metadata', 'labels']],
  Pod: [
    ['metadata', 'deletionTimestamp'],
    ['metadata', 'ownerReferences'],
  ],
};

export const ignoredSet = ({ ignored = [] }: Write): FieldSet =>
  FieldSet.of(ignored.map((names) => names.map(fieldElement)));

/** Fields that identify an object or that only the server writes. Nobody owns them. */
const NEVER_OWNED: FieldSet = FieldSet.of(
  [
    ['apiVersion'],
    ['kind'],
    ['metadata'],
    ...[
      'name',
      'namespace',
      'creationTimestamp',
      'selfLink',
      'uid',
      'clusterName',
      'generation',
      'managedFields',
      'resourceVersion',
    ].map((name) => ['metadata', name]),
  ].map((names): FieldPath => names.map(fieldElement)),
);

export const ownable = (fields: FieldSet): FieldSet => fields.difference(NEVER_OWNED);

export function ownershipBy(write: Write, operation: Ownership['operation']): Omit<Ownership, 'time' | 'fields'> {
  return {
    manager: write.manager === '' ? 'unknown' : write.manager,
    operation,
    apiVersion: apiVersionOf(write.kind),
    subresource: write.subresource ?? '',
  };
}

/** RFC 3339 in whole seconds, as every stamp in metadata. */
export const stamp = (time: number): string => new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');

const NO_CHANGES: Comparison = { added: FieldSet.empty, removed: FieldSet.empty, modified: FieldSet.empty };

export function compareObjects(before: Json, after: Json, write: Write): Comparison {
  // Most writes of a converged cluster change nothing.
  if (isDeepStrictEqual(before, after)) return NO_CHANGES;
  const { schema, origin } = write.kind;
  const [left, right] =
    origin === 'builtin' ? [withZeroValues(before, schema), withZeroValues(after, schema)] : [before, after];
  const { added, removed, modified } = compareValues(left, right, Shape.of(schema));
  const ignored = ignoredSet(write);
  return { added: added.without(ignored), removed: removed.without(ignored), modified: modified.without(ignored) };
}

/** Takes from every owner but one what changed under its hands and what is gone; who then owns nothing is dropped. */
export function dispossess(
  owners: Ownerships,
  { added, removed, modified }: Comparison,
  except: string | undefined,
): Map<string, Ownership> {
  const lost = added.union(removed).union(modified);
  const left = new Map<string, Ownership>();
  for (const [id, owner] of owners) {
    const fields = id === except ? owner.fields : owner.fields.difference(lost);
    if (!fields.isEmpty) left.set(id, { ...owner, fields });
  }
  return left;
}

/** An object of the kind with nothing in it: what the first write is compared with. */
export const emptyObject = ({ kind }: Write): JsonObject => ({ apiVersion: apiVersionOf(kind), kind: kind.kind });

export const metadataOf = (object: JsonObject): JsonObject => (isObject(object.metadata) ? object.metadata : {});

export function withoutManagedFields(object: JsonObject): JsonObject {
  const { managedFields, ...metadata } = metadataOf(object);
  return managedFields === undefined ? object : { ...object, metadata };
}

export function withOwners(object: JsonObject, owners: Ownerships): JsonObject {
  const managedFields = encodeManagedFields(owners);
  const { managedFields: _, ...metadata } = metadataOf(object);
  return { ...object, metadata: { ...metadata, ...(managedFields && { managedFields }) } };
}
