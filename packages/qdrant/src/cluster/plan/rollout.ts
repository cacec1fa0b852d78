import { isDown, isOutdated } from './rules.ts';
import type { Situation } from './situation.ts';
import type { ClusterStep } from './step.ts';

/** Another image, if the spec names another one than the StatefulSet has. */
export function changingImage({ cluster, observed }: Situation): readonly ClusterStep[] {
  const { set } = observed.children;
  const now = set?.spec?.template?.spec?.containers[0]?.image;
  const { image } = cluster.spec;
  if (!set || now === undefined || now === image) return [];
  return [{ do: 'change-image', because: `spec.image is ${image}, and it was ${now}`, set, image }];
}

/** Pods that are not made as they would be now: those that do not run first, then from the last one, the leader at the end. */
export function restarting({ cluster, observed, sight }: Situation): readonly ClusterStep[] {
  const { set } = observed.children;
  const isObserved = (set?.status?.observedGeneration ?? 0) >= (set?.metadata.generation ?? 0);
  if (!set || !isObserved || cluster.spec.suspend) return [];
  const outdated = observed.pods.filter((one) => isOutdated(set.status?.updateRevision, one));
  const isLeader = (name: string) => sight.leader?.pod === name;
  return outdated
    .filter(({ pod }) => pod.metadata.deletionTimestamp === undefined)
    .toSorted(
      (a, b) =>
        Number(isDown(b.pod)) - Number(isDown(a.pod)) ||
        Number(isLeader(a.pod.metadata.name)) - Number(isLeader(b.pod.metadata.name)) ||
        b.ordinal - a.ordinal,
    )
    .map(({ pod }) => {
      const because = `${pod.metadata.name} is not as it would be made now`;
      return { do: 'restart-pod', because, pod, outdatedBy: set };
    });
}
