import type { Snapshot } from '../../iceberg/index.ts';
import type { Position } from './position.ts';

/** What to do with the next state of a table, seen from where it was read last. */
export type Step =
  /** Files that are newer than this number of the table's changes; 0 is all of them. */
  | { readonly do: 'read'; readonly after: bigint; readonly warning?: string }
  /** There is nothing to read in it. */
  | { readonly do: 'pass'; readonly warning?: string }
  | { readonly do: 'refuse'; readonly because: string };

export function stepTo(
  { id, sequenceNumber, operation }: Pick<Snapshot, 'id' | 'sequenceNumber' | 'operation'>,
  position: Position | undefined,
  table: string,
): Step {
  const after = position?.sequenceNumber ?? 0n;
  if (sequenceNumber <= after)
    return {
      do: 'pass',
      warning: 'the table was set back to an earlier snapshot: rows that were read are no longer in it',
    };
  // More than one at once: a branch was merged, and what happened on it is seen by its result alone.
  const isJump = sequenceNumber > after + 1n;
  if (operation === 'replace' && !isJump) return { do: 'pass' };
  if (operation !== 'append' && operation !== 'replace')
    return {
      do: 'refuse',
      because: `snapshot ${id} of table ${table} is of the operation ${operation}: it changed or deleted rows, which incrementalBySnapshot can't tell; to go on behind it, reset the checkpoint and set startSnapshotID to ${id}`,
    };
  if (!isJump) return { do: 'read', after };
  const warning = 'a branch was merged in: rows that it rewrote are read again, and what it deleted is not told';
  return { do: 'read', after, warning };
}
