import { type Held, judge, ownerReference, type Plan, type StatefulSet, type StatusOf } from '@polder/kube';
import { holdingOf } from '../../holding.ts';
import { QdrantCluster } from '../../kinds/index.ts';
import type { Settings } from '../../settings.ts';
import { desired } from '../objects/index.ts';
import type { Observed } from '../observe.ts';
import { admit, isRolledOut } from './admission.ts';
import { renewing } from './certificate.ts';
import { draining } from './drain.ts';
import { ending } from './ending.ts';
import { eventsOf, undertakings } from './events.ts';
import { agreementOf, awaitsPods, type Health, healthOf, sentence } from './health.ts';
import { leftovers, leftVolumes } from './leftovers.ts';
import { lossCondition, newsOfLoss } from './lost.ts';
import { monitorCondition, monitoring } from './monitor.ts';
import { correctingPorts } from './ports.ts';
import { rebalancing } from './rebalance.ts';
import { givingUpTheLost, membersOf, rejoining, replicating } from './repair.ts';
import { changingImage, holdingUpdates, restarting, together } from './rollout.ts';
import { isReady, rules } from './rules.ts';
import { type Situation, situationOf } from './situation.ts';
import { sizing } from './sizing.ts';
import {
  rememberedSnapshots,
  retiringSnapshots,
  snapshotCondition,
  takingSnapshots,
  untilSnapshotMs,
} from './snapshots.ts';
import { specHash } from './spec-hash.ts';
import { type ClusterStep, isDisruptive } from './step.ts';
import { lettingGo } from './stuck.ts';
import { rememberedTransfers } from './transfers.ts';
import { expanding, recreating } from './volumes.ts';
import { workloadOf } from './workload.ts';

export { issuedIn, PEER_TERMS, type Renewal } from './certificate.ts';
export { happeningOf } from './events.ts';
export { rules } from './rules.ts';
export type { ClusterStep, Through } from './step.ts';

export type ClusterPlan = Plan<ClusterStep, StatusOf<QdrantCluster>>;

/** Pure: the same cluster, the same observation and the same time give the same plan. */
export function planCluster(cluster: QdrantCluster, observed: Observed, settings: Settings, now: Date): ClusterPlan {
  const situation = situationOf(cluster, observed, now);
  if (cluster.metadata.deletionTimestamp !== undefined) return ending(situation, settings);
  const admission = admit(situation);
  switch (admission.is) {
    case 'refused':
      return standstill(situation, settings, admission.reason, admission.because);
    case 'unprepared':
      // What is made here is there when the next pass begins, which then has the objects to tell of.
      return { ...planned(situation, settings, [], admission.steps, []), isInterim: true };
    case 'admitted': {
      const rolled = { ...situation, isRolledOut: isRolledOut(situation, admission.credentials) };
      const { steps: allowed, held } = judge(wanted(rolled), rules, rolled);
      const steps = oneByOne(allowed, rolled);
      const scale = steps.find((step) => step.do === 'scale');
      const { objects, set } = desired(cluster, workloadOf(situation, admission.credentials, scale?.to));
      const corrected = correctingPorts(situation).map(({ service }) => service.metadata.name);
      const applied = objects.filter(
        (object) =>
          !((scale || isStuck(situation)) && object === set) &&
          !(object.kind === 'Service' && corrected.includes(object.metadata.name)),
      );
      const scaled = steps.map((step) => (step === scale ? { ...scale, as: ownedBy(cluster, set) } : step));
      return planned(situation, settings, applied, scaled, held);
    }
  }
}

/** What a StatefulSet is stuck with can't be applied: it is mended, or made anew, first. */
const isStuck = (situation: Situation): boolean => [...recreating(situation), ...holdingUpdates(situation)].length > 0;

/** What a step applies names its owner itself. */
const ownedBy = (cluster: QdrantCluster, set: StatefulSet): StatefulSet => ({
  ...set,
  metadata: { ...set.metadata, ownerReferences: [ownerReference(QdrantCluster, cluster)] },
});

/** In the order of their importance: of those that disturb the cluster, the first that may be done is done. */
function wanted(situation: Situation): readonly ClusterStep[] {
  const steps = [
    ...leftovers(situation),
    ...leftVolumes(situation),
    ...correctingPorts(situation),
    ...renewing(situation),
    ...expanding(situation),
    ...recreating(situation),
    ...holdingUpdates(situation),
    ...lettingGo(situation),
    ...givingUpTheLost(situation),
    ...rejoining(situation),
    ...sizing(situation),
    ...draining(situation),
    ...changingImage(situation),
    ...restarting(situation),
    ...replicating(situation),
  ].filter((step) => !(step.do === 'scale' && isStuck(situation)));
  return [
    ...steps,
    ...(steps.some(isDisruptive) ? [] : rebalancing(situation)),
    ...monitoring(situation),
    ...retiringSnapshots(situation),
    ...takingSnapshots(situation),
  ];
}

/** The next pass looks at what this one did before it goes on. */
function oneByOne(steps: readonly ClusterStep[], situation: Situation): readonly ClusterStep[] {
  const first = steps.find(isDisruptive);
  const restarts = steps.filter((step) => step.do === 'restart-pod');
  const chosen = first?.do === 'restart-pod' ? together(restarts, situation) : [first];
  return steps.filter((step) => !isDisruptive(step) || chosen.some((one) => one === step));
}

function planned(
  situation: Situation,
  settings: Settings,
  objects: ClusterPlan['objects'],
  steps: readonly ClusterStep[],
  held: readonly Held<ClusterStep>[],
): ClusterPlan {
  const health = healthOf(situation, steps, held);
  return { objects, steps, held, ...told(situation, settings, health, steps, held) };
}

/** No object is made or changed: what runs, runs on as it did. */
function standstill(situation: Situation, settings: Settings, reason: string, because: string): ClusterPlan {
  const health: Health = { qdrantStatus: 'Error', summary: { is: 'stalled', reason, because } };
  return { objects: [], steps: [], held: [], ...told(situation, settings, health, [], []) };
}

function told(
  situation: Situation,
  { intervals }: Settings,
  { qdrantStatus, summary }: Health,
  steps: readonly ClusterStep[],
  held: readonly Held<ClusterStep>[],
): Pick<ClusterPlan, 'status' | 'summary' | 'conditions' | 'events' | 'lookAgain'> {
  const { cluster, observed, sight } = situation;
  const versions = new Set(sight.members.map(({ view }) => view.version));
  const [version] = versions;
  const operation = steps.find(isDisruptive);
  const isRefused = summary.is === 'stalled';
  const peers = membersOf(situation);
  const transfers = rememberedTransfers(situation, steps);
  const volumeSnapshots = isRefused ? cluster.status?.volumeSnapshots : rememberedSnapshots(situation);
  const untilNextMs = untilSnapshotMs(situation, volumeSnapshots);
  const isAwaited = steps.length === 0 && held.length === 0 && awaitsPods(situation);
  const isAtRest = summary.is === 'ready' || (isRefused && steps.length === 0 && observed.pods.length === 0);
  return {
    status: {
      qdrantStatus,
      ...(isRefused && { reason: summary.reason, errorMessage: summary.because }),
      lastAppliedHash: specHash(cluster.spec),
      readyReplicas: observed.pods.filter(({ pod }) => isReady(pod)).length,
      ...(versions.size === 1 && version !== undefined && { version }),
      ...(operation && { operation: sentence(operation) }),
      ...holdingOf(held),
      ...(peers.length > 0 && { peers: [...peers] }),
      ...(transfers.length > 0 && { transfers: [...transfers] }),
      ...(volumeSnapshots && { volumeSnapshots }),
    },
    summary,
    conditions: [
      agreementOf(situation),
      ...undertakings(situation),
      ...lossCondition(situation),
      ...snapshotCondition(situation),
      ...monitorCondition(situation),
    ],
    events: [...newsOfLoss(situation), ...eventsOf(situation, summary, held, peers)],
    lookAgain: isAtRest
      ? { afterMs: Math.min(intervals.periodicMs, untilNextMs), because: 'what peers do sends no events' }
      : isAwaited
        ? { afterMs: intervals.awaitedMs, because: 'pods are about to run' }
        : { afterMs: intervals.progressMs, because: 'something is under way' },
  };
}
