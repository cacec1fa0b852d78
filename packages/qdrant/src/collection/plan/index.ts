import { findCondition, type Held, judge, type NewCondition, type Plan, type StatusOf, timestamp } from '@polder/kube';
import { holdingOf } from '../../holding.ts';
import type { QdrantCollection } from '../../kinds/index.ts';
import type { Settings } from '../../settings.ts';
import type { Observed } from '../observe.ts';
import { hasReadyPeer, problemOf } from './admission.ts';
import { aliasing, inOneRequest } from './aliases.ts';
import { ending } from './ending.ts';
import { eventsOf } from './events.ts';
import { aliasesCondition, type Health, healthOf } from './health.ts';
import { indexing } from './indexes.ts';
import { leavings, leftBehind, leftBehindCondition, leftBehindStatus } from './left-behind.ts';
import { addingVectors, creating, keying, updating } from './making.ts';
import { replicatedCondition, replicationOf } from './replication.ts';
import { patchHash, rules } from './rules.ts';
import { agreementIn, type Situation, situationOf } from './situation.ts';
import { childrenOf, outcomesOf, snapshotsCondition } from './snapshots.ts';
import type { CollectionStep } from './step.ts';

export { rules } from './rules.ts';
export type { CollectionStep, ServerStep, Through } from './step.ts';

export type CollectionPlan = Plan<CollectionStep, StatusOf<QdrantCollection>>;

/** Pure: the same collection, the same observation and the same time give the same plan. */
export function planCollection(
  collection: QdrantCollection,
  observed: Observed,
  settings: Settings,
  now: Date,
): CollectionPlan {
  const situation = situationOf(collection, observed, now, settings.intervals.periodicMs);
  if (collection.metadata.deletionTimestamp !== undefined) return ending(situation, settings);
  const problem = problemOf(collection);
  if (problem !== undefined) return refused(collection, problem);
  const children = childrenOf(collection, observed);
  const { steps: allowed, held } = judge([...wanted(situation), ...children.steps], rules, situation);
  const steps = inOneRequest(allowed);
  const replication = replicationOf(situation);
  const health = healthOf(situation, steps, held, replication);
  const left = leftBehind(situation);
  const leaving = leavings(collection, left);
  return {
    // A backup of what is not there would fail, and a restore would make what is about to be made.
    objects: situation.seen ? children.objects : [],
    steps,
    held,
    status: { ...statusOf(situation, health, steps, held), ...leftBehindStatus(left) },
    summary: health.summary,
    conditions: [
      replicatedCondition(replication),
      ...spoken(collection, collection.spec.aliases !== undefined, aliasesCondition(held)),
      ...spoken(collection, collection.spec.snapshots !== undefined, snapshotsCondition(children.taken)),
      ...spoken(collection, left.length > 0, leftBehindCondition(collection, left)),
    ],
    events: [...eventsOf(collection, health.summary, held), ...leaving],
    lookAgain: lookAgain(situation, health, steps, held, settings),
    // The peer that made it shows it at once. What was made is in the status already, and how it is, in the next.
    isInterim: leaving.length === 0 && steps.length > 0 && steps.every((step) => step.do === 'create-collection'),
  };
}

/** In this order: an alias is given to a collection that is as it should be. */
const wanted = (situation: Situation): readonly CollectionStep[] => [
  ...creating(situation),
  ...updating(situation),
  ...addingVectors(situation),
  ...keying(situation),
  ...indexing(situation),
  ...aliasing(situation),
];

/** Nothing is asked or told before the spec changes. */
function refused({ status }: QdrantCollection, because: string): CollectionPlan {
  const reason = 'InvalidSpec';
  return {
    objects: [],
    steps: [],
    held: [],
    status: { ...status, qdrantStatus: 'Error', reason, errorMessage: because },
    summary: { is: 'stalled', reason, because },
  };
}

/** A condition about what a spec may do without, if it does not, or once did not. */
const spoken = ({ status }: QdrantCollection, isAsked: boolean, condition: NewCondition): readonly NewCondition[] =>
  isAsked || findCondition(status?.conditions, condition.type) ? [condition] : [];

function statusOf(
  situation: Situation,
  { qdrantStatus, summary }: Health,
  steps: readonly CollectionStep[],
  held: readonly Held<CollectionStep>[],
): CollectionPlan['status'] {
  const { collection, observed, ledger } = situation;
  const { origin, clusterUID, aliases, payloadIndexes } = ledger;
  const lastPatch = lastPatchIn(situation, steps);
  return {
    qdrantStatus,
    ...(summary.is === 'stalled' && { reason: summary.reason, errorMessage: summary.because }),
    ...(origin !== undefined && { origin }),
    ...(clusterUID !== undefined && { clusterUID }),
    ...(aliases.length > 0 && { aliases: [...aliases] }),
    ...(payloadIndexes.length > 0 && { payloadIndexes: [...payloadIndexes] }),
    ...(lastPatch && { lastPatch }),
    ...holdingOf(held),
    ...countOf(situation, steps),
    ...outcomesOf(collection, observed),
  };
}

/** Forgotten as soon as the collection shows it. */
function lastPatchIn({ collection, drift, now }: Situation, steps: readonly CollectionStep[]) {
  const sent = steps.find((step) => step.do === 'update-collection');
  if (sent) return { hash: patchHash(sent.patch), time: timestamp(now.getTime()) };
  const before = collection.status?.lastPatch;
  return drift.patch && before?.hash === patchHash(drift.patch) ? before : undefined;
}

/** Points come and go all the time: a count alone is worth a write once in a while. */
function countOf({ collection, seen, now, periodicMs }: Situation, steps: readonly CollectionStep[]) {
  const { pointsCount: before, pointsCountedAt: at, observedGeneration } = collection.status ?? {};
  const last = {
    ...(before !== undefined && { pointsCount: before }),
    ...(at !== undefined && { pointsCountedAt: at }),
  };
  if (!seen || seen.pointsCount === before) return last;
  const isDue = at === undefined || now.getTime() - Date.parse(at) >= periodicMs;
  const isNews = steps.length > 0 || observedGeneration !== collection.metadata.generation;
  if (!isDue && !isNews) return last;
  return { pointsCount: seen.pointsCount, pointsCountedAt: timestamp(now.getTime()) };
}

function lookAgain(
  situation: Situation,
  { summary }: Health,
  steps: readonly CollectionStep[],
  held: readonly Held<CollectionStep>[],
  { intervals }: Settings,
): NonNullable<CollectionPlan['lookAgain']> {
  const { observed, growth } = situation;
  const { cluster, server } = observed;
  // Each that joins comes as an event.
  if (growth && steps.length === 0 && held.some(({ because }) => because === growth.because)) {
    return { afterMs: Math.min(growth.leftMs, intervals.periodicMs), because: growth.because };
  }
  const isAway =
    !cluster ||
    cluster.metadata.deletionTimestamp !== undefined ||
    cluster.spec.suspend === true ||
    (!server.known && !hasReadyPeer(cluster));
  // So does that they agree again.
  const agreement = agreementIn(situation);
  if (!isAway && steps.length === 0 && agreement?.status === 'False') {
    return { afterMs: intervals.awaitedMs, because: agreement.message };
  }
  const isSettled = summary.is === 'ready' || summary.is === 'stalled';
  return isAway || (isSettled && steps.length === 0)
    ? { afterMs: intervals.periodicMs, because: 'what happens to a collection sends no events' }
    : { afterMs: intervals.progressMs, because: 'something is under way' };
}
