import { type Held, type NewCondition, type StatusOf, type Summary, sentenceOf } from '@polder/kube';
import type { QdrantCluster } from '../../kinds/index.ts';
import { isDown, isReady, WAY_OUT } from './rules.ts';
import { copiesOn, isLost, type Situation } from './situation.ts';
import { type ClusterStep, isOfCluster } from './step.ts';
import { stuckIn, whyStuck } from './stuck.ts';
import { unexpandedIn } from './volumes.ts';

export type QdrantStatus = NonNullable<StatusOf<QdrantCluster>['qdrantStatus']>;

/** How a cluster is doing: for people, for tools that know upstream's words, and for those that know conditions alone. */
export interface Health {
  readonly qdrantStatus: QdrantStatus;
  readonly summary: Summary;
}

export function healthOf(
  situation: Situation,
  steps: readonly ClusterStep[],
  held: readonly Held<ClusterStep>[],
): Health {
  const { cluster, observed, sight } = situation;
  const trouble = troubleOf(situation, held);
  if (trouble) return { qdrantStatus: 'Error', summary: { is: 'stalled', ...trouble } };
  const ready = observed.pods.filter(({ pod }) => isReady(pod)).length;
  if (cluster.spec.suspend) {
    const isDown = observed.pods.length === 0;
    const because = `${observed.pods.length} pods have not ended yet`;
    return { qdrantStatus: 'Pending', summary: isDown ? { is: 'ready' } : reconciling('Suspending', because) };
  }
  const step = steps.find(isOfCluster);
  if (step) return { qdrantStatus: busy(ready), summary: reconciling('OperationInProgress', sentence(step)) };
  const [first] = held;
  if (first) {
    const because = sentenceOf(first);
    return { qdrantStatus: busy(ready), summary: reconciling('Held', because) };
  }
  const { replicas } = cluster.spec;
  if (ready < replicas || observed.pods.length > replicas) {
    const because = `${ready} of ${replicas} pods are ready`;
    return { qdrantStatus: ready === 0 ? 'Pending' : 'Running', summary: reconciling('ReplicasNotReady', because) };
  }
  if (sight.doubt !== undefined) return { qdrantStatus: 'Running', summary: reconciling('PeersUnknown', sight.doubt) };
  const [away] = sight.missing;
  if (away) return { qdrantStatus: 'Running', summary: reconciling('PeerAway', `peer ${away.id} does not answer`) };
  // A pod is ready by itself: that its peer takes part, the others have to say.
  const joined = sight.members.length;
  if (joined < replicas) {
    const because = `${joined} of ${replicas} peers have joined`;
    return { qdrantStatus: 'Running', summary: reconciling('PeersNotJoined', because) };
  }
  const wounded = sight.shards.find(({ copies, isTravelling }) => isTravelling || copies.some(({ isLive }) => !isLive));
  if (wounded) {
    const because = `a copy of shard ${wounded.id} of ${wounded.collection} is not active yet`;
    return { qdrantStatus: 'Running', summary: reconciling('CopiesNotActive', because) };
  }
  return { qdrantStatus: 'Healthy', summary: { is: 'ready' } };
}

/** Nothing is missing but pods that do not run or are not ready yet: they say so themselves. Whoever runs answers, and takes part. */
export function awaitsPods({ cluster, observed, sight }: Situation): boolean {
  const answering = observed.pods.filter(({ peer }) => peer.known);
  const isQuiet = observed.pods.every(({ pod, peer }) => peer.known || isDown(pod));
  const isWhole = sight.shards.every(
    ({ copies, isTravelling }) => !isTravelling && copies.every(({ isLive }) => isLive),
  );
  const areMembers =
    sight.doubt === undefined && sight.missing.length === 0 && sight.members.length === answering.length;
  const isMissing = observed.pods.filter(({ pod }) => isReady(pod)).length < cluster.spec.replicas;
  return isMissing && isQuiet && (answering.length === 0 || (areMembers && isWhole));
}

/** The condition by which others judge whether the cluster can be told anything, whatever is being done to it meanwhile. */
export const PEERS_AGREE = 'PeersAgree';

export function agreementOf({ sight }: Situation): NewCondition {
  const told = (reason: string, message: string): NewCondition => ({
    type: PEERS_AGREE,
    status: reason === 'Agreed' ? 'True' : 'False',
    reason,
    message,
  });
  const [[stopped], [stranger], [away]] = [sight.stopped, sight.strangers, sight.missing];
  if (stopped) return told('ConsensusStopped', `consensus has stopped on ${stopped.pod}: ${stopped.because}`);
  if (stranger) return told('SplitBrain', `${stranger.pod} is peer ${stranger.id} of a cluster of its own`);
  if (sight.doubt !== undefined) return told('PeersUnknown', sight.doubt);
  if (away) return told('PeerAway', `peer ${away.id} (${away.pod ?? away.uri}) does not answer`);
  return told('Agreed', '');
}

const busy = (ready: number): QdrantStatus => (ready === 0 ? 'Pending' : 'OperationInProgress');

const reconciling = (reason: string, because: string): Summary => ({ is: 'reconciling', reason, because });

export const sentence = (step: ClusterStep): string => `${step.do}: ${step.because}`;

interface Trouble {
  readonly reason: string;
  readonly because: string;
}

/** What does not pass by itself. */
function troubleOf(situation: Situation, held: readonly Held<ClusterStep>[]): Trouble | undefined {
  const { sight } = situation;
  const [stopped] = sight.stopped;
  if (stopped) {
    const because = `consensus has stopped on ${sight.stopped.map(({ pod }) => pod).join(', ')}: ${stopped.because}. Restart nothing; to recover, ${WAY_OUT}`;
    return { reason: 'ConsensusStopped', because };
  }
  const [stranger] = sight.strangers;
  if (stranger) {
    const because = `${stranger.pod} is peer ${stranger.id} of a cluster of its own; delete its volume and its pod, so that it joins this one`;
    return { reason: 'SplitBrain', because };
  }
  const lost = sight.missing.find((one) => isLost(situation, one));
  const last = lost && copiesOn(situation, lost.id).find(({ copies }) => !copies.some(({ isLive }) => isLive));
  if (last) {
    const because = `the volume of ${lost.pod} was lost, and with it the only copy of shard ${last.id} of ${last.collection}; bring the volume back, or delete the collection`;
    return { reason: 'DataLossRisk', because };
  }
  const stuck = stuckIn(situation);
  if (stuck) {
    const { name, creationTimestamp } = stuck.pod.metadata;
    const because = `${name} has not been ready since it was started anew at ${creationTimestamp} (${whyStuck(stuck.pod)}); no other peer is touched. Go back to the spec that worked, and it is replaced`;
    return { reason: 'RolloutStuck', because };
  }
  const unexpanded = unexpandedIn(situation);
  if (unexpanded !== undefined) return { reason: 'VolumeNotExpanded', because: unexpanded };
  const version = held.find(({ rule }) => rule === 'one-minor-version-at-a-time');
  if (version) return { reason: 'UpgradePathInvalid', because: version.because };
  const left = held.find(
    ({ rule }) => rule === 'a-removed-volume-does-not-return' || rule === 'a-volume-can-only-grow',
  );
  return left && { reason: 'Held', because: left.because };
}
