import { pods } from '../contract/objects.ts';
import type { Body } from '../contract/wire.ts';
import { onDrivenNode, type Pod } from './pods.ts';
import { expect, topic } from './suite.ts';
import type { Workloads } from './workloads.ts';

type Fields = Readonly<Record<string, unknown>>;

const sets = (namespace: string) => `/apis/apps/v1/namespaces/${namespace}/replicasets`;

const replicaSet = (replicas: number, spec: Fields = {}, labels: Fields = {}, podSpec: Fields = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'web' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web', ...labels } },
      spec: { containers: [{ name: 'main', image: 'example.com/main:1' }], ...onDrivenNode, ...podSpec },
    },
    ...spec,
  },
});

/** A set in a namespace of its own, with its pods placed on the driven node. */
async function started(world: Workloads, replicas: number, spec: Fields = {}) {
  const ns = await world.namespace();
  const set = await world.wire.must(world.wire.create(sets(ns), replicaSet(replicas, spec)));
  const created = await world.podsBecome(ns, 'app=web', replicas);
  const placed = await Promise.all(created.map(({ metadata }) => world.scheduled(ns, metadata.name)));
  const path = `${sets(ns)}/web`;
  const scale = (to: number) => world.wire.must(world.wire.patch('merge', path, { spec: { replicas: to } }));
  return { ns, set, placed, path, scale };
}

/** Waits for exactly this status. */
const statusBecomes = ({ settles, wire }: Workloads, path: string, status: Fields) =>
  settles(async () => expect((await wire.get(path)).body.status).toEqual(status));

const nameOf = ({ metadata }: Pod) => metadata.name;

/** Waits for so many pods on their way out: their names. */
const goingOf = ({ settles, podsOf }: Workloads, namespace: string, count: number): Promise<readonly string[]> =>
  settles(async () => {
    const going = (await podsOf(namespace, 'app=web')).filter(
      ({ metadata }) => metadata.deletionTimestamp !== undefined,
    );
    expect(going.map(nameOf)).toHaveLength(count);
    return going.map(nameOf);
  });

const annotate = ({ wire }: Workloads, pod: Pod | undefined, annotations: Fields): Promise<Body> =>
  wire.must(
    wire.patch('merge', `${pods(pod?.metadata.namespace ?? '')}/${pod?.metadata.name}`, { metadata: { annotations } }),
  );

const controlledBy = (set: Body) => [
  {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: set.metadata.name,
    uid: set.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  },
];

export const podsOfReplicaSets = topic('replica sets', (promise) => {
  promise('have as many pods as wanted, and say how they are', async (world) => {
    const { set, placed, path, scale } = await started(world, 2);
    const [first, second] = placed;
    expect(first?.metadata).toMatchObject({
      name: expect.stringMatching(/^web-[a-z0-9]{5}$/),
      generateName: 'web-',
      labels: { app: 'web' },
      ownerReferences: controlledBy(set),
    });
    const all = { observedGeneration: 1, replicas: 2, fullyLabeledReplicas: 2, terminatingReplicas: 0 };
    await statusBecomes(world, path, all);
    if (first) await world.becomeReady(first);
    await statusBecomes(world, path, { ...all, readyReplicas: 1, availableReplicas: 1 });
    if (second) await world.becomeReady(second);
    await statusBecomes(world, path, { ...all, readyReplicas: 2, availableReplicas: 2 });
    await scale(0);
    await statusBecomes(world, path, { observedGeneration: 2, replicas: 0, terminatingReplicas: 2 });
    for (const pod of placed) await world.finishDeletion(pod);
    await statusBecomes(world, path, { observedGeneration: 2, replicas: 0, terminatingReplicas: 0 });
  });

  promise('replace a pod that has failed, and leave it for whoever asks why', async (world) => {
    const { ns, placed } = await started(world, 1);
    const [failed] = placed;
    if (failed) await world.fail(failed);
    const two = await world.podsBecome(ns, 'app=web', 2);
    expect(two.map(nameOf)).toContain(failed?.metadata.name);
    expect((await world.pod(ns, failed?.metadata.name ?? '')).status.phase).toBe('Failed');
  });

  promise('replace a pod at once when it is being deleted', async (world) => {
    const { ns, placed, path } = await started(world, 1);
    await world.wire.must(world.wire.delete(`${pods(ns)}/${placed[0]?.metadata.name}`));
    await world.podsBecome(ns, 'app=web', 2);
    const counts = { observedGeneration: 1, replicas: 1, fullyLabeledReplicas: 1, terminatingReplicas: 1 };
    await statusBecomes(world, path, counts);
  });

  promise('take in a pod that nobody controls instead of making another', async (world) => {
    const ns = await world.namespace();
    const stray = await world.place(ns, 'stray', { labels: { app: 'web' } });
    const template = replicaSet(1, {}, { version: '1' });
    const set = await world.wire.must(world.wire.create(sets(ns), template));
    await world.becomes(`${pods(ns)}/stray`, { metadata: { ownerReferences: controlledBy(set) } });
    // It does not carry all labels of the template, and the status says that, too.
    const counts = { observedGeneration: 1, replicas: 1, terminatingReplicas: 0 };
    await statusBecomes(world, `${sets(ns)}/web`, counts);
    expect((await world.podsOf(ns, 'app=web')).map(nameOf)).toEqual([stray.metadata.name]);
  });

  promise('leave a pod alone that somebody else controls', async (world) => {
    const ns = await world.namespace();
    const other = { apiVersion: 'v1', kind: 'Node', name: 'driven', uid: crypto.randomUUID(), controller: true };
    const body = {
      metadata: { name: 'taken', labels: { app: 'web' }, ownerReferences: [other], finalizers: ['example.com/hold'] },
      spec: { containers: [{ name: 'main', image: 'example.com/main:1' }], ...onDrivenNode },
    };
    await world.wire.must(world.wire.create(pods(ns), body));
    await world.wire.must(world.wire.create(sets(ns), replicaSet(1)));
    await world.podsBecome(ns, 'app=web', 2);
    await world.becomes(`${sets(ns)}/web`, { status: { replicas: 1 } });
    expect((await world.wire.get(`${pods(ns)}/taken`)).body.metadata).toMatchObject({ ownerReferences: [other] });
    await world.wire.must(world.wire.patch('merge', `${pods(ns)}/taken`, { metadata: { finalizers: null } }));
  });

  promise('take in no pod that has ended', async (world) => {
    const ns = await world.namespace();
    await world.succeed(await world.place(ns, 'ended', { labels: { app: 'web' } }));
    await world.wire.must(world.wire.create(sets(ns), replicaSet(1)));
    await world.podsBecome(ns, 'app=web', 2);
    await world.becomes(`${sets(ns)}/web`, { status: { replicas: 1 } });
    expect((await world.wire.get(`${pods(ns)}/ended`)).body.metadata).not.toHaveProperty('ownerReferences');
  });

  promise('let a pod go whose labels no longer match, and make another', async (world) => {
    const { ns, placed } = await started(world, 1);
    const path = `${pods(ns)}/${placed[0]?.metadata.name}`;
    await world.wire.must(world.wire.patch('merge', path, { metadata: { labels: { app: 'debug' } } }));
    const [next] = await world.podsBecome(ns, 'app=web', 1);
    expect(next?.metadata.name).not.toBe(placed[0]?.metadata.name);
    const freed = await world.wire.get(path);
    expect(freed.body.metadata).not.toHaveProperty('ownerReferences');
    expect(freed.body.metadata).not.toHaveProperty('deletionTimestamp');
  });

  promise('remove pods that are not ready before those that are, whatever they cost', async (world) => {
    const { ns, placed, scale, path } = await started(world, 3);
    const [, sick, ...healthy] = placed;
    for (const pod of [placed[0], ...healthy]) if (pod) await world.becomeReady(pod);
    if (sick) await world.becomeUnready(sick);
    await annotate(world, sick, { 'controller.kubernetes.io/pod-deletion-cost': '1000' });
    await world.becomes(path, { status: { readyReplicas: 2 } });
    await scale(2);
    expect(await goingOf(world, ns, 1)).toEqual([sick?.metadata.name]);
  });

  promise('remove the cheapest pods first', async (world) => {
    const { ns, placed, scale, path } = await started(world, 3);
    for (const pod of placed) await world.becomeReady(pod);
    const [dear, cheap, free] = placed;
    await annotate(world, dear, { 'controller.kubernetes.io/pod-deletion-cost': '10' });
    await annotate(world, cheap, { 'controller.kubernetes.io/pod-deletion-cost': '-5' });
    await world.becomes(path, { status: { readyReplicas: 3 } });
    await scale(2);
    expect(await goingOf(world, ns, 1)).toEqual([cheap?.metadata.name]);
    await scale(1);
    expect((await goingOf(world, ns, 2)).toSorted()).toEqual([cheap?.metadata.name, free?.metadata.name].toSorted());
  });

  promise('count a pod as available when it has been ready for minReadySeconds', async (world) => {
    const { placed, path } = await started(world, 1, { minReadySeconds: 2 });
    const [pod] = placed;
    if (pod) await world.becomeReady(pod);
    const all = { observedGeneration: 1, replicas: 1, fullyLabeledReplicas: 1, terminatingReplicas: 0 };
    await statusBecomes(world, path, { ...all, readyReplicas: 1 });
    await statusBecomes(world, path, { ...all, readyReplicas: 1, availableReplicas: 1 });
  });

  promise('say what keeps their pods away, and how many they have all the same', async (world) => {
    const { wire, fresh, namespace } = world;
    const ns = await namespace();
    await world.place(ns, 'stray', { labels: { app: 'web' } });
    const priorityClassName = fresh('urgent');
    await wire.must(wire.create(sets(ns), replicaSet(2, {}, {}, { priorityClassName })));
    const refused = {
      type: 'ReplicaFailure',
      status: 'True',
      reason: 'FailedCreate',
      message: expect.stringContaining(`no PriorityClass with name ${priorityClassName} was found`),
    };
    await world.becomes(`${sets(ns)}/web`, {
      status: { observedGeneration: 1, replicas: 1, fullyLabeledReplicas: 1, conditions: [refused] },
    });
    const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
    await wire.must(wire.create(classes, { metadata: { name: priorityClassName }, value: 1 }));
    const counts = { observedGeneration: 1, replicas: 2, fullyLabeledReplicas: 2, terminatingReplicas: 0 };
    await statusBecomes(world, `${sets(ns)}/web`, counts);
    await wire.must(wire.delete(`${classes}/${priorityClassName}`));
  });
});
