import type { Pod } from '@polder/kube';
import { isFailed, isTerminating } from '../../pods/index.ts';
import { identityPatch, newMember } from '../identity.ts';
import { isRunningAndReady, isSettled, type Member } from '../members.ts';
import type { Scene } from './scene.ts';
import type { Doing } from './step.ts';
import { claimsOf, hasLeftOvers, ownClaims } from './storage.ts';

/**
 * As many members as wanted, all well. Says whether that is so, as far as anyone waits for it: the members of an unordered set
 * wait for nobody.
 */
export function* scale(scene: Scene): Generator<Doing, boolean> {
  for (const member of scene.replicas) {
    const isWell = yield* raise(scene, member);
    if (!isWell && scene.wanted.isOrdered) return false;
  }
  return yield* dismiss(scene);
}

/** Makes a member be there and be itself. Says whether it is, and works. */
function* raise(scene: Scene, member: Member): Generator<Doing, boolean> {
  const { set, wanted, now } = scene;
  const { ordinal, name, pod } = member;
  if (!pod) {
    if (hasLeftOvers(scene, member)) return false;
    const { start, partition = 0 } = wanted;
    const revision = ordinal < start + partition ? scene.current : scene.update;
    const because = `the set has no ${name}`;
    const claims = claimsOf(scene, member);
    yield { do: 'create-pod', because, name, pod: newMember(set, ordinal, revision), claims };
    yield* ownClaims(scene, member, false);
    return false;
  }
  if (isFinished(pod)) {
    if (!isTerminating(pod)) yield { do: 'delete-pod', because: `${name} has ended, and members never do`, pod };
    return false;
  }
  if (isPending(pod)) {
    const claims = claimsOf(scene, member);
    const because = `${name} waits for its claims`;
    if (claims.missing.length + claims.leaving.length > 0) yield { do: 'create-claims', because, name, claims };
    yield* ownClaims(scene, member, false);
  }
  if (wanted.isOrdered && !(isRunningAndReady(pod) && isSettled(pod, wanted, now))) return false;

  const patch = identityPatch(set, ordinal, pod);
  if (patch) yield { do: 'update-pod', because: `${name} lacks what makes it that member`, pod, patch };
  if (!isPending(pod)) yield* ownClaims(scene, member, false);
  return true;
}

/** Surplus members go from the top. In an ordered set one after the other, and only while nobody else is in trouble. */
function* dismiss(scene: Scene): Generator<Doing, boolean> {
  const { condemned, wanted, now } = scene;
  for (const member of condemned) yield* ownClaims(scene, member, true);
  const lowestInTrouble = condemned.findLast(({ pod }) => !isSettled(pod, wanted, now));
  for (const member of condemned) {
    const { name, pod } = member;
    if (isTerminating(pod)) {
      if (wanted.isOrdered) return false;
      continue;
    }
    const isWell = isRunningAndReady(pod) && isSettled(pod, wanted, now);
    if (wanted.isOrdered && !isWell && member !== lowestInTrouble) return false;
    yield { do: 'delete-pod', because: `${wanted.replicas} members are wanted, and ${name} is none of them`, pod };
    if (wanted.isOrdered) return false;
  }
  return true;
}

const isPending = ({ status }: Pod) => (status?.phase ?? 'Pending') === 'Pending';

/** However it ended: the exit code of a pod that was evicted says nothing about why. */
export const isFinished = (pod: Pod) => isFailed(pod) || pod.status?.phase === 'Succeeded';
