import type { StatefulSet } from '@polder/kube';
import type { ClaimSeen, PodSeen } from '../observe.ts';
import { isDown, isOutdated } from './rules.ts';
import type { Shard } from './sight.ts';
import type { Situation } from './situation.ts';
import type { ClusterStep } from './step.ts';
import { awaitsRestart } from './volumes.ts';

/** Another image, if the spec names another one than the StatefulSet has. */
export function changingImage({ cluster, observed }: Situation): readonly ClusterStep[] {
  const { set } = observed.children;
  const now = set?.spec?.template?.spec?.containers[0]?.image;
  const { image } = cluster.spec;
  if (!set || now === undefined || now === image) return [];
  return [{ do: 'change-image', because: `spec.image is ${image}, and it was ${now}`, set, image }];
}

/**
 * Somebody let Kubernetes replace pods by itself, which asks nobody whether a copy is left. The settings of that way can't
 * stand beside ours, and are not ours to leave out: as long as they are there, the server refuses whatever we apply.
 */
export function holdingUpdates({ observed }: Situation): readonly ClusterStep[] {
  const { set } = observed.children;
  if (!set || set.spec?.updateStrategy?.rollingUpdate === undefined) return [];
  return [{ do: 'hold-updates', because: 'pods are replaced one by one, by the operator alone', set }];
}

/** Pods that are not made as they would be now, or whose volumes wait for it: those that do not run first, then from the last one, the leader at the end. */
export function restarting({ cluster, observed, sight }: Situation): readonly ClusterStep[] {
  const { set } = observed.children;
  const isObserved = (set?.status?.observedGeneration ?? 0) >= (set?.metadata.generation ?? 0);
  if (!set || !isObserved || cluster.spec.suspend) return [];
  const isLeader = (name: string) => sight.leader?.pod === name;
  return observed.pods
    .filter(({ pod }) => pod.metadata.deletionTimestamp === undefined)
    .toSorted(
      (a, b) =>
        Number(isDown(b.pod)) - Number(isDown(a.pod)) ||
        Number(isLeader(a.pod.metadata.name)) - Number(isLeader(b.pod.metadata.name)) ||
        b.ordinal - a.ordinal,
    )
    .flatMap((one): ClusterStep[] => {
      const because = whyRestart(one, set, observed.claims);
      return because === undefined ? [] : [{ do: 'restart-pod', because, pod: one.pod, outdatedBy: set }];
    });
}

/**
 * Which of the restarts that may be done now are done now: one, unless the user allows more at once. Each begins with all
 * that is there being well; together they must leave every shard a live copy, and the others a majority.
 */
export function together(restarts: readonly Restart[], situation: Situation): readonly Restart[] {
  const { maxUnavailable = 1, allowConcurrentWhenUnreplicated = false } = situation.cluster.spec.updateStrategy ?? {};
  if (allowConcurrentWhenUnreplicated && isUnreplicated(situation)) return restarts;
  const chosen: Restart[] = [];
  for (const restart of restarts) {
    const all = [...chosen, restart];
    if (chosen.length === 0 || (all.length <= maxUnavailable && isBearable(all, situation))) chosen.push(restart);
  }
  return chosen;
}

type Restart = Extract<ClusterStep, { do: 'restart-pod' }>;

const isUnreplicated = ({ observed, sight }: Situation): boolean =>
  sight.doubt === undefined &&
  sight.shards.every(({ copies }) => copies.length <= 1) &&
  [...observed.factors.values()].every((factors) => factors.known && factors.value.replication <= 1);

function isBearable(restarts: readonly Restart[], { sight }: Situation): boolean {
  const names = restarts.map(({ pod }) => pod.metadata.name);
  const staying = sight.members.filter(({ pod }) => !names.includes(pod));
  const isHeld = ({ copies }: Shard) =>
    copies.some(({ peer, isLive }) => isLive && staying.some(({ id }) => id === peer));
  return staying.length * 2 > sight.members.length + sight.missing.length && sight.shards.every(isHeld);
}

function whyRestart(one: PodSeen, { status }: StatefulSet, claims: readonly ClaimSeen[]): string | undefined {
  if (isOutdated(status?.updateRevision, one)) return `${one.pod.metadata.name} is not as it would be made now`;
  const growing = claims.find((claim) => claim.ordinal === one.ordinal && awaitsRestart(claim, one.pod));
  return growing && `${growing.claim.metadata.name} grows when its pod starts anew`;
}
