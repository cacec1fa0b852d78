import { claim, claims, deployment, deployments, pod, pods } from '../contract/objects.ts';
import { Pen } from './pen.ts';
import { expect, topic } from './suite.ts';
import type { Workloads } from './workloads.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Creates the pod and waits until it has a node; gives the node's name. */
async function lands(world: Workloads, namespace: string, name: string, spec: Fields, labels: Fields = {}) {
  await world.wire.must(world.wire.create(pods(namespace), pod(name, spec, { labels })));
  const { nodeName = '' } = (await world.scheduled(namespace, name)).spec;
  return nodeName;
}

/** Creates the pod and waits until the scheduler has said that there is no place for it, and why. */
async function waits(
  world: Workloads,
  namespace: string,
  name: string,
  spec: Fields,
  why: RegExp,
  labels: Fields = {},
) {
  await world.wire.must(world.wire.create(pods(namespace), pod(name, spec, { labels })));
  await saysWhy(world, namespace, name, why);
}

async function saysWhy(world: Workloads, namespace: string, name: string, why: RegExp) {
  await world.becomes(`${pods(namespace)}/${name}`, {
    status: {
      phase: 'Pending',
      conditions: expect.arrayContaining([
        expect.objectContaining({
          type: 'PodScheduled',
          status: 'False',
          reason: 'Unschedulable',
          message: expect.stringMatching(why),
        }),
      ]),
    },
  });
}

const container = (fields: Fields) => ({ containers: [{ name: 'main', image: 'example.com/main:1', ...fields }] });
/** What it asks for it may not exceed either: so it must be for resources that cannot be shared. */
const requesting = (requests: Fields) => container({ resources: { requests, limits: requests } });
const required = (...nodeSelectorTerms: readonly unknown[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const where = (key: string, operator: string, ...values: readonly string[]) => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 && { values }) }],
});

export const scheduling = topic('the scheduler', (promise) => {
  promise('gives a pod the node whose labels it selects, and says so', async (world) => {
    const ns = await world.namespace();
    const pen = new Pen(world);
    await pen.node({ labels: { disk: 'slow' } });
    const fast = await pen.node({ labels: { disk: 'fast' } });
    const { nodeSelector, tolerations } = pen.inside;

    expect(await lands(world, ns, 'a', { nodeSelector: { ...nodeSelector, disk: 'fast' }, tolerations })).toBe(fast);

    await world.becomes(`${pods(ns)}/a`, {
      status: {
        conditions: expect.arrayContaining([expect.objectContaining({ type: 'PodScheduled', status: 'True' })]),
      },
    });
    await world.recorded(ns, 'a', {
      type: 'Normal',
      reason: 'Scheduled',
      message: `Successfully assigned ${ns}/a to ${fast}`,
    });
  });

  promise('keeps a pod waiting, saying why, until a node appears', async (world) => {
    const ns = await world.namespace();
    const pen = new Pen(world);
    const why = /^0\/\d+ nodes are available: .*\d+ node\(s\) didn't match Pod's node affinity\/selector/;
    await waits(world, ns, 'a', pen.inside, why);
    await world.recorded(ns, 'a', {
      type: 'Warning',
      reason: 'FailedScheduling',
      message: expect.stringMatching(why),
    });
    const node = await pen.node();
    expect((await world.scheduled(ns, 'a')).spec.nodeName).toBe(node);
  });

  promise('looks again when the labels of a node change', async (world) => {
    const ns = await world.namespace();
    const pen = new Pen(world);
    const node = await pen.node();
    const { nodeSelector, tolerations } = pen.inside;
    await waits(world, ns, 'a', { nodeSelector: { ...nodeSelector, disk: 'fast' }, tolerations }, /node affinity/);
    await world.wire.must(
      world.wire.patch('merge', `/api/v1/nodes/${node}`, { metadata: { labels: { disk: 'fast' } } }),
    );
    expect((await world.scheduled(ns, 'a')).spec.nodeName).toBe(node);
  });

  promise('follows required node affinity: any of the terms, with all of its conditions', async (world) => {
    const ns = await world.namespace();
    const pen = new Pen(world);
    const old = await pen.node({ labels: { disk: 'fast', generation: '3' } });
    const young = await pen.node({ labels: { disk: 'slow', generation: '7' } });
    const { inside } = pen;
    const land = (name: string, ...terms: readonly unknown[]) =>
      lands(world, ns, name, { ...inside, ...required(...terms) });

    expect(await land('in', where('disk', 'In', 'fast', 'faster'))).toBe(old);
    expect(await land('not-in', where('disk', 'NotIn', 'fast', 'faster'))).toBe(young);
    expect(await land('greater', where('generation', 'Gt', '5'))).toBe(young);
    expect(await land('less', where('generation', 'Lt', '5'))).toBe(old);
    expect(await land('either', where('disk', 'DoesNotExist'), where('disk', 'In', 'slow'))).toBe(young);
    const byName = { matchFields: [{ key: 'metadata.name', operator: 'In', values: [old] }] };
    expect(await land('by-name', byName)).toBe(old);
    const contradiction = {
      matchExpressions: [
        ...where('disk', 'In', 'fast').matchExpressions,
        ...where('generation', 'Gt', '5').matchExpressions,
      ],
    };
    await waits(world, ns, 'both', { ...inside, ...required(contradiction) }, /didn't match Pod's node affinity/);
  });

  promise('follows preferred node affinity if it can', async (world) => {
    const ns = await world.namespace();
    const pen = new Pen(world);
    const liked = await pen.node({ labels: { disk: 'fast' }, resources: { pods: '1' } });
    const other = await pen.node();
    const preference = { weight: 100, preference: where('disk', 'In', 'fast') };
    const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [preference] } };
    expect(await lands(world, ns, 'first', { ...pen.inside, affinity })).toBe(liked);
    expect(await lands(world, ns, 'second', { ...pen.inside, affinity })).toBe(other);
  });

  promise('keeps pods off tainted nodes unless they tolerate it', async (world) => {
    const ns = await world.namespace();
    const pen = new Pen(world);
    const node = await pen.node({ taints: [{ key: 'dedicated', value: 'search', effect: 'NoSchedule' }] });
    const { nodeSelector } = pen.inside;
    const tolerating = (...more: readonly Fields[]) => ({ nodeSelector, tolerations: [pen.toleration, ...more] });

    const why = /node\(s\) had untolerated taint/;
    await waits(world, ns, 'plain', tolerating(), why);
    await waits(world, ns, 'wrong', tolerating({ key: 'dedicated', value: 'index' }), why);
    expect(await lands(world, ns, 'equal', tolerating({ key: 'dedicated', value: 'search' }))).toBe(node);
    expect(await lands(world, ns, 'exists', tolerating({ key: 'dedicated', operator: 'Exists' }))).toBe(node);
    expect(await lands(world, ns, 'everything', { nodeSelector, tolerations: [{ operator: 'Exists' }] })).toBe(node);

    const taints = [{ ...pen.toleration, effect: 'NoSchedule' }];
    await world.wire.must(world.wire.patch('merge', `/api/v1/nodes/${node}`, { spec: { taints } }));
    expect((await world.scheduled(ns, 'plain')).spec.nodeName).toBe(node);
  });

  promise('uses a node that is better avoided only if there is no other', async (world) => {
    const ns = await world.namespace();
    const pen = new Pen(world);
    const avoided = await pen.node({ taints: [{ key: 'spot', effect: 'PreferNoSchedule' }] });
    const good = await pen.node({ resources: { pods: '1' } });
    expect(await lands(world, ns, 'first', pen.inside)).toBe(good);
    expect(await lands(world, ns, 'second', pen.inside)).toBe(avoided);
  });

  promise('gives a node no more than it has, and hands on what becomes free', async (world) => {
    const ns = await world.namespace();
    const pen = new Pen(world);
    const node = await pen.node({ resources: { cpu: '2', memory: '1Gi', 'example.com/gpu': '1' } });
    const asking = (requests: Fields) => ({ ...pen.inside, ...requesting(requests) });
    expect(await lands(world, ns, 'first', asking({ cpu: '1500m', 'example.com/gpu': '1' }))).toBe(node);
    await waits(world, ns, 'cpu', asking({ cpu: '600m' }), /1 Insufficient cpu\b/);
    await waits(world, ns, 'memory', asking({ memory: '2Gi' }), /1 Insufficient memory\b/);
    await waits(world, ns, 'gpu', asking({ 'example.com/gpu': '1' }), /1 Insufficient example\.com\/gpu\b/);
    expect(await lands(world, ns, 'small', asking({ cpu: '500m' }))).toBe(node);

    const first = await world.pod(ns, 'first');
    await world.succeed(first);
    expect((await world.scheduled(ns, 'cpu')).spec.nodeName).toBe(node);
    expect((await world.scheduled(ns, 'gpu')).spec.nodeName).toBe(node);
    await saysWhy(world, ns, 'memory', /1 Insufficient memory\b/);
  });

  promise('gives a node no more pods than it takes', async (world) => {
    const ns = await world.namespace();
    const pen = new Pen(world);
    const node = await pen.node({ resources: { pods: '1' } });
    expect(await lands(world, ns, 'first', pen.inside)).toBe(node);
    await waits(world, ns, 'second', pen.inside, /1 Too many pods/);
    await world.wire.must(world.wire.delete(`${pods(ns)}/first`, { gracePeriodSeconds: 0 }));
    expect((await world.scheduled(ns, 'second')).spec.nodeName).toBe(node);
  });

  promise('gives a port of a node to one pod', async (world) => {
    const ns = await world.namespace();
    const pen = new Pen(world);
    const [one, other] = [await pen.node(), await pen.node()];
    const listening = { ...pen.inside, ...container({ ports: [{ containerPort: 80, hostPort: 8080 }] }) };
    const nodes = [await lands(world, ns, 'first', listening), await lands(world, ns, 'second', listening)];
    expect(nodes.toSorted()).toEqual([one, other].toSorted());
    await waits(world, ns, 'third', listening, /2 node\(s\) didn't have free ports for the requested pod ports/);
  });

  promise('keeps pods apart that must not be together', async (world) => {
    const ns = await world.namespace();
    const pen = new Pen(world);
    const [one, other] = [await pen.node(), await pen.node()];
    const term = { labelSelector: { matchLabels: { app: 'db' } }, topologyKey: 'kubernetes.io/hostname' };
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    const spec = { ...pen.inside, affinity };
    const labels = { app: 'db' };
    const nodes = [await lands(world, ns, 'first', spec, labels), await lands(world, ns, 'second', spec, labels)];
    expect(nodes.toSorted()).toEqual([one, other].toSorted());

    await waits(world, ns, 'third', spec, /2 node\(s\) didn't match pod anti-affinity rules/, labels);
    // It goes both ways: who is there already may not want company.
    await waits(world, ns, 'plain', pen.inside, /2 node\(s\) didn't satisfy existing pods anti-affinity rules/, labels);

    await world.wire.must(world.wire.delete(`${pods(ns)}/plain`, { gracePeriodSeconds: 0 }));
    await world.wire.must(world.wire.delete(`${pods(ns)}/second`, { gracePeriodSeconds: 0 }));
    expect((await world.scheduled(ns, 'third')).spec.nodeName).toBe(nodes[1]);
  });

  promise('brings pods together that must be', async (world) => {
    const ns = await world.namespace();
    const pen = new Pen(world);
    await pen.node({ labels: { 'topology.kubernetes.io/zone': 'a' } });
    const [near, full] = [
      await pen.node({ labels: { 'topology.kubernetes.io/zone': 'b' } }),
      await pen.node({ labels: { 'topology.kubernetes.io/zone': 'b', disk: 'fast' }, resources: { pods: '1' } }),
    ];
    const term = { labelSelector: { matchLabels: { app: 'db' } }, topologyKey: 'topology.kubernetes.io/zone' };
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    await waits(world, ns, 'web', { ...pen.inside, affinity }, /node\(s\) didn't match pod affinity rules/);

    const { nodeSelector, tolerations } = pen.inside;
    const db = { nodeSelector: { ...nodeSelector, disk: 'fast' }, tolerations };
    expect(await lands(world, ns, 'db', db, { app: 'db' })).toBe(full);
    expect((await world.scheduled(ns, 'web')).spec.nodeName).toBe(near);
  });

  promise('spreads pods over zones as evenly as it must', async (world) => {
    const ns = await world.namespace();
    const pen = new Pen(world);
    const a = await pen.node({ labels: { 'topology.kubernetes.io/zone': 'a' } });
    const b = await pen.node({ labels: { 'topology.kubernetes.io/zone': 'b' }, resources: { pods: '1' } });
    const constraint = {
      maxSkew: 1,
      topologyKey: 'topology.kubernetes.io/zone',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'db' } },
    };
    const spec = { ...pen.inside, topologySpreadConstraints: [constraint] };
    const labels = { app: 'db' };
    const nodes = [await lands(world, ns, 'first', spec, labels), await lands(world, ns, 'second', spec, labels)];
    expect(nodes.toSorted()).toEqual([a, b].toSorted());
    expect(await lands(world, ns, 'third', spec, labels)).toBe(a);
    await waits(world, ns, 'fourth', spec, /1 node\(s\) didn't match pod topology spread constraints/, labels);

    const another = await pen.node({ labels: { 'topology.kubernetes.io/zone': 'b' } });
    expect((await world.scheduled(ns, 'fourth')).spec.nodeName).toBe(another);
  });

  promise('puts replicas on different nodes if nothing speaks against it', async (world) => {
    const { wire, namespace, podsBecome, scheduled } = world;
    const ns = await namespace();
    const pen = new Pen(world);
    const nodes = [await pen.node(), await pen.node(), await pen.node()];
    const template = { metadata: { labels: { app: 'web' } }, spec: { ...pod('').spec, ...pen.inside } };
    await wire.must(wire.create(deployments(ns), deployment('web', { replicas: 3, template })));
    const created = await podsBecome(ns, 'app=web', 3);
    const placed = await Promise.all(created.map(({ metadata }) => scheduled(ns, metadata.name)));
    expect(placed.map(({ spec }) => spec.nodeName ?? '').toSorted()).toEqual(nodes.toSorted());
  });

  promise('leaves a pod with gates alone until the last is taken off', async (world) => {
    const { wire, namespace, becomes, scheduled } = world;
    const ns = await namespace();
    const pen = new Pen(world);
    const node = await pen.node();
    const schedulingGates = [{ name: 'example.com/one' }, { name: 'example.com/two' }];
    const created = await wire.must(wire.create(pods(ns), pod('a', { ...pen.inside, schedulingGates })));
    expect(created.status).toMatchObject({
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }],
    });
    await wire.must(wire.patch('merge', `${pods(ns)}/a`, { spec: { schedulingGates: [{ name: 'example.com/two' }] } }));
    expect(await lands(world, ns, 'later', pen.inside)).toBe(node);
    await becomes(`${pods(ns)}/a`, {
      status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] },
    });
    await wire.must(wire.patch('merge', `${pods(ns)}/a`, { spec: { schedulingGates: [] } }));
    expect((await scheduled(ns, 'a')).spec.nodeName).toBe(node);
  });

  promise('leaves the pods of another scheduler alone', async (world) => {
    const { wire, namespace } = world;
    const ns = await namespace();
    const pen = new Pen(world);
    const node = await pen.node();
    await wire.must(wire.create(pods(ns), pod('foreign', { ...pen.inside, schedulerName: 'another' })));
    expect(await lands(world, ns, 'later', pen.inside)).toBe(node);
    const foreign = await world.pod(ns, 'foreign');
    expect(foreign.spec.nodeName).toBeUndefined();
    expect(foreign.status).toMatchObject({ phase: 'Pending' });
    expect(foreign.status.conditions ?? []).toEqual([]);
  });

  promise('waits for the claims of a pod', async (world) => {
    const { wire, namespace, fresh, scheduled } = world;
    const ns = await namespace();
    const pen = new Pen(world);
    const node = await pen.node();
    const storageClassName = fresh('class');
    const spec = { ...pen.inside, volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] };
    await waits(world, ns, 'a', spec, /persistentvolumeclaim "data" not found/);
    await wire.must(wire.create(claims(ns), claim('data', { storageClassName })));
    await saysWhy(world, ns, 'a', /pod has unbound immediate PersistentVolumeClaims/);
    const capacity = { storage: '1Gi' };
    const csi = { driver: 'driven.example.com', volumeHandle: 'a' };
    const volume = { storageClassName, capacity, accessModes: ['ReadWriteOnce'], csi };
    await wire.must(wire.create('/api/v1/persistentvolumes', { metadata: { name: fresh('volume') }, spec: volume }));
    expect((await scheduled(ns, 'a')).spec.nodeName).toBe(node);
  });
});
