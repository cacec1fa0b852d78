import type { TableState } from './history.ts';

/** How a table came from where it was read last to what it is now. */
export interface Lineage {
  /** The one after which `newer` begins. Undefined: it has none of those that were asked for. */
  readonly since: TableState | undefined;
  /** Oldest first, each snapshot once in a row. */
  readonly newer: readonly TableState[];
}

/**
 * Walks back, from the present, until `last` is met. `start` is the next best place to begin. Snapshots that are gone from the
 * history, by an expiry or because the branch was assigned anew, are not met.
 */
export async function lineageOf(
  history: AsyncIterable<TableState>,
  last: bigint | undefined,
  start: bigint | undefined,
): Promise<Lineage> {
  const states: TableState[] = [];
  let startAt: number | undefined;
  for await (const state of history) {
    if (last !== undefined && state.snapshotId === last) return { since: state, newer: oldestFirst(states) };
    if (start !== undefined && state.snapshotId === start) startAt ??= states.length;
    states.push(state);
    if (last === undefined && startAt !== undefined) break;
  }
  if (startAt === undefined) return { since: undefined, newer: [] };
  return { since: states[startAt], newer: oldestFirst(states.slice(0, startAt)) };
}

/** A commit that changed something else of the table (a property, a column) has the snapshot of the one before. */
function oldestFirst(states: readonly TableState[]): readonly TableState[] {
  const ordered = states.filter(({ snapshotId }) => snapshotId !== undefined).toReversed();
  return ordered.filter(({ snapshotId }, at) => snapshotId !== ordered[at - 1]?.snapshotId);
}
