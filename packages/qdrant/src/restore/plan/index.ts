import { type Happening, judge, type NewCondition, type Plan, type Summary, sentenceOf, timestamp } from '@polder/kube';
import type { QdrantCollectionRestore } from '../../kinds/index.ts';
import type { Settings } from '../../settings.ts';
import type { Observed } from '../observe.ts';
import { ending } from './ending.ts';
import { dropping, type Next, nextOf } from './next.ts';
import { rules } from './rules.ts';
import { isOver, type RestoreStatus, type Situation, situationOf } from './situation.ts';
import type { RestoreStep } from './step.ts';

export { rules } from './rules.ts';
export { isOver, modeOf, type RestoreStatus, recordOf } from './situation.ts';
export type { RestoreStep, Through } from './step.ts';

export type RestorePlan = Plan<RestoreStep, RestoreStatus>;

/** The reason in conditions and events. */
export const FAILED = 'RestoreFailed';

/** Pure. `observed` is undefined if there is nothing left to decide: then nobody was asked anything. */
export function planRestore(
  restore: QdrantCollectionRestore,
  observed: Observed | undefined,
  now: Date,
  settings: Settings,
): RestorePlan {
  if (!observed) return atRest(restore);
  const situation = situationOf(restore, observed);
  if (restore.metadata.deletionTimestamp !== undefined) return ending(situation, settings);
  const next = isOver(restore) ? dropping(situation, restore.status ?? {}) : nextOf(situation, now);
  return planned(situation, next, now, settings);
}

/** What is over stays as it is. */
function atRest({ status = {} }: QdrantCollectionRestore): RestorePlan {
  return { objects: [], steps: [], held: [], status, summary: outcomeOf(status), events: [] };
}

function planned(situation: Situation, next: Next, now: Date, { intervals }: Settings): RestorePlan {
  const { restore, record } = situation;
  const { temporary } = restore.status ?? {};
  const before: RestoreStatus = record ?? { phase: 'Pending', ...(temporary && { temporary }) };
  const lookAgain = { afterMs: intervals.progressMs, because: 'what peers do sends no events' };
  const conditions = isOver(restore) ? [] : [writesPaused(restore)];
  const plan = { objects: [], steps: [], held: [], conditions };
  switch (next.is) {
    case 'waits':
      return { ...plan, lookAgain, ...told(before, next.because, next.reason ?? 'Waiting') };
    case 'fails':
      return { ...plan, ...failed(restore, next.because, now) };
    case 'completes':
      return { ...plan, ...completed(situation, next, now) };
    case 'records': {
      const { held } = judge(next.before ? [next.before] : [], rules, situation);
      const [first] = held;
      if (first) return { ...plan, held, lookAgain, ...told(before, sentenceOf(first), 'Held') };
      return { ...plan, lookAgain, ...told(next.status, doing(next.status), 'InProgress') };
    }
    case 'does': {
      const { steps, held } = judge([next.step], rules, situation);
      const [first] = held;
      if (first) return { ...plan, held, lookAgain, ...told(before, sentenceOf(first), 'Held') };
      return { ...plan, steps, lookAgain, ...told(next.after, doing(next.after), 'InProgress') };
    }
  }
}

type Told = Pick<RestorePlan, 'status' | 'summary' | 'events'>;

/** How far it is, in words. What is over says what it said. */
function told(status: RestoreStatus, message: string, reason: string): Told {
  if (status.phase === 'Completed' || status.phase === 'Failed')
    return { status, summary: outcomeOf(status), events: [] };
  const { parts } = status;
  const restored = parts?.filter(({ state }) => state === 'Restored').length;
  return {
    status: { ...status, message, ...(parts && { progress: `${restored} of ${parts.length}` }) },
    summary: { is: 'reconciling', reason, because: message },
  };
}

function doing({ parts = [], merged, temporary }: RestoreStatus): string {
  const verified = parts.filter(({ state }) => state !== 'Found').length;
  if (verified < parts.length) return `${verified} of ${parts.length} files are verified`;
  const restored = parts.filter(({ state }) => state === 'Restored').length;
  if (restored < parts.length) return `${restored} of ${parts.length} files are restored`;
  return temporary ? `${merged?.points ?? 0} points are merged` : 'all files are restored';
}

/** What it was before a pass that failed for good, and why it is over. */
export function failed(restore: QdrantCollectionRestore, because: string, now: Date): Told {
  const { metadata, status } = restore;
  const { startedAt = timestamp(now), parts, temporary, merged } = status ?? {};
  const isBegun = parts?.some(({ state }) => state !== 'Found' && state !== 'Verified') ?? false;
  const message =
    isBegun && !temporary
      ? `${because}. The collection is neither what it was nor what the backup has: restore another backup, or this one again`
      : `${because}. Nothing of the collection was changed`;
  const record: RestoreStatus = {
    phase: 'Failed',
    generation: metadata.generation ?? 0,
    startedAt,
    completedAt: timestamp(now),
    message: merged ? because : message,
    error: because,
    ...(parts && { parts: [...parts], ...(status?.progress !== undefined && { progress: status.progress }) }),
    ...(temporary && { temporary }),
    ...(merged && { merged }),
  };
  const event: Happening = { type: 'Warning', reason: FAILED, action: 'Restore', note: message };
  return { status: record, summary: outcomeOf(record), events: [event] };
}

function completed({ restore, record }: Situation, { points, remark }: Completion, now: Date): Told {
  const { backupId, collection } = restore.spec;
  const parts = record?.parts ?? [];
  const message = `${points} points of ${backupId} are in ${collection}${remark}`;
  const status: RestoreStatus = {
    ...record,
    phase: 'Completed',
    message,
    completedAt: timestamp(now),
    progress: `${parts.length} of ${parts.length}`,
    points,
  };
  const event: Happening = { type: 'Normal', reason: 'RestoreCompleted', action: 'Restore', note: message };
  return { status, summary: { is: 'ready' }, events: [event] };
}

type Completion = Extract<Next, { readonly is: 'completes' }>;

function outcomeOf({ phase, message = '' }: RestoreStatus): Summary {
  if (phase === 'Failed') return { is: 'stalled', reason: FAILED, because: message };
  return phase === 'Completed' ? { is: 'ready' } : { is: 'reconciling', because: message };
}

/**
 * Nothing that Qdrant has refuses writes: locks are gone since 1.16, and the least that strict mode can be told to allow is
 * one write a minute for each copy, however large, which would hold up a merge and outlive an operator that dies.
 */
function writesPaused({ metadata, spec }: QdrantCollectionRestore): NewCondition {
  const isAsked = spec.pauseWrites !== false;
  return {
    type: 'WritesPaused',
    status: 'False',
    reason: isAsked ? 'NotSupported' : 'NotRequested',
    message: isAsked
      ? `Qdrant can not refuse writes to a collection. Stop what writes to ${spec.collection} until the restore is over: what is written while a shard is replaced may be lost`
      : '',
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
  };
}
