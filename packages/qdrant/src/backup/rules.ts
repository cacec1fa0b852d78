import type { Rule } from '@polder/kube';
import type { QdrantCollectionBackup } from '../kinds/index.ts';
import type { Observed } from './observe.ts';
import type { Sight } from './sight.ts';
import type { BackupStep } from './step.ts';

/** What a rule may depend on. */
export interface Situation {
  readonly backup: QdrantCollectionBackup;
  readonly observed: Observed;
  readonly sight: Extract<Sight, { readonly is: 'clear' }>;
}

/** What holds a backup back. Copies that are taken at the wrong moment are not noticed before somebody restores them. */
export const rules: readonly Rule<BackupStep, Situation>[] = [
  {
    name: 'no-backup-during-a-restore',
    forbids(step, { observed: { restores } }) {
      return isBackup(step) && restores[0] !== undefined
        ? `QdrantCollectionRestore ${restores[0]} is under way`
        : undefined;
    },
  },
  {
    // Halfway, a copy is neither here nor there; and both take the same disks and the same network.
    name: 'no-backup-during-a-transfer',
    forbids(step, { sight: { travelling } }) {
      return isBackup(step) && travelling[0] !== undefined ? `shard ${travelling[0]} is on its way` : undefined;
    },
  },
  {
    // A snapshot is written to the disk of a peer first, and read from it again: for one, peers have to have room.
    name: 'one-backup-of-a-cluster-at-a-time',
    forbids(step, { backup, observed: { others } }) {
      if (!isBackup(step)) return undefined;
      const first = others.find((other) => comesBefore(other, backup));
      return first && `QdrantCollectionBackup ${first.metadata.name} is under way`;
    },
  },
  {
    // Qdrant calls the copy of a peer active that is dead: one that answers for itself is needed.
    name: 'a-shard-is-copied-from-a-live-copy',
    forbids(step) {
      return step.do === 'copy-shard' && step.from.length === 0
        ? `shard ${step.shard} has no copy on a peer that answers and calls it active`
        : undefined;
    },
  },
  {
    // A shard whose last copy was removed by force is listed by nobody.
    name: 'a-backup-has-every-shard',
    forbids(step, { sight: { shards, shardCount } }) {
      if (step.do !== 'write-manifest' || shards.length >= shardCount) return undefined;
      return `${shards.length} of ${shardCount} shards are known; the others have no copy left`;
    },
  },
];

const isBackup = ({ do: name }: BackupStep): boolean => name === 'copy-shard' || name === 'write-manifest';

/** The same order for everybody. One that fails lets others pass. */
function comesBefore(a: QdrantCollectionBackup, b: QdrantCollectionBackup): boolean {
  const [one, other] = [orderOf(a), orderOf(b)];
  return one < other;
}

function orderOf({ metadata, status }: QdrantCollectionBackup): string {
  const failures = status?.current?.failures ?? 0;
  return [failures > 0 || status?.phase === 'Waiting' ? '1' : '0', status?.current?.startedAt, metadata.name].join(' ');
}
