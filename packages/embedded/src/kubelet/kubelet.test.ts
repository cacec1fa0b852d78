import {
  Client,
  ConfigMap,
  type Container,
  EventsV1Event,
  type NewObject,
  PersistentVolumeClaim,
  Pod,
  type PodSpec,
  Secret,
  StatefulSet,
  sleep,
  VirtualClock,
} from '@polder/kube';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { memoryStorage } from '../apiserver/index.ts';
import { type EmbeddedCluster, startCluster } from '../cluster.ts';
import { Random } from '../simulation/index.ts';
import type { Runner } from './runner.ts';
import { simulated } from './simulated/index.ts';

let clock: VirtualClock;
let storage: ReturnType<typeof memoryStorage>;
let cluster: EmbeddedCluster;
let client: Client;
beforeEach(async () => {
  clock = new VirtualClock();
  storage = memoryStorage();
  await begin();
});
afterEach(() => stopped(cluster));

async function begin(): Promise<void> {
  cluster = await startCluster({ clock, storage, random: new Random(1).next, nodes: 1 });
  client = new Client({ transport: cluster.server.transport(), userAgent: 'user', clock });
}

async function stopped(one: EmbeddedCluster): Promise<void> {
  let isStopped = false;
  const stop = async () => {
    await one.stop();
    isStopped = true;
  };
  await Promise.all([stop(), clock.runUntil(() => isStopped, 60_000)]);
}

/** The program ends, and is started again. */
async function restart(): Promise<void> {
  await stopped(cluster);
  await begin();
  await clock.advance(2_000);
}

const ref = { namespace: 'default', name: 'a' };
const MAIN: Container = { name: 'c', image: 'nginx' };
/** `{ 'exit-after': '1s' }`: what the pod is told to simulate. */
type Simulated = Readonly<Record<string, string>>;
const annotationsOf = (simulated: Simulated) =>
  Object.fromEntries(Object.entries(simulated).map(([what, value]) => [`simulate.polder.io/${what}`, value]));

const pod = (fields: Partial<PodSpec> = {}, simulated: Simulated = {}): NewObject<Pod> => ({
  metadata: { ...ref, annotations: annotationsOf(simulated) },
  spec: { containers: [MAIN], ...fields },
});
const create = (fields?: Partial<PodSpec>, simulated?: Simulated) => client.create(Pod, pod(fields, simulated));
const simulate = (simulated: Simulated) =>
  client.patch(Pod, ref, { type: 'merge', body: { metadata: { annotations: annotationsOf(simulated) } } });
const get = () => client.get(Pod, ref);
const seconds = (count: number) => clock.advance(count * 1000);
const main = async () => (await get()).status?.containerStatuses?.[0];
const phase = async () => (await get()).status?.phase;
const conditions = async () =>
  Object.fromEntries(((await get()).status?.conditions ?? []).map(({ type, status }) => [type, status]));
const reasons = async () => (await client.list(EventsV1Event)).items.map(({ reason }) => reason);

/** The states that pods went through meanwhile: `Pending c:ContainerCreating`. */
async function historyDuring(work: () => Promise<void>): Promise<readonly string[]> {
  const history: string[] = [];
  const stop = new AbortController();
  const watch = async () => {
    for await (const events of client.watch(Pod, { namespace: 'default', signal: stop.signal })) {
      for (const event of events)
        if (event.type !== 'BOOKMARK' && event.type !== 'ERROR') history.push(lineOf(event.object));
    }
  };
  const watching = watch().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  await work();
  stop.abort();
  await watching;
  return history;
}

function lineOf({ status }: Pod): string {
  const told = (status?.containerStatuses ?? []).map(({ name, state }) => {
    const word = state?.waiting?.reason ?? state?.terminated?.reason ?? (state?.running && 'Running');
    return `${name}:${word}`;
  });
  return [status?.phase, ...told].join(' ');
}

test('a pod becomes ready, has an address, and says how it is run', async () => {
  await create();
  await seconds(2);
  const { status, metadata } = await get();
  expect(metadata.annotations).toMatchObject({ 'polder.io/runner': 'simulated' });
  expect(status).toMatchObject({
    phase: 'Running',
    podIP: '10.244.0.1',
    containerStatuses: [{ ready: true, restartCount: 0 }],
  });
  expect(await conditions()).toEqual({
    PodReadyToStartContainers: 'True',
    PodScheduled: 'True',
    Initialized: 'True',
    ContainersReady: 'True',
    Ready: 'True',
  });
});

test('a pod that was made with its node runs there, scheduler or not', async () => {
  const [node] = (await client.raw<{ items: { metadata: { name: string } }[] }>('/api/v1/nodes')).items;
  await create({ nodeName: node?.metadata.name ?? '' });
  await seconds(2);
  expect(await conditions()).toMatchObject({ PodScheduled: 'True', Ready: 'True' });
});

describe('restarts', () => {
  test('a container that fails is restarted at once, then later and later', async () => {
    await create({}, { 'exit-code': '3', 'exit-after': '1s', 'exit-message': 'out of luck' });
    const restarts: number[] = [];
    for (const time of [5, 15, 30, 60]) {
      await seconds(time);
      restarts.push((await main())?.restartCount ?? 0);
    }
    expect(restarts).toEqual([1, 2, 3, 4]);
    expect(await phase()).toBe('Running');
    expect(await main()).toMatchObject({
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 3, reason: 'Error', message: 'out of luck' } },
    });
    expect(await reasons()).toContain('BackOff');
  });

  test('init containers run one after the other, then the others', async () => {
    const names = ['one', 'two'];
    const initContainers = names.map((name) => ({ name, image: 'busybox' }));
    await create({ initContainers, restartPolicy: 'Never' }, { 'exit-after': '1s' });
    await seconds(1);
    const inits = async () =>
      (await get()).status?.initContainerStatuses?.map(({ state }) => Object.keys(state ?? {})[0]);
    expect(await inits()).toEqual(['running', 'waiting']);
    await seconds(1);
    expect(await inits()).toEqual(['terminated', 'running']);
    await seconds(4);
    expect(await phase()).toBe('Succeeded');
  });

  test('a pod whose init container fails, and that runs only once, has failed', async () => {
    await create(
      { initContainers: [{ name: 'init', image: 'busybox' }], restartPolicy: 'Never' },
      { 'exit-after': '1s', 'exit-code': '1' },
    );
    await seconds(4);
    expect((await get()).status).toMatchObject({
      phase: 'Failed',
      initContainerStatuses: [{ state: { terminated: { exitCode: 1 } } }],
      containerStatuses: [{ state: { waiting: { reason: 'PodInitializing' } } }],
    });
  });
});

describe('annotations of a simulated pod', () => {
  test.each<[what: string, simulated: Simulated, at: number, expected: object]>([
    ['starts late', { 'start-after': '5s' }, 4, { ready: false, state: { waiting: {} } }],
    ['starts late, but starts', { 'start-after': '5s' }, 7, { ready: true }],
    ['is ready late', { 'ready-after': '5s' }, 4, { ready: false, started: true, state: { running: {} } }],
    ['is ready late, but is', { 'ready-after': '5s' }, 7, { ready: true }],
    ['is never ready', { ready: 'false' }, 60, { ready: false, started: true }],
    ['has no image', { 'image-pull': 'fail' }, 2, { state: { waiting: { reason: 'ErrImagePull' } } }],
    ['has no image and waits', { 'image-pull': 'fail' }, 8, { state: { waiting: { reason: 'ImagePullBackOff' } } }],
  ])('say that it %s', async (_, simulated, at, expected) => {
    await create({}, simulated);
    await seconds(at);
    expect(await main()).toMatchObject(expected);
  });

  test('are heeded while it runs', async () => {
    await create();
    await seconds(2);
    await simulate({ ready: 'false' });
    await seconds(1);
    expect(await main()).toMatchObject({ ready: false, restartCount: 0 });
    await simulate({ ready: 'true' });
    await seconds(1);
    expect(await main()).toMatchObject({ ready: true, restartCount: 0 });
    await simulate({ 'exit-after': '0s', 'exit-code': '7' });
    await seconds(5);
    expect(await main()).toMatchObject({ lastState: { terminated: { exitCode: 7 } } });
  });
});

describe('what a pod refers to', () => {
  const volumes = [{ name: 'config', configMap: { name: 'app' } }];
  const mounting = { ...MAIN, volumeMounts: [{ name: 'config', mountPath: '/etc/app' }] };

  test('keeps it from starting while it is missing, and lets it start when it appears', async () => {
    await create({ volumes, containers: [mounting] });
    await seconds(5);
    expect(await phase()).toBe('Pending');
    expect(await main()).toMatchObject({ state: { waiting: { reason: 'ContainerCreating' } } });
    const notes = (await client.list(EventsV1Event)).items.filter(({ reason }) => reason === 'FailedMount');
    expect(notes.map(({ note }) => note)).toEqual([
      'MountVolume.SetUp failed for volume "config" : configmap "app" not found',
    ]);
    await client.create(ConfigMap, { metadata: { namespace: 'default', name: 'app' } });
    await seconds(2);
    expect(await phase()).toBe('Running');
  });

  test('does not stop it when it is deleted', async () => {
    const app = { namespace: 'default', name: 'app' };
    await client.create(ConfigMap, { metadata: app });
    await create({ volumes, containers: [mounting] });
    await seconds(2);
    await client.delete(ConfigMap, app);
    await simulate({ 'exit-after': '1s' });
    await seconds(3);
    expect(await main()).toMatchObject({ restartCount: 1 });
  });

  test('is waited for no longer than it takes to appear', async () => {
    const env = [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'key', key: 'value' } } }];
    await create({ containers: [{ ...MAIN, env }] });
    await seconds(100);
    expect(await main()).toMatchObject({
      state: { waiting: { reason: 'CreateContainerConfigError', message: 'secret "key" not found' } },
    });
    await client.create(Secret, { metadata: { namespace: 'default', name: 'key' }, stringData: { value: 'x' } });
    await seconds(1);
    expect(await main()).toMatchObject({ ready: true, restartCount: 0 });
  });
});

describe('an end', () => {
  test('of a pod that is deleted: its containers end first, and then it is gone', async () => {
    await create({}, { 'stop-after': '5s' });
    await seconds(2);
    await client.delete(Pod, ref);
    await seconds(4);
    expect((await get()).metadata.deletionTimestamp).toBeDefined();
    const history = await historyDuring(() => seconds(2));
    expect(history.at(-1)).toBe('Succeeded c:Completed');
    await expect(get()).rejects.toMatchObject({ status: 404 });
  });

  test('comes by force when the grace is over', async () => {
    await create({ terminationGracePeriodSeconds: 10 }, { 'stop-after': '1h' });
    await seconds(2);
    await client.delete(Pod, ref);
    const history = await historyDuring(() => seconds(12));
    expect(history.at(-1)).toBe('Failed c:Error');
    await expect(get()).rejects.toMatchObject({ status: 404 });
  });

  test('comes sooner when the pod is deleted again with a shorter grace', async () => {
    await create({ terminationGracePeriodSeconds: 600 }, { 'stop-after': '1h' });
    await seconds(2);
    await client.delete(Pod, ref);
    await seconds(5);
    await client.delete(Pod, ref, { gracePeriodSeconds: 3 });
    await seconds(2);
    expect((await get()).metadata.deletionTimestamp).toBeDefined();
    await seconds(3);
    await expect(get()).rejects.toMatchObject({ status: 404 });
  });

  test('at once, without grace: another one of the same name can follow and is a new one', async () => {
    const first = await create({}, { 'stop-after': '1h' });
    await seconds(2);
    await client.delete(Pod, ref, { gracePeriodSeconds: 0 });
    await expect(get()).rejects.toMatchObject({ status: 404 });
    const second = await create();
    await seconds(2);
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
    expect(await main()).toMatchObject({ ready: true, restartCount: 0, lastState: {} });
  });

  test('by a deadline is told once its containers have ended', async () => {
    await create({ activeDeadlineSeconds: 5, terminationGracePeriodSeconds: 60 }, { 'stop-after': '3s' });
    await seconds(7);
    expect((await get()).status).toMatchObject({ phase: 'Running' });
    expect(await conditions()).toMatchObject({ Ready: 'False' });
    await seconds(3);
    expect((await get()).status).toMatchObject({
      phase: 'Failed',
      reason: 'DeadlineExceeded',
      containerStatuses: [{ state: { terminated: { exitCode: 0 } } }],
    });
  });
});

describe('after a restart of the program', () => {
  test('simulated pods go on, at their addresses, and nobody sees a change', async () => {
    // In another order than that in which they are found again.
    await client.create(Pod, { ...pod(), metadata: { namespace: 'default', name: 'b' } });
    await seconds(2);
    await create();
    await seconds(2);
    const before = (await client.list(Pod)).items.map(({ status }) => status);
    await stopped(cluster);
    await begin();
    const history = await historyDuring(() => seconds(5));
    expect(new Set(history)).toEqual(new Set(['Running c:Running']));
    expect((await client.list(Pod)).items.map(({ status }) => status)).toEqual(before);
    await client.create(Pod, { ...pod(), metadata: { namespace: 'default', name: 'c' } });
    await seconds(2);
    const addresses = (await client.list(Pod)).items.map(({ status }) => status?.podIP);
    expect(new Set(addresses).size).toBe(3);
  });

  test('init containers that did their work do not do it again, and crashes are remembered', async () => {
    await create({ initContainers: [{ name: 'init', image: 'busybox' }] }, { 'exit-after': '1s' });
    await seconds(5);
    const before = await get();
    expect(before.status?.containerStatuses).toMatchObject([{ state: { waiting: { reason: 'CrashLoopBackOff' } } }]);
    await stopped(cluster);
    await begin();
    await seconds(1);
    const { status } = await get();
    expect(status?.initContainerStatuses).toEqual(before.status?.initContainerStatuses);
    expect(status?.containerStatuses).toMatchObject([
      { state: { running: {} }, restartCount: 2, lastState: { terminated: { exitCode: 0 } } },
    ]);
  });

  test('what has ended stays as it was', async () => {
    await create({ restartPolicy: 'Never' }, { 'exit-after': '1s', 'exit-code': '4' });
    await seconds(5);
    const before = await get();
    expect(before.status?.phase).toBe('Failed');
    await restart();
    expect(await get()).toEqual(before);
  });
});

test('a disk that dies takes its pod with it until claim and pod are deleted; then a StatefulSet heals', async () => {
  const labels = { app: 'db' };
  await client.create(StatefulSet, {
    metadata: { namespace: 'default', name: 'db' },
    spec: {
      serviceName: 'db',
      selector: { matchLabels: labels },
      replicas: 1,
      template: {
        metadata: { labels },
        spec: { containers: [{ ...MAIN, volumeMounts: [{ name: 'data', mountPath: '/data' }] }] },
      },
      volumeClaimTemplates: [
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    },
  });
  await seconds(5);
  const db = { namespace: 'default', name: 'db-0' };
  const claim = { namespace: 'default', name: 'data-db-0' };
  const stateOf = async () => (await client.get(Pod, db)).status?.containerStatuses?.[0];
  expect(await stateOf()).toMatchObject({ ready: true });
  const body = { metadata: { annotations: annotationsOf({ 'lose-volume': 'data' }) } };
  await client.patch(Pod, db, { type: 'merge', body });
  await seconds(60);
  expect((await client.get(PersistentVolumeClaim, claim)).status?.phase).toBe('Lost');
  expect(await stateOf()).toMatchObject({ state: { waiting: { reason: 'CrashLoopBackOff' } } });
  await client.delete(PersistentVolumeClaim, claim);
  await client.delete(Pod, db);
  await seconds(10);
  expect((await client.get(PersistentVolumeClaim, claim)).status?.phase).toBe('Bound');
  expect(await stateOf()).toMatchObject({ ready: true, restartCount: 0 });
});

describe('a container that is just starting when the cluster stops', () => {
  /** How long the cluster takes to stop, and which pods it asks to end. */
  const stopping = async (startMs: number) => {
    const simulation = simulated(clock);
    const asked: string[] = [];
    const slow: Runner = {
      ...simulation,
      async start(launch) {
        await sleep(clock, startMs);
        const container = await simulation.start(launch);
        const end = container.terminate.bind(container);
        const terminate = () => {
          asked.push(launch.pod.metadata.name);
          end();
        };
        return Object.assign(container, { terminate });
      },
    };
    const other = await startCluster({
      clock,
      random: new Random(1).next,
      nodes: 1,
      images: [{ images: '*', runner: slow }],
    });
    await new Client({ transport: other.server.transport(), userAgent: 'user', clock }).create(Pod, pod());
    await clock.advance(1_000);
    const before = clock.monotonic();
    await stopped(other);
    return { asked, tookMs: clock.monotonic() - before };
  };

  test('is asked to end like the others', async () => {
    expect((await stopping(5_000)).asked).toEqual(['a']);
  });

  test('is not waited for without end', async () => {
    expect((await stopping(3_600_000)).tookMs).toBeLessThan(20_000);
  });
});
