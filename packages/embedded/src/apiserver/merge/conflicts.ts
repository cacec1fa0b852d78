import { StatusError } from '../status.ts';
import type { FieldSet } from './field-set.ts';
import type { Ownership, Ownerships } from './managed-fields.ts';
import { type FieldPath, printPath } from './path-element.ts';

/** A field that an apply would change and that someone else owns. */
export interface Conflict {
  readonly owner: Ownership;
  readonly path: FieldPath;
}

/** Every owner's fields among those that changed, owners in the order in which messages name them. */
export function conflictsOver(changed: FieldSet, owners: Ownerships): readonly Conflict[] {
  const ordered = [...owners].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return ordered.flatMap(([, owner]) =>
    [...owner.fields.intersection(changed).paths()].map((path) => ({ owner, path })),
  );
}

/** 409 with a cause per field; `force=true` is the way out that kubectl then names. */
export function applyConflict(conflicts: readonly Conflict[]): StatusError {
  return new StatusError(409, 'Conflict', messageOf(conflicts), {
    causes: conflicts.map(({ owner, path }) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${nameOf(owner)}`,
      field: printPath(path),
    })),
  });
}

function messageOf(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (first !== undefined && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${nameOf(first.owner)}: ${printPath(first.path)}`;
  }
  const lines = [...Map.groupBy(conflicts, ({ owner }) => owner)].flatMap(([owner, fields]) => [
    `conflicts with ${nameOf(owner)}:`,
    ...fields.map(({ path }) => `- ${printPath(path)}`),
  ]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

/** `"kubectl" with subresource "status" using apps/v1`; appliers are named without their version. */
function nameOf({ manager, operation, apiVersion, subresource }: Ownership): string {
  const through = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  const using = operation === 'Update' ? ` using ${apiVersion}` : '';
  return `${JSON.stringify(manager)}${through}${using}`;
}
