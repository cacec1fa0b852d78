import type { NessieSourceConfig } from './config.ts';

/** The last snapshot of which every row was read. */
export interface Position {
  readonly snapshotId: bigint;
  readonly sequenceNumber: bigint;
}

export const isPosition = (value: unknown): value is Position =>
  typeof value === 'object' && value !== null && 'snapshotId' in value && 'sequenceNumber' in value;

type Place = Pick<NessieSourceConfig, 'branch' | 'namespace' | 'table'>;

/** The id as text: most readers would round a number of 64 bits. */
export function checkpointOf({ snapshotId, sequenceNumber }: Position, { branch, namespace, table }: Place): unknown {
  return {
    lastAckedSnapshotID: snapshotId.toString(),
    lastAckedSnapshotSequence: Number(sequenceNumber),
    branch,
    namespace,
    table,
  };
}

/** `elsewhere`: it is about another table, or another branch. */
export function positionOf(checkpoint: unknown, place: Place): Position | 'elsewhere' | undefined {
  if (typeof checkpoint !== 'object' || checkpoint === null) return undefined;
  const fields = new Map<string, unknown>(Object.entries(checkpoint));
  const [snapshotId, sequenceNumber] = ['lastAckedSnapshotID', 'lastAckedSnapshotSequence'].map((name) =>
    longOf(fields.get(name)),
  );
  if (snapshotId === undefined) return undefined;
  const isElsewhere = (['branch', 'namespace', 'table'] as const).some(
    (name) => (fields.get(name) ?? place[name]) !== place[name],
  );
  return isElsewhere ? 'elsewhere' : { snapshotId, sequenceNumber: sequenceNumber ?? 0n };
}

function longOf(value: unknown): bigint | undefined {
  const text = typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' ? String(value) : '';
  return /^\d+$/.test(text) ? BigInt(text) : undefined;
}
