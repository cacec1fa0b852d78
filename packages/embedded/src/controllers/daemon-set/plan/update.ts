import type { Pod } from '@polder/kube';
import { isAvailable, isTerminating } from '../../pods/index.ts';
import { isOf, newDaemon } from '../daemon.ts';
import type { Place, Scene } from './scene.ts';
import type { Doing } from './step.ts';

/** Replaces daemons of old revisions, as many at once as the set allows. */
export function update(scene: Scene): readonly Doing[] {
  const pairs = scene.places
    .filter(({ claim, pods }) => claim === 'run' || pods.length > 0)
    .map((place) => pairOn(scene, place));
  return scene.limits.maxSurge === 0 ? replaceInPlace(scene, pairs) : surge(scene, pairs);
}

/** The daemons of a node by revision. More than one of either is for `manage` to clear up first. */
interface Pair {
  readonly place: Place;
  readonly young: Pod | undefined;
  readonly old: Pod | undefined;
  readonly isCrowded: boolean;
}

function pairOn({ newest }: Scene, place: Place): Pair {
  const present = place.pods.filter((pod) => !isTerminating(pod));
  const young = present.filter((pod) => isOf(pod, newest));
  const old = present.filter((pod) => !isOf(pod, newest));
  return { place, young: young[0], old: old[0], isCrowded: young.length > 1 || old.length > 1 };
}

/** An old one that does not work is replaced at once: that makes nothing worse. */
function replaceInPlace(scene: Scene, pairs: readonly Pair[]): readonly Doing[] {
  const works = worksIn(scene);
  const alone = (pair: Pair) => (pair.isCrowded || (pair.old && pair.young) ? undefined : (pair.old ?? pair.young));
  const unavailable = pairs.filter((pair) => !works(alone(pair))).length;
  const old = pairs.flatMap((pair) => (alone(pair) && pair.old ? [pair.old] : []));
  const candidates = old.filter(works);
  const free = Math.max(0, scene.limits.maxUnavailable - unavailable);
  return [...old.filter((pod) => !works(pod)), ...candidates.slice(0, free)].map((pod) => {
    return { do: 'delete-pod', because: `it is not of revision ${scene.newest.name}`, pod };
  });
}

/** The new one comes first, and the old one goes when it works. */
function surge(scene: Scene, pairs: readonly Pair[]): readonly Doing[] {
  const works = worksIn(scene);
  const clear = pairs.filter((pair) => !pair.isCrowded);
  const waiting = clear.filter(({ old, young }) => old && young && !works(young));
  const replaced = clear.flatMap(({ old, young }) => (old && works(young) ? [old] : []));

  const alone = clear.flatMap(({ place, old, young }) => (old && !young ? [{ place, old }] : []));
  const staying = alone.filter(({ place }) => place.claim === 'run');
  const leaving = alone.filter(({ place }) => place.claim !== 'run').map(({ old }) => old);
  const free = Math.max(0, scene.limits.maxSurge - waiting.length - (pairs.length - clear.length));
  const raised = [
    ...staying.filter(({ old }) => !works(old)),
    ...staying.filter(({ old }) => works(old)).slice(0, free),
  ];

  // Whoever surges wants all to work all the time: a daemon leaves a node only when there are enough elsewhere.
  const working = clear.filter(({ old, young }) => works(old ?? young)).length;
  const wanted = pairs.filter(({ place }) => place.claim === 'run').length;
  const dispensable = leaving.filter(works).slice(0, Math.max(0, working - wanted));
  const name = scene.newest.name;
  return [
    ...raised.map(({ place, old }): Doing => {
      const pod = newDaemon(scene.set, place.node.metadata.name, scene.newest);
      return { do: 'create-pod', because: `${old.metadata.name} is not of revision ${name}`, pod };
    }),
    ...[...replaced, ...leaving.filter((pod) => !works(pod)), ...dispensable].map((pod): Doing => {
      return { do: 'delete-pod', because: `it is not of revision ${name}`, pod };
    }),
  ];
}

const worksIn =
  ({ minReadySeconds, now }: Scene) =>
  (pod: Pod | undefined): pod is Pod =>
    pod !== undefined && isAvailable(pod, minReadySeconds, now);
