import { isAvailable, isFailed, isReady, isTerminating } from '../../pods/index.ts';
import { isOf, newDaemon } from '../daemon.ts';
import { allowsSurge } from '../limits.ts';
import { failureKey } from '../observe.ts';
import type { Place, Scene } from './scene.ts';
import type { Doing } from './step.ts';

/** One daemon on every node that is to have one, and none elsewhere. */
export function* manage(scene: Scene): Generator<Doing, void> {
  for (const place of scene.places) yield* settle(scene, place);
  for (const pod of scene.homeless) {
    // One that was placed is cleaned up with its node; one that was not would wait for ever.
    if (!pod.spec?.nodeName && !isTerminating(pod)) yield { do: 'delete-pod', because: 'its node is gone', pod };
  }
}

function* settle(scene: Scene, place: Place): Generator<Doing, void> {
  const { node, claim, pods } = place;
  const { name } = node.metadata;
  const present = pods.filter((pod) => !isTerminating(pod));
  if (claim === 'leave') {
    for (const pod of present) yield { do: 'delete-pod', because: `node ${name} is not to have one`, pod };
    return;
  }
  if (pods.length === 0) {
    if (claim === 'run') yield create(scene, name);
    return;
  }
  for (const pod of present) yield* replaceIfEnded(scene, name, pod);
  const running = present.filter((pod) => !isFailed(pod) && pod.status?.phase !== 'Succeeded');
  if (!allowsSurge(scene.set)) {
    for (const pod of running.slice(1)) yield { do: 'delete-pod', because: `node ${name} has an older one`, pod };
    return;
  }
  if (running.length === 0 && claim === 'run') yield create(scene, name);
  else yield* settleSurge(scene, place, running);
}

function create({ set, newest }: Scene, node: string): Doing {
  return { do: 'create-pod', because: `node ${node} has none`, pod: newDaemon(set, node, newest) };
}

/** The kubelet may be the one that refuses it, and would refuse the next one just as fast: hence the wait. */
function* replaceIfEnded({ set, waits, now }: Scene, node: string, pod: Place['pods'][number]): Generator<Doing, void> {
  const { name } = pod.metadata;
  const at = now.getTime();
  if (pod.status?.phase === 'Succeeded') {
    yield { do: 'replace-pod', because: `${name} has ended, and daemons never do`, pod, node };
  } else if (isFailed(pod) && (waits.get(node) ?? 0) <= at) {
    const failure = { key: failureKey(set, node), at };
    yield { do: 'replace-pod', because: `${name} has failed`, pod, node, failure };
  }
}

/** During an update an old one that is ready stays until the new one beside it works. */
function* settleSurge(
  { newest, minReadySeconds, now }: Scene,
  { node }: Place,
  running: Place['pods'],
): Generator<Doing, void> {
  const young = running.filter((pod) => isOf(pod, newest));
  const old = running.filter((pod) => !isOf(pod, newest));
  for (const pod of [...young.slice(1), ...old.slice(1)]) {
    yield { do: 'delete-pod', because: `node ${node.metadata.name} has an older one`, pod };
  }
  const [[one], [other]] = [young, old];
  if (!one || !other) return;
  const isReplaced = !isReady(other) || isAvailable(one, minReadySeconds, now);
  if (isReplaced) yield { do: 'delete-pod', because: `${one.metadata.name} takes its place`, pod: other };
}
