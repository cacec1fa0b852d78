/**
 * What of other objects a cluster decides by. A pod that starts is written half a dozen times before there is anybody in it to
 * ask, its claim and its StatefulSet as often: all of that says nothing to a plan. What is left out here is seen by the next
 * look, which comes soon while something is under way.
 */
import { findCondition, headOf, type PersistentVolumeClaim, type Pod, type StatefulSet } from '@polder/kube';
import type { QdrantCollection, QdrantCollectionRestore } from '../kinds/index.ts';
import { QDRANT } from './objects/index.ts';

/** A container that is about to run has nothing to tell yet. */
const STARTING: readonly (string | undefined)[] = [undefined, 'ContainerCreating', 'PodInitializing'];

/** Whether there is somebody to ask in it, since when, and how that ended. */
export function newsOfPod({ metadata, status }: Pod): unknown {
  const { deletionTimestamp, labels, ownerReferences } = metadata;
  const { running, waiting } = status?.containerStatuses?.find(({ name }) => name === QDRANT)?.state ?? {};
  const trouble = STARTING.includes(waiting?.reason) ? undefined : waiting;
  if (!running && !trouble && deletionTimestamp === undefined) return undefined;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  return [deletionTimestamp, labels, ownerReferences, running?.startedAt, trouble, ready];
}

/** Whether it goes, or grows. */
export function newsOfClaim({ metadata: { deletionTimestamp }, status }: PersistentVolumeClaim): unknown {
  const { conditions = [], allocatedResourceStatuses } = status ?? {};
  const isNone = deletionTimestamp === undefined && conditions.length === 0 && allocatedResourceStatuses === undefined;
  return isNone ? undefined : [deletionTimestamp, conditions, allocatedResourceStatuses];
}

/** What it says of its pods we see in them; but which of them are outdated, it alone can say. */
export function newsOfSet(set: StatefulSet): unknown {
  const { updateRevision, currentRevision, observedGeneration } = set.status ?? {};
  return [headOf(set), set.spec, updateRevision !== currentRevision && [updateRevision, observedGeneration]];
}

/** What its collections have told the server: how many copies there should be, and that there are new shards. */
export function newsOfCollection({ spec, status }: QdrantCollection): unknown {
  const replicated = findCondition(status?.conditions, 'Replicated');
  const isKnown = replicated !== undefined && replicated.status !== 'Unknown';
  return isKnown || status?.lastPatch ? [spec.cluster, status?.lastPatch, replicated?.reason] : undefined;
}

/** A restore holds what would disturb it, and lets it go when it is over. */
export const newsOfRestore = ({ spec, status }: QdrantCollectionRestore): unknown => [spec.cluster, status?.phase];
