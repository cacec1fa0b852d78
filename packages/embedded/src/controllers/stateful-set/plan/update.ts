import type { Pod } from '@polder/kube';
import { isTerminating } from '../../pods/index.ts';
import { revisionOf } from '../identity.ts';
import { isSettled } from '../members.ts';
import { isFinished } from './scale.ts';
import type { Scene } from './scene.ts';

/** The next member to replace by one of the new revision: the highest, once all those above it work. */
export function nextToReplace({ replicas, wanted, update, now }: Scene): Pod | undefined {
  if (wanted.partition === undefined) return undefined;
  for (const { pod } of replicas.slice(wanted.partition).toReversed()) {
    const isOld = pod && revisionOf(pod) !== update.name;
    // One that has ended is replaced as it is.
    if (isOld && !isTerminating(pod) && !isFinished(pod)) return pod;
    if (!isSettled(pod, wanted, now)) return undefined;
  }
  return undefined;
}
