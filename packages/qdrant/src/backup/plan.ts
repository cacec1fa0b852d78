import { judge, type Plan, type Summary, sentenceOf, timestamp } from '@polder/kube';
import { backupId, timeOf } from '../archive/index.ts';
import { holdingOf } from '../holding.ts';
import type { BackupStatus, CurrentBackup, QdrantCluster, QdrantCollectionBackup } from '../kinds/index.ts';
import type { Settings } from '../settings.ts';
import { dueOf, lineOf, nextAfter, nextBackupOf, pauseOf, problemWith, type Trigger, timeText } from './due.ts';
import { ending } from './ending.ts';
import { leftAfter, removingLeftovers } from './leftovers.ts';
import { isAbout, type Observed, type SeenSet } from './observe.ts';
import { rules } from './rules.ts';
import { type Sight, sightOf } from './sight.ts';
import type { BackupStep } from './step.ts';
import { UNAVAILABLE } from './storage.ts';

export type BackupPlan = Plan<BackupStep, BackupStatus>;

/** One that broke off and is not gone on with. Until then somebody may want to know what became of it. */
const INCOMPLETE_FOR_MS = 24 * 3_600_000;

const MINUTE_MS = 60_000;

/**
 * Pure: the same backups, the same observation and the same time give the same plan. A backup begins as a line in the status:
 * its id is remembered before anything is written. Then each pass copies a shard that is missing in the bucket, the last
 * writes the manifest, and one more looks for what is to go.
 */
export function planBackup(
  backup: QdrantCollectionBackup,
  observed: Observed,
  now: Date,
  settings: Settings,
): BackupPlan {
  if (backup.metadata.deletionTimestamp !== undefined) return ending(backup, observed, now, settings);
  const problem = problemWith(backup);
  if (problem !== undefined) return stalled(backup, 'InvalidSpec', problem);
  const at = now.getTime();
  const { credentials, storage } = observed;
  const current = backup.status?.current;
  if (credentials.is === 'missing') return stalled(backup, 'CredentialsMissing', credentials.because);
  const begun = beginning(backup, observed, at);
  if (begun) return begun;
  const pause = pauseOf(backup, credentials.version, at);
  if (pause !== undefined) return paused(backup, pause, at);
  if (storage.is === 'trouble') return troubled(backup, storage.trouble, at, settings);
  if (!current || !isAbout(backup, current.id)) return resting(backup, observed, at, settings);
  const set = storage.is === 'seen' ? storage.sets.find(({ id }) => id === current.id) : undefined;
  if (set?.hasManifest) return completed(backup, current, set, at);
  if (!observed.cluster) return stalled(backup, 'ClusterMissing', `there is no QdrantCluster ${backup.spec.cluster}`);
  return running({ backup, current, cluster: observed.cluster, set }, observed, at, settings);
}

/** Undefined: none is due, or the one under way is gone on with. */
function beginning(backup: QdrantCollectionBackup, { storage }: Observed, now: number): BackupPlan | undefined {
  const { spec, status, metadata } = backup;
  const trigger = dueOf(backup, now);
  const current = status?.current;
  const isGivenUp = current && trigger === 'Schedule' && status?.phase !== 'InProgress';
  if (trigger === undefined || (current && isAbout(backup, current.id) && !isGivenUp)) return undefined;
  if (storage.is !== 'seen') return undefined;
  const id = backupId({ cluster: spec.cluster, collection: spec.collectionName, time: timeOf(new Date(now)) });
  // A backup is named by its minute, and two of them would be one.
  if (id === current?.id || id === status?.lastBackup?.id || storage.sets.some((set) => set.id === id)) {
    const lookAgain = { afterMs: MINUTE_MS - (now % MINUTE_MS), because: `${id} is taken` };
    return { ...unchanged(backup, now), summary: doing('Due', 'the next begins with the next minute'), lookAgain };
  }
  const request = spec.request === undefined ? {} : { request: spec.request };
  const begun: CurrentBackup = {
    id,
    generation: metadata.generation ?? 0,
    ...request,
    trigger,
    startedAt: timestamp(now),
  };
  const because = `backup ${id} begins`;
  const note = `Gave up backup ${current?.id}: ${status?.lastError ?? status?.holding?.[0] ?? status?.message}`;
  return {
    objects: [],
    steps: [],
    held: [],
    status: { ...kept(backup, now, trigger), phase: 'InProgress', message: because, current: begun },
    summary: doing('BackingUp', because),
    events: isGivenUp ? [failedEvent(note)] : [],
    lookAgain: { afterMs: 0, because },
  };
}

/** The backup that is under way, and what is in the bucket of it. */
interface Run {
  readonly backup: QdrantCollectionBackup;
  readonly current: CurrentBackup;
  readonly cluster: QdrantCluster;
  readonly set: SeenSet | undefined;
}

/** One pass of it. */
function running(run: Run, observed: Observed, now: number, settings: Settings): BackupPlan {
  const { backup, current, cluster, set } = run;
  const sight = sightOf(cluster, observed.peers);
  if (sight.is === 'missing') {
    const because = `cluster ${backup.spec.cluster} has no collection ${backup.spec.collectionName}`;
    const lookAgain = { afterMs: settings.intervals.periodicMs, because: 'what peers do sends no events' };
    return { ...stalled(backup, 'CollectionMissing', because), lookAgain };
  }
  const cleaning = removingLeftovers(backup, cluster, observed);
  const remembered = { ...timesOf(backup, now), ...leftAfter(backup, cluster, cleaning) };
  if (sight.is === 'unknown') {
    const status = { ...remembered, phase: 'Waiting' as const, message: sight.because, current };
    const summary = doing('PeersUnknown', sight.because);
    return { objects: [], steps: cleaning, held: [], status, summary, ...soon(settings) };
  }
  const wanted = wantedFor(run, sight);
  const { steps: allowed, held } = judge(wanted, rules, { backup, observed, sight });
  const copied = sight.shards.filter(({ id }) => set?.shards.has(id)).length;
  const [step] = allowed;
  const message = `${copied} of ${sight.shards.length} shards are in the bucket`;
  const [first] = held;
  // This is told when the step is done: what failed before is forgiven then.
  const { failures: _, retryAt: __, retryVersion: ___, ...afresh } = current;
  return {
    objects: [],
    steps: [...cleaning, ...(step ? [step] : [])],
    held,
    status: {
      ...remembered,
      phase: step ? 'InProgress' : 'Waiting',
      message,
      current: { ...(step ? afresh : current), copiedShards: copied, shards: sight.shards.length },
      ...holdingOf(held),
    },
    summary: step || !first ? doing('BackingUp', message) : doing('Held', sentenceOf(first)),
    lookAgain: step ? { afterMs: 0, because: message } : soon(settings).lookAgain,
  };
}

function wantedFor(
  { backup, current, cluster, set }: Run,
  { shards, pod }: Extract<Sight, { is: 'clear' }>,
): readonly BackupStep[] {
  const missing = shards.filter(({ id }) => !set?.shards.has(id));
  if (missing.length === 0) {
    const because = `all ${shards.length} shards are in the bucket`;
    return [{ do: 'write-manifest', because, backup, current, cluster, shards, pod }];
  }
  return missing.map(({ id, live }) => ({
    do: 'copy-shard',
    because: `shard ${id} is not in the bucket`,
    backup,
    current,
    cluster,
    shard: id,
    from: inTurn(live, id + (current.failures ?? 0)),
  }));
}

/** Another one each time: which of them fails is not known, and all of them are to bear their share. */
const inTurn = (pods: readonly string[], turn: number): readonly string[] => {
  const from = pods.length === 0 ? 0 : turn % pods.length;
  return [...pods.slice(from), ...pods.slice(0, from)];
};

function completed(backup: QdrantCollectionBackup, current: CurrentBackup, set: SeenSet, now: number): BackupPlan {
  const { id, generation, request } = current;
  const bytes = [...set.shards.values()].reduce((sum, one) => sum + one, 0);
  const note = `Backup ${id} is complete: ${set.shards.size} shards, ${bytes} bytes`;
  const lastBackup = { generation, ...(request !== undefined && { request }), id, time: timestamp(now) };
  return {
    objects: [],
    steps: [],
    held: [],
    status: { ...kept(backup, now), phase: 'Idle', message: note, lastBackup },
    // Not ready yet: the next pass looks for what is to go.
    summary: doing('Tidying', `${id} is complete`),
    events: [{ type: 'Normal', reason: 'BackupCompleted', action: 'Backup', note }],
    lookAgain: { afterMs: 0, because: 'older ones may have to go' },
  };
}

/** Nothing is under way: what is too much is removed. */
function resting(backup: QdrantCollectionBackup, observed: Observed, now: number, settings: Settings): BackupPlan {
  const { cluster, storage } = observed;
  const cleaning = cluster ? removingLeftovers(backup, cluster, observed) : [];
  const steps = [...cleaning, ...removingSets(backup, observed, storage.is === 'seen' ? storage.sets : [], now)];
  const left = leftAfter(backup, cluster, cleaning);
  const isDone = steps.length === 0 && !left.leftovers;
  return {
    objects: [],
    steps,
    held: [],
    status: { ...timesOf(backup, now), ...left, phase: 'Idle' },
    summary: steps.length > 0 ? doing('Tidying', steps.map(({ because }) => because).join('; ')) : { is: 'ready' },
    ...(isDone ? untilDue(backup, now) : soon(settings)),
  };
}

/** Oldest first; of the complete ones those that are more than are kept, and never the newest. */
function removingSets(
  backup: QdrantCollectionBackup,
  { others }: Observed,
  sets: readonly SeenSet[],
  now: number,
): readonly BackupStep[] {
  const { retentionCount } = backup.spec.snapshots;
  const complete = sets.filter(({ isComplete, isOurs }) => isComplete && isOurs);
  const surplus = retentionCount === undefined ? [] : complete.slice(0, -Math.max(1, retentionCount));
  const isUnderWay = (id: string) => others.some(({ status }) => status?.current?.id === id);
  const broken = sets.filter(
    ({ id, isOurs, hasManifest, begunAt }) =>
      isOurs && !hasManifest && now - begunAt > INCOMPLETE_FOR_MS && !isUnderWay(id),
  );
  const removal = (because: string) => (set: SeenSet) => ({ do: 'remove-set' as const, because, backup, set });
  return [
    ...surplus.map((set) => removal(`${set.id} is one more than spec.snapshots.retentionCount keeps`)(set)),
    ...broken.map((set) => removal(`${set.id} was never completed`)(set)),
  ];
}

/** It failed, and nothing changed since. */
function paused(backup: QdrantCollectionBackup, until: number, now: number): BackupPlan {
  const because = backup.status?.lastError ?? 'the last attempt failed';
  return {
    ...unchanged(backup, now),
    summary: doing('BackupFailed', because),
    lookAgain: { afterMs: Math.max(0, until - now), because: 'the backup is attempted again' },
  };
}

function troubled(
  backup: QdrantCollectionBackup,
  { reason, because }: { readonly reason: string; readonly because: string },
  now: number,
  { intervals }: Settings,
): BackupPlan {
  const isPassing = reason === UNAVAILABLE;
  return {
    ...unchanged(backup, now),
    status: { ...withCurrent(backup, now), phase: 'Failed', lastError: because },
    summary: isPassing ? doing(reason, because) : { is: 'stalled', reason, because },
    lookAgain: {
      afterMs: isPassing ? intervals.progressMs * 15 : intervals.periodicMs,
      because: 'nobody tells when a storage is well again',
    },
  };
}

/** The user has to act. What is under way stays so. */
function stalled(backup: QdrantCollectionBackup, reason: string, because: string): BackupPlan {
  const { lastError: _, message: __, holding: ___, ...status } = backup.status ?? {};
  return {
    objects: [],
    steps: [],
    held: [],
    status: { ...status, phase: 'Failed', lastError: because },
    summary: { is: 'stalled', reason, because },
  };
}

const unchanged = (backup: QdrantCollectionBackup, now: number): BackupPlan => {
  const { phase = 'Idle', lastError } = backup.status ?? {};
  const status = { ...withCurrent(backup, now), phase, ...(lastError !== undefined && { lastError }) };
  return { objects: [], steps: [], held: [], status };
};

const withCurrent = (backup: QdrantCollectionBackup, now: number): BackupStatus => ({
  ...kept(backup, now),
  ...(backup.status?.current && { current: backup.status.current }),
});

/** What is remembered from pass to pass, whatever happens in it. */
const kept = (backup: QdrantCollectionBackup, now: number, begun?: Trigger): BackupStatus => ({
  ...timesOf(backup, now, begun),
  ...(backup.status?.leftovers && { leftovers: backup.status.leftovers }),
});

function timesOf(backup: QdrantCollectionBackup, now: number, begun?: Trigger): BackupStatus {
  const { spec, status } = backup;
  const line = lineOf(spec.snapshots);
  const next = timeText(begun === 'Schedule' ? nextAfter(spec.snapshots, now) : nextBackupOf(backup, now));
  return {
    ...(status?.lastBackup && { lastBackup: status.lastBackup }),
    ...(line !== '' && { schedule: line }),
    ...(next !== undefined && { nextBackup: next }),
  };
}

function untilDue(backup: QdrantCollectionBackup, now: number): Pick<BackupPlan, 'lookAgain'> {
  const next = nextBackupOf(backup, now);
  return next === undefined ? {} : { lookAgain: { afterMs: Math.max(0, next - now), because: 'a backup is due then' } };
}

const soon = ({ intervals }: Settings) => ({
  lookAgain: { afterMs: intervals.progressMs * 5, because: 'what peers do sends no events' },
});

const doing = (reason: string, because: string): Summary => ({ is: 'reconciling', reason, because });

const failedEvent = (note: string) => ({ type: 'Warning', reason: 'BackupFailed', action: 'Backup', note }) as const;
