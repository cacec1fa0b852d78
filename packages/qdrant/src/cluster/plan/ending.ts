import { judge, type Plan, type StatefulSet, type StatusOf } from '@polder/kube';
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
          ...(set && set.metadata.deletionTimestamp === undefined && hasStopped(set)
            ? [{ do: 'remove-object' as const, because, object: set }]
            : []),
          ...observed.claims
            .filter(({ claim }) => claim.metadata.deletionTimestamp === undefined)
            .map(({ claim }) => ({ do: 'remove-volume' as const, because, claim })),
        ];
  const { steps: allowed, held } = judge(wanted, rules, situation);
  // Nobody is drained: what rules have against pods that go does not count here.
  const isToStop = !isKept && !isForced && set !== undefined && set.spec?.replicas !== 0;
  const steps: readonly ClusterStep[] = [
    ...(isToStop ? [{ do: 'scale' as const, because, set, to: 0 }] : []),
    ...allowed,
  ];
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

/**
 * Its controller has heard that it is to have no pods, and has none. Were it deleted before, one that has not heard of that yet
 * would make pods and claims anew, and the claims would stay.
 */
const hasStopped = ({ metadata, spec, status }: StatefulSet): boolean =>
  spec?.replicas === 0 && status?.replicas === 0 && (status.observedGeneration ?? 0) >= (metadata.generation ?? 0);
