import { judge, type Plan, type StatusOf } from '@polder/kube';
import { isForced as isToBeForced, letGo } from '../../cleanup.ts';
import type { QdrantCluster } from '../../kinds/index.ts';
import type { Settings } from '../../settings.ts';
import { rules } from './rules.ts';
import type { Situation } from './situation.ts';
import type { ClusterStep } from './step.ts';

/**
 * A cluster that is being deleted is not drained. Its objects go with it; its volumes stay unless they are to go, too: those
 * that nobody owns are deleted here, after the last pod that uses one.
 */
export function ending(situation: Situation, settings: Settings): Plan<ClusterStep, StatusOf<QdrantCluster>> {
  const { cluster, observed } = situation;
  const because = 'the cluster is being deleted';
  const isForced = isToBeForced(cluster, settings);
  const isKept = cluster.spec.deletionPolicy?.pvc !== 'Delete';
  const { set } = observed.children;
  const wanted: ClusterStep[] =
    isKept || isForced
      ? []
      : [
          ...(set && set.metadata.deletionTimestamp === undefined
            ? [{ do: 'remove-object' as const, because, object: set }]
            : []),
          ...observed.claims
            .filter(({ claim }) => claim.metadata.deletionTimestamp === undefined)
            .map(({ claim }) => ({ do: 'remove-volume' as const, because, claim })),
        ];
  const { steps, held } = judge(wanted, rules, situation);
  const isCleanedUp = isKept || isForced || (wanted.length === 0 && !set && observed.pods.length === 0);
  return {
    objects: [],
    steps,
    held,
    status: { ...cluster.status, qdrantStatus: 'Pending', cleanupPhase: isCleanedUp ? 'Completed' : 'Retrying' },
    summary: { is: 'reconciling', reason: 'Deleting', because },
    events: isForced && !isKept ? [letGo(cluster, 'volumes of the cluster')] : [],
    isCleanedUp,
    lookAgain: { afterMs: settings.intervals.progressMs, because: 'its pods have to end first' },
  };
}
