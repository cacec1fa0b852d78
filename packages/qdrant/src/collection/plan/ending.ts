import { type Happening, judge } from '@polder/kube';
import { isForced, letGo, pauseOf, waitedCleanup } from '../../cleanup.ts';
import type { Settings } from '../../settings.ts';
import type { CollectionPlan } from './index.ts';
import { recorded } from './ledger.ts';
import { leavings, leftBehind } from './left-behind.ts';
import { rules } from './rules.ts';
import type { Situation } from './situation.ts';
import type { CollectionStep } from './step.ts';

/**
 * A collection is deleted with its QdrantCollection if it is ours and not to be retained. The server is always told, also if
 * it shows none: a creation that nobody answered may still come. It is gone once the server took that, and no longer lists it.
 */
export function ending(situation: Situation, settings: Settings): CollectionPlan {
  const { collection, observed, server, via } = situation;
  const { metadata, spec, status } = collection;
  const { cluster } = observed;
  const because = 'the QdrantCollection is being deleted';
  const isLeft = spec.deletionPolicy === 'Retain' || recorded(collection, observed).origin === undefined;
  // With a cluster goes whatever it holds.
  const isGone = !cluster || cluster.metadata.deletionTimestamp !== undefined;
  if (isLeft || isGone) return ended(situation);
  if (isForced(collection, settings)) return ended(situation, [letGo(collection, `collection ${metadata.name}`)]);
  const isTold = status?.cleanupPhase === 'Completed';
  const isThere = server?.collections.includes(metadata.name) ?? true;
  if (server && isTold && !isThere) return ended(situation);
  const wanted: CollectionStep[] = via ? [{ do: 'delete-collection', because, via, collection: metadata.name }] : [];
  const { steps, held } = judge(wanted, rules, situation);
  // A cluster that was stopped on purpose is waited for, as long as it takes.
  const isVain = (isTold || steps.length === 0) && cluster.spec.suspend !== true;
  const waits = held[0]?.because ?? (observed.server.known ? undefined : observed.server.because);
  return {
    objects: [],
    steps,
    held,
    status: {
      ...status,
      qdrantStatus: 'Pending',
      // Written only if the server took it: what fails says otherwise.
      cleanupPhase: steps.length > 0 ? 'Completed' : 'Retrying',
      ...(isVain && waitedCleanup(collection, situation.now.getTime())),
      ...(waits !== undefined && { cleanupError: waits }),
    },
    summary: { is: 'reconciling', reason: 'Deleting', because: waits ?? because },
    lookAgain: {
      afterMs: steps.length > 0 ? settings.intervals.progressMs : pauseOf(collection),
      because: 'to see whether it is gone',
    },
  };
}

function ended(situation: Situation, events: readonly Happening[] = []): CollectionPlan {
  const { collection } = situation;
  const { status } = collection;
  const because = 'the QdrantCollection is being deleted';
  return {
    objects: [],
    steps: [],
    held: [],
    status: { ...status, cleanupPhase: 'Completed' },
    summary: { is: 'reconciling', reason: 'Deleting', because },
    events: [...events, ...leavings(collection, leftBehind(situation))],
    isCleanedUp: true,
  };
}
