import type { Pod, Rule } from '@polder/kube';
import { namespaceOf, ordinalOf, QDRANT, setsIn } from '../objects/index.ts';
import type { PodSeen } from '../observe.ts';
import { showsEnded, waitsFor } from './certificate.ts';
import type { SeenPeer, Shard } from './sight.ts';
import { copiesOn, isLost, rememberedPods, type Situation, sizeOfMembers } from './situation.ts';
import { keptIn, wholeSince } from './snapshots.ts';
import { type ClusterStep, isDisruptive } from './step.ts';
import { comingIn, isBroken } from './stuck.ts';
import { triedAgainAt } from './transfers.ts';
import { objectionTo } from './versions.ts';

type ClusterRule = Rule<ClusterStep, Situation>;

/** The way out of a consensus that has stopped: by hand, because each step of it gives up on what is not applied yet. */
export const WAY_OUT =
  'stop all peers, start the one with the best data with --reinit and without --bootstrap, then each other one with --reinit --bootstrap of the first, then all without --reinit';

/** Every way in which a step could lose a shard, a peer or the cluster has its rule here: most of them the server allows. */
export const rules: readonly ClusterRule[] = [
  {
    // An entry that nobody can apply stops consensus on all peers at once, and whoever restarts then never comes back.
    name: 'a-stopped-consensus-holds-everything',
    forbids(step, { sight }) {
      const [first] = sight.stopped;
      if (!first || !(isDisruptive(step) || step.do === 'remove-volume')) return undefined;
      return `consensus has stopped on ${first.pod} (${first.because}). Restart nothing; to recover, ${WAY_OUT}`;
    },
  },
  {
    // A peer whose volume was lost and that joined nobody is a cluster of its own behind the same Service.
    name: 'there-is-one-cluster',
    forbids(step, { sight }) {
      const [stranger] = sight.strangers;
      if (!stranger || !isDisruptive(step)) return undefined;
      return `${stranger.pod} is peer ${stranger.id} of another cluster; delete its volume and its pod, so that it joins this one`;
    },
  },
  {
    // Copies die and are filled again with every shard that is restored. What brings back a peer, or lets a lost one go, may
    // be what the restore waits for.
    name: 'a-restore-is-not-disturbed',
    forbids(step, situation) {
      const [restore] = situation.observed.restores;
      const isForced = step.do === 'restart-pod' && (isDown(step.pod) || showsEnded(step.pod, situation));
      const isGrowth = step.do === 'scale' && !isScaleDown(step, situation);
      const isOfLost = situation.sight.missing.some((one) => isLost(situation, one) && isAbout(step, one.id));
      if (restore === undefined || !isDisruptive(step) || isForced || isGrowth || isOfLost) return undefined;
      return `QdrantCollectionRestore ${restore} is under way; to give it up, delete it`;
    },
  },
  {
    name: 'nothing-is-decided-blind',
    forbids(step, situation) {
      return needsSight(step, situation) ? situation.sight.doubt : undefined;
    },
  },
  {
    // What a member that is away holds, and whether it will be back, nobody else can say.
    name: 'every-member-answers',
    forbids(step, situation) {
      if (!needsSight(step, situation)) return undefined;
      const away = situation.sight.missing.find(
        (one) => !((isLost(situation, one) && isAbout(step, one.id)) || isOfPod(step, one.pod)),
      );
      return away && `member ${away.id} (${away.pod ?? away.uri}) does not answer`;
    },
  },
  {
    // A leader that lost its followers still looks like one; that it sends in vain does show.
    name: 'the-leader-reaches-every-member',
    forbids(step, situation) {
      if (!needsSight(step, situation)) return undefined;
      const { leader, missing } = situation.sight;
      const isKnownToBeAway = (uri: string) =>
        missing.some((one) => one.uri === uri && (isAbout(step, one.id) || isOfPod(step, one.pod)));
      const uris = [...(leader?.view.members.values() ?? [])];
      const inVain = leader?.view.unreached.find((uri) => uris.includes(uri) && !isKnownToBeAway(uri));
      return inVain && `${leader?.pod} sends to ${inVain} in vain`;
    },
  },
  {
    // The server counts a dead peer's copy as one.
    name: 'a-shard-keeps-a-live-copy',
    forbids(step, situation) {
      if (step.do !== 'drop-replica') return undefined;
      const others = liveCopies(shardOf(step, situation)).filter((peer) => peer !== step.peer);
      return others.length === 0 ? `no other live copy of ${named(step)} is known` : undefined;
    },
  },
  {
    name: 'a-copy-is-made-from-a-live-one',
    forbids(step, situation) {
      if (step.do !== 'move-replica' && step.do !== 'replicate-shard') return undefined;
      const isLive = liveCopies(shardOf(step, situation)).includes(step.from);
      return isLive ? undefined : `${named(step)} is not active on ${step.from} for everybody`;
    },
  },
  {
    // Onto a peer that holds the shard, the server would refill its copy and drop the other: one less.
    name: 'a-copy-goes-where-there-is-none',
    forbids(step, situation) {
      if (step.do !== 'move-replica' && step.do !== 'replicate-shard') return undefined;
      const target = situation.sight.members.find(({ id }) => id === step.to);
      if (!target) return `${step.to} is no member that answers`;
      if (target.ordinal >= situation.cluster.spec.replicas) return `${target.pod} is to leave`;
      const holds = shardOf(step, situation)?.copies.some(({ peer }) => peer === step.to);
      return holds ? `${target.pod} holds ${named(step)} already` : undefined;
    },
  },
  {
    name: 'a-shard-travels-alone',
    forbids(step, situation) {
      if (step.do !== 'move-replica' && step.do !== 'replicate-shard' && step.do !== 'drop-replica') return undefined;
      return shardOf(step, situation)?.isTravelling ? `${named(step)} is on its way` : undefined;
    },
  },
  {
    name: 'few-shards-travel-at-once',
    forbids(step, { cluster, sight }) {
      if (step.do !== 'move-replica' && step.do !== 'replicate-shard') return undefined;
      const most = cluster.spec.rebalance?.maxConcurrentTransfers ?? 1;
      const travelling = sight.shards.filter(({ isTravelling }) => isTravelling).length;
      return travelling >= most ? `${travelling} of ${most} are on their way` : undefined;
    },
  },
  {
    // What is moved to one that came sooner would be moved on to one that comes later.
    name: 'shards-move-when-all-peers-are-there',
    forbids(step, situation) {
      if (step.do !== 'move-replica' || (situation.size ?? 0) > situation.cluster.spec.replicas) return undefined;
      const coming = comingIn(situation);
      return coming && `${coming} is about to join`;
    },
  },
  {
    name: 'a-transfer-that-vanished-waits',
    forbids(step, situation) {
      if (step.do !== 'move-replica' && step.do !== 'replicate-shard') return undefined;
      const at = triedAgainAt(step, situation);
      return at && `${named(step)} was sent on its way and has not arrived; it is sent again at ${at}`;
    },
  },
  {
    name: 'a-peer-leaves-empty',
    forbids(step, situation) {
      if (step.do !== 'remove-peer') return undefined;
      const [first, ...more] = copiesOn(situation, step.peer);
      return (
        first && `${step.pod} still holds ${named({ collection: first.collection, shard: first.id })}${andMore(more)}`
      );
    },
  },
  {
    name: 'a-pod-leaves-after-its-peer',
    forbids(step, situation) {
      const { cluster, size = 0 } = situation;
      if (!isScaleDown(step, situation) || cluster.spec.suspend) return undefined;
      if (step.to < 1) return 'a cluster has at least one peer; set spec.suspend to stop it';
      if (step.to !== size - 1) return 'peers leave one by one';
      const member = rememberedPods(situation).find((pod) => (ordinalOf(cluster, pod) ?? -1) >= step.to);
      return member && `${member} is a member`;
    },
  },
  {
    name: 'scaling-down-is-wanted',
    forbids(step, { cluster, sight, size = 0 }) {
      const isItsOwn = ({ id, ordinal }: SeenPeer) =>
        step.do === 'drop-replica' && id === step.peer && ordinal >= cluster.spec.replicas;
      const isLeaving =
        step.do === 'remove-peer' || step.do === 'scale' || step.do === 'move-replica' || sight.members.some(isItsOwn);
      if (!isLeaving || size <= cluster.spec.replicas || cluster.spec.scaleDown?.policy !== 'Forbid') return undefined;
      return step.do === 'scale' && step.to >= size ? undefined : 'spec.scaleDown.policy is Forbid';
    },
  },
  {
    // Whoever comes before the first is there would be told to join nobody; and each that joins needs the others to agree.
    name: 'a-cluster-forms-before-it-grows',
    forbids(step, situation) {
      const { sight, size = 0 } = situation;
      if (step.do !== 'scale' || step.to <= size || step.to <= Math.max(1, sizeOfMembers(situation))) return undefined;
      if (sight.doubt !== undefined) return sight.doubt;
      const joined = sight.members.filter(({ ordinal }) => ordinal < size).length;
      return joined < size ? `${joined} of ${size} peers have joined` : undefined;
    },
  },
  {
    // With it, a peer that was removed comes back as a candidate that nobody elects and that disturbs all others.
    name: 'a-removed-volume-does-not-return',
    forbids(step, situation) {
      const { cluster, observed, size = 0 } = situation;
      if (step.do !== 'scale' || step.to <= size || rememberedPods(situation).length === 0) return undefined;
      const left = observed.claims.find(
        ({ ordinal }) => ordinal >= Math.max(size, sizeOfMembers(situation)) && ordinal < step.to,
      );
      if (!left || cluster.spec.suspend) return undefined;
      return `${left.claim.metadata.name} is of a peer that was removed and can not join again; delete the claim`;
    },
  },
  {
    name: 'one-pod-at-a-time',
    forbids(step, situation) {
      const { cluster, observed, size } = situation;
      if (!disturbsPods(step, situation)) return undefined;
      if (size === undefined) return 'there is no StatefulSet that would make it again';
      // Those that leave need not be well for one of them to go.
      const isRestart = step.do === 'restart-pod' || step.do === 'force-delete-pod';
      const counted = isRestart ? size : Math.min(size, cluster.spec.replicas);
      const others = observed.pods.filter(({ pod, ordinal }) =>
        isRestart ? pod.metadata.name !== step.pod.metadata.name : ordinal < counted,
      );
      const isForced = step.do === 'restart-pod' && isDown(step.pod);
      // Peers do not get ready while they can't reach each other: one that answers is followed by the next.
      const isCutOff = step.do === 'restart-pod' && showsEnded(step.pod, situation);
      const hasStarted = ({ pod, peer }: PodSeen) => peer.known || showsEnded(pod, situation);
      const busy = others.find(
        (one) => isEnding(one.pod) || !(isForced || isReady(one.pod) || (isCutOff && hasStarted(one))),
      );
      if (busy) return `pod ${busy.pod.metadata.name} is not ready`;
      const away = counted - others.length - (isRestart ? 1 : 0);
      return away > 0 && !isForced ? `${away} pods are not there yet` : undefined;
    },
  },
  {
    // Each restart takes one copy away for a while: all others have to be there.
    name: 'a-restart-finds-all-copies',
    forbids(step, situation) {
      if (step.do !== 'restart-pod' || isHopeless(step.pod, situation) || showsEnded(step.pod, situation)) {
        return undefined;
      }
      const { members, shards } = situation.sight;
      const moving = shards.find(({ isTravelling }) => isTravelling);
      if (moving) return `${named({ collection: moving.collection, shard: moving.id })} is on its way`;
      const wounded = shards.find(({ copies }) => copies.some(({ isLive }) => !isLive));
      if (wounded) return `a copy of ${named({ collection: wounded.collection, shard: wounded.id })} is not active`;
      const busy = members.find(({ view }) => view.pendingOperations > 0);
      if (busy) return `${busy.pod} has ${busy.view.pendingOperations} operations to apply`;
      const commits = members.map(({ view }) => view.commit);
      return Math.max(...commits) - Math.min(...commits) > FARTHEST_BEHIND
        ? 'a peer is far behind the others'
        : undefined;
    },
  },
  {
    // What is not on a volume goes with its pod.
    name: 'a-pod-without-a-volume-keeps-the-last-copy',
    forbids(step, situation) {
      const { cluster, sight, now } = situation;
      if ((step.do !== 'restart-pod' && step.do !== 'force-delete-pod') || cluster.spec.persistence) return undefined;
      // One that was never ready has nothing yet that it did not get from others.
      if (isBroken(step.pod, now, 0)) return undefined;
      const { name } = step.pod.metadata;
      if (showsEnded(step.pod, situation)) {
        return `the certificate of ${name} has ended, and the pod has no volume; start its container anew, which keeps what it has: kubectl exec -n ${namespaceOf(cluster)} ${name} -c ${QDRANT} -- bash -c 'kill 1'`;
      }
      if (sight.doubt !== undefined) return `${name} has no volume, and ${sight.doubt}`;
      const peer = [...sight.members, ...sight.missing].find(({ pod }) => pod === step.pod.metadata.name);
      const last =
        peer && copiesOn(situation, peer.id).find((shard) => liveCopies(shard).every((id) => id === peer.id));
      return (
        last &&
        `the only copy of ${named({ collection: last.collection, shard: last.id })} would go with ${step.pod.metadata.name}: it has no volume`
      );
    },
  },
  {
    name: 'one-minor-version-at-a-time',
    forbids(step, situation) {
      if (step.do !== 'change-image') return undefined;
      return objectionTo(step.image, step.set.spec?.template?.spec?.containers[0]?.image ?? '', situation);
    },
  },
  {
    // Pods that did not restart yet have what was written before: two changes on, they would not know each other.
    name: 'peers-verify-each-other',
    forbids(step, situation) {
      return step.do === 'renew-certificate' ? waitsFor(step.next, situation) : undefined;
    },
  },
  {
    name: 'a-volume-can-only-grow',
    forbids(step, { observed: { canExpand } }) {
      if (step.do !== 'expand-volume') return undefined;
      if (!canExpand.known) return canExpand.because;
      return canExpand.value ? undefined : 'its StorageClass does not allow to expand volumes';
    },
  },
  {
    // Whatever a count says: without a newer one that is whole and ready, a snapshot may be all that is left one day.
    name: 'a-snapshot-goes-after-newer-whole-ones',
    forbids(step, { cluster, observed }) {
      if (step.do !== 'remove-volume-snapshot') return undefined;
      if (!observed.snapshots.known) return observed.snapshots.because;
      const sets = setsIn(observed.snapshots.value);
      const own = sets.find(({ members }) => members.includes(step.snapshot));
      if (!own) return 'nobody knows what it belongs to';
      const [newer, keep] = [wholeSince(own, sets), keptIn(cluster)];
      return newer < keep ? `${newer} of ${keep} whole sets are newer` : undefined;
    },
  },
  {
    // What a peer has that was removed was moved away before; one that has shards was not removed by us.
    name: 'a-volume-with-shards-stays',
    forbids(step, { cluster, observed }) {
      if (step.do !== 'remove-volume' || cluster.metadata.deletionTimestamp !== undefined) return undefined;
      const ordinal = observed.claims.find(({ claim }) => claim === step.claim)?.ordinal;
      const seen = observed.pods.find((one) => one.ordinal === ordinal);
      if (!seen) return undefined;
      if (!seen.peer.known || !seen.peer.value.distributions.known)
        return `pod ${seen.pod.metadata.name} does not tell what it has`;
      const { id, distributions } = seen.peer.value;
      const first = distributions.value.find(({ replicas }) => replicas.some(({ peer }) => peer === id));
      return first && `${seen.pod.metadata.name} has shards of ${first.collection}`;
    },
  },
  {
    name: 'the-volume-of-a-member-stays',
    forbids(step, situation) {
      if (step.do !== 'remove-volume') return undefined;
      const { cluster, observed, sight } = situation;
      if (cluster.metadata.deletionTimestamp !== undefined) {
        return observed.pods.length > 0 ? `pod ${observed.pods[0]?.pod.metadata.name} still runs` : undefined;
      }
      if (sight.doubt !== undefined) return sight.doubt;
      const seen = observed.claims.find(({ claim }) => claim === step.claim);
      if (!seen) return 'nobody knows whose it is';
      const member = rememberedPods(situation).find((pod) => ordinalOf(cluster, pod) === seen.ordinal);
      return member && `${member} is a member`;
    },
  },
];

/** A few entries are what views differ by while all is well. */
const FARTHEST_BEHIND = 50;

/** Whether a step depends on what peers say. */
function needsSight(step: ClusterStep, situation: Situation): boolean {
  if (step.do === 'restart-pod') return !(isHopeless(step.pod, situation) || showsEnded(step.pod, situation));
  // With its volume, it comes back as the peer that it was, and not before the volume is free.
  if (step.do === 'force-delete-pod') return !situation.cluster.spec.persistence;
  if (step.do === 'scale') return isScaleDown(step, situation) && !situation.cluster.spec.suspend;
  return isAboutShards(step) || step.do === 'remove-peer';
}

const isAboutShards = ({ do: name }: ClusterStep): boolean =>
  name === 'move-replica' || name === 'replicate-shard' || name === 'drop-replica';

const isScaleDown = (step: ClusterStep, { size = 0 }: Situation): step is Extract<ClusterStep, { do: 'scale' }> =>
  step.do === 'scale' && step.to < size;

/** Whether a step takes a pod, or a peer with its pod, away. */
function disturbsPods(step: ClusterStep, situation: Situation): boolean {
  if (step.do === 'scale') return isScaleDown(step, situation) && !situation.cluster.spec.suspend;
  return step.do === 'restart-pod' || step.do === 'force-delete-pod' || step.do === 'remove-peer';
}

/** A step that gives up on a member that is lost needs no word from it. */
const isAbout = (step: ClusterStep, id: string): boolean =>
  (step.do === 'drop-replica' || step.do === 'remove-peer') && step.peer === id;

const isOfPod = (step: ClusterStep, pod: string | undefined): boolean =>
  step.do === 'force-delete-pod' && step.pod.metadata.name === pod;

type OfShard = { readonly collection: string; readonly shard: number };

const shardOf = ({ collection, shard }: OfShard, { sight }: Situation): Shard | undefined =>
  sight.shards.find((one) => one.collection === collection && one.id === shard);

const liveCopies = (shard: Shard | undefined): readonly string[] =>
  shard?.copies.filter(({ isLive }) => isLive).map(({ peer }) => peer) ?? [];

const named = ({ collection, shard }: OfShard) => `shard ${shard} of ${collection}`;

const andMore = (more: readonly unknown[]) => (more.length === 0 ? '' : ` and ${more.length} more`);

export const isReady = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined &&
  (status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false);

const isEnding = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;

/** Nothing runs in it: a crash, an image that is not there. To make it anew can't make it worse. */
export const isDown = (pod: Pod): boolean =>
  !isReady(pod) && !isEnding(pod) && (pod.status?.containerStatuses ?? []).every(({ state }) => !state?.running);

/** It does not run, or never came up with what it was given: there is nothing that a restart could take away. */
const isHopeless = (pod: Pod, { now }: Situation): boolean => isDown(pod) || isBroken(pod, now);

export const isOutdated = (revision: string | undefined, { pod }: PodSeen): boolean =>
  revision !== undefined && pod.metadata.labels?.['controller-revision-hash'] !== revision;
