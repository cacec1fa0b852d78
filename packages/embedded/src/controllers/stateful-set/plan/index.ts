import { type Plan, StatefulSet, type StatefulSetStatus } from '@polder/kube';
import { nextAvailability } from '../../pods/index.ts';
import { forget, type History, historyOf } from '../../revisions/index.ts';
import { revisionOf } from '../identity.ts';
import { membersOf } from '../members.ts';
import type { Observed } from '../observe.ts';
import { statusOf } from '../status.ts';
import { wantedOf } from '../wanted.ts';
import { scale } from './scale.ts';
import type { Scene } from './scene.ts';
import type { Doing, StatefulSetStep } from './step.ts';
import { nextToReplace } from './update.ts';

export type { Claims, MemberStep, StatefulSetStep } from './step.ts';

/**
 * Members come and go in order: the lowest first, each once those before it work; surplus ones from the top, each once the one
 * above it is gone; and when all that is done, one of an old revision is replaced, from the top again. So a pod that never
 * becomes ready stops an update, and even the rollback that would mend it: as in Kubernetes, a user has to delete it.
 */
export function planStatefulSet(
  set: StatefulSet,
  observed: Observed,
  now: Date,
): Plan<StatefulSetStep, StatefulSetStatus> {
  const wanted = wantedOf(set);
  const history = recordedOf(set, observed);
  const update = history.newest;
  const current = history.revisions.find(({ name }) => name === set.status?.currentRevision) ?? update;
  const members = membersOf(set, observed);
  const between = { current: current.name, update: update.name };
  if (set.metadata.deletionTimestamp !== undefined) {
    return { objects: [], steps: [], held: [], status: statusOf(set, members.pods, between, now) };
  }

  const { replicas, condemned } = members;
  const scene: Scene = { set, wanted, claims: observed.claims, replicas, condemned, current, update, now };
  const { doings, isScaled } = all(scale(scene));
  const old = isScaled ? nextToReplace(scene) : undefined;
  if (old) doings.push({ do: 'delete-pod', because: `it is not of revision ${update.name}`, pod: old });
  const status = statusOf(set, members.pods, between, now, old);

  const inUse = new Set([current.name, update.name, ...members.pods.map(revisionOf)]);
  const unused = history.revisions.filter(({ name }) => !inUse.has(name));
  return {
    objects: [],
    steps: [
      ...history.steps,
      ...members.steps,
      ...doings.map((doing) => ({ ...doing, set: set.metadata.name, status })),
      ...forget(unused, unused.length - wanted.historyLimit),
    ],
    held: [],
    status,
    ...nextAvailability(members.pods, wanted.minReadySeconds, now),
  };
}

function recordedOf(set: StatefulSet, { revisions }: Observed): History {
  const workload = {
    kind: StatefulSet,
    owner: set,
    template: set.spec?.template ?? {},
    selector: set.spec?.selector ?? {},
    hashLabel: 'controller.kubernetes.io/hash',
    collisionCount: set.status?.collisionCount ?? 0,
  };
  return historyOf(workload, revisions);
}

function all(scaling: Generator<Doing, boolean>): { readonly doings: Doing[]; readonly isScaled: boolean } {
  const doings: Doing[] = [];
  for (let next = scaling.next(); ; next = scaling.next()) {
    if (next.done) return { doings, isScaled: next.value };
    doings.push(next.value);
  }
}
