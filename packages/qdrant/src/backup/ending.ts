import type { Happening } from '@polder/kube';
import { isForced, letGo, pauseOf, waitedCleanup } from '../cleanup.ts';
import type { QdrantCollectionBackup } from '../kinds/index.ts';
import type { Settings } from '../settings.ts';
import { problemWith } from './due.ts';
import { leftAfter, removingLeftovers } from './leftovers.ts';
import type { Observed, SeenSet } from './observe.ts';
import type { BackupPlan } from './plan.ts';
import type { BackupStep } from './step.ts';

/**
 * What was backed up stays, whoever asked for it: a backup that is deleted takes only the set along that it was about to
 * make, which is of no use to anybody, and what it left on the disks of peers.
 */
export function ending(backup: QdrantCollectionBackup, observed: Observed, now: Date, settings: Settings): BackupPlan {
  const { status } = backup;
  const { cluster } = observed;
  const clearing = cluster ? removingLeftovers(backup, cluster, observed) : [];
  const { leftovers = [] } = leftAfter(backup, cluster, clearing);
  const unfinished = unfinishedSet(backup, observed);
  const removing: readonly BackupStep[] =
    unfinished.is === 'ours'
      ? [{ do: 'remove-set', because: `${unfinished.set.id} will not be completed`, backup, set: unfinished.set }]
      : [];
  const steps = [...clearing, ...removing];
  const waits = [
    ...(unfinished.is === 'unknown' ? [unfinished.because] : []),
    ...leftovers.map(({ pod, shard }) => `${pod} does not answer, and may have a snapshot of shard ${shard}`),
  ];
  if (steps.length + waits.length > 0 && isForced(backup, settings)) {
    return ended(backup, [], [letGo(backup, leftBy(backup, unfinished))]);
  }
  if (waits.length === 0) return ended(backup, steps);
  const because = waits.join('; ');
  return {
    objects: [],
    steps,
    held: [],
    status: {
      ...status,
      leftovers: [...leftovers],
      cleanupPhase: 'Retrying',
      cleanupError: because,
      ...waitedCleanup(backup, now.getTime()),
    },
    summary: { is: 'reconciling', reason: 'Deleting', because },
    lookAgain: { afterMs: pauseOf(backup), because: 'what it began is still in the bucket, or on a peer' },
  };
}

type Unfinished =
  | { readonly is: 'none' }
  | { readonly is: 'ours'; readonly set: SeenSet }
  | { readonly is: 'unknown'; readonly because: string };

/** None: nothing was begun, it was completed after all, somebody else goes on with it, or it is somebody else's. */
function unfinishedSet(backup: QdrantCollectionBackup, { credentials, storage, others }: Observed): Unfinished {
  const id = backup.status?.current?.id;
  if (id === undefined || others.some(({ status }) => status?.current?.id === id)) return { is: 'none' };
  const problem = problemWith(backup);
  if (problem !== undefined) return { is: 'unknown', because: problem };
  if (credentials.is === 'missing') return { is: 'unknown', because: credentials.because };
  if (storage.is === 'trouble') return { is: 'unknown', because: storage.trouble.because };
  const set = storage.is === 'seen' ? storage.sets.find((one) => one.id === id) : undefined;
  // Parts of a file that nobody completed are listed nowhere: also where no file is, there may be some.
  if (!set) return { is: 'ours', set: { ...NO_FILES, id } };
  return set.isOurs && !set.hasManifest ? { is: 'ours', set } : { is: 'none' };
}

function leftBy({ spec, status }: QdrantCollectionBackup, unfinished: Unfinished): string {
  const { current, leftovers = [] } = status ?? {};
  return [
    ...(current && unfinished.is !== 'none'
      ? [`the files of ${current.id} in bucket ${spec.snapshots.bucketName}`]
      : []),
    ...leftovers.map(({ pod, shard }) => `a snapshot of shard ${shard} on ${pod}`),
  ].join(' and ');
}

const NO_FILES = { begunAt: 0, hasManifest: false, shards: new Map(), isComplete: false, isOurs: true };

/** A step that fails ends the pass before the backup is let go. */
const ended = (
  { status }: QdrantCollectionBackup,
  steps: readonly BackupStep[],
  events: readonly Happening[] = [],
): BackupPlan => ({
  objects: [],
  steps,
  held: [],
  status: { ...status, cleanupPhase: 'Completed' },
  summary: { is: 'reconciling', reason: 'Deleting', because: 'the QdrantCollectionBackup is being deleted' },
  events,
  isCleanedUp: true,
});
