import { joinUri, QDRANT, uriOf, VOLUMES, type Workload } from '../objects/index.ts';
import type { Credentials } from './admission.ts';
import { type Situation, sizeOfMembers } from './situation.ts';
import { templateSize } from './volumes.ts';

/**
 * What there should be now: as it is, where a change of it is a step that rules judge. `to`: so many pods are to be there by
 * such a step. Through whom peers join is settled before there are more of them, and after there are fewer.
 */
export function workloadOf(situation: Situation, credentials: Credentials, to?: number): Workload {
  const { cluster, observed } = situation;
  const { set } = observed.children;
  const { spec } = cluster;
  const size = situation.size ?? firstSize(situation);
  const replicas = to ?? size;
  const sizeIn = (volume: string, wanted: string | undefined) => (set ? templateSize(set, volume) : wanted);
  return {
    ...credentials,
    replicas,
    image: imageOf(situation),
    bootstrap: bootstrapOf(situation, Math.max(size, replicas)),
    storageSize: sizeIn(VOLUMES.storage, spec.persistence?.size),
    snapshotsSize: sizeIn(VOLUMES.snapshots, spec.snapshotsStorage?.size),
  };
}

/** The first peer comes alone; but pods and volumes that are there belong to members, who need each other. */
function firstSize(situation: Situation): number {
  const { cluster, observed } = situation;
  if (cluster.spec.suspend && observed.pods.length === 0) return 0;
  return Math.max(1, sizeOfMembers(situation), ...observed.pods.map(({ ordinal }) => ordinal + 1));
}

function imageOf({ cluster, observed }: Situation): string {
  const container = observed.children.set?.spec?.template?.spec?.containers[0];
  const inPods = observed.pods[0]?.pod.spec?.containers.find(({ name }) => name === QDRANT);
  return container?.image ?? inPods?.image ?? cluster.spec.image;
}

/**
 * Only the very first peer is told its own URI, which makes it the first of a new cluster, and only for as long as nobody
 * else is there. From then on a peer with an empty volume can do nothing but join: the name that all are told is nobody's.
 */
function bootstrapOf(situation: Situation, replicas: number): string {
  const { cluster, observed } = situation;
  const isSaidToBe = observed.pods.every(({ peer }) => !peer.known || peer.value.members.size <= 1);
  const isAlone = isSaidToBe && Math.max(replicas, sizeOfMembers(situation)) <= 1;
  return isAlone ? uriOf(cluster, 0) : joinUri(cluster);
}
