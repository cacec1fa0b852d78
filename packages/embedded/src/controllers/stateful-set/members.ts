import { type Pod, StatefulSet } from '@polder/kube';
import { type ClaimStep, claim, isAvailable, isReady, isTerminating } from '../pods/index.ts';
import { memberName, ordinalOf } from './identity.ts';
import type { Observed } from './observe.ts';
import { type Wanted, wantedOf } from './wanted.ts';

/** A place in the set, and the pod that has it. */
export interface Member {
  readonly ordinal: number;
  readonly name: string;
  readonly pod: Pod | undefined;
}

/** A member of which there is a pod. */
export interface LivingMember extends Member {
  readonly pod: Pod;
}

export interface Members {
  /** One for each replica, lowest ordinal first. */
  readonly replicas: readonly Member[];
  /** Beyond what is wanted, highest ordinal first. */
  readonly condemned: readonly LivingMember[];
  /** The pods of both. */
  readonly pods: readonly Pod[];
  readonly steps: readonly ClaimStep[];
}

/** A pod belongs to the set by its owner, by its labels and by its name: all three have to say so. */
export function membersOf(set: StatefulSet, { owned, unowned }: Pick<Observed, 'owned' | 'unowned'>): Members {
  const isNamed = (pod: Pod) => ordinalOf(set, pod) !== undefined;
  const claimed = claim(StatefulSet, set, set.spec?.selector ?? {}, {
    owned: owned.filter(isNamed),
    unowned: unowned.filter(isNamed),
  });
  const isDeleted = set.metadata.deletionTimestamp !== undefined;
  const strangers = isDeleted ? [] : owned.filter((pod) => !isNamed(pod));
  const released = strangers.map((pod): ClaimStep => {
    const because = `no member of the set is called ${pod.metadata.name}`;
    return { do: 'release-pod', because, pod, ownerUid: set.metadata.uid ?? '' };
  });
  const byOrdinal = new Map(claimed.pods.map((pod) => [ordinalOf(set, pod) ?? -1, pod]));
  const { start, replicas } = wantedOf(set);
  const isWanted = (ordinal: number) => ordinal >= start && ordinal < start + replicas;
  return {
    replicas: Array.from({ length: replicas }, (_, at) => {
      const ordinal = start + at;
      return { ordinal, name: memberName(set, ordinal), pod: byOrdinal.get(ordinal) };
    }),
    condemned: [...byOrdinal]
      .filter(([ordinal]) => !isWanted(ordinal))
      .toSorted(([a], [b]) => b - a)
      .map(([ordinal, pod]) => ({ ordinal, name: memberName(set, ordinal), pod })),
    pods: claimed.pods,
    steps: [...claimed.steps, ...released],
  };
}

export const isRunningAndReady = (pod: Pod) => pod.status?.phase === 'Running' && isReady(pod);

/** It does its work, and has done so for long enough: others may go on. */
export function isSettled(pod: Pod | undefined, { minReadySeconds }: Wanted, now: Date): pod is Pod {
  return pod !== undefined && !isTerminating(pod) && isAvailable(pod, minReadySeconds, now);
}
