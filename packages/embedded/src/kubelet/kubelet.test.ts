import { Client, type NewObject, Pod, sleep, VirtualClock } from '@polder/kube';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type EmbeddedCluster, startCluster } from '../cluster.ts';
import { Random } from '../simulation/index.ts';
import type { Runner } from './runner.ts';
import { simulated } from './simulated/index.ts';

let clock: VirtualClock;
let cluster: EmbeddedCluster;
let client: Client;
beforeEach(async () => {
  clock = new VirtualClock();
  cluster = await startCluster({ clock, random: new Random(1).next, nodes: 1 });
  client = new Client({ transport: cluster.server.transport(), userAgent: 'user', clock });
});
afterEach(() => stopped(cluster));

async function stopped(one: EmbeddedCluster): Promise<void> {
  let isStopped = false;
  const stop = async () => {
    await one.stop();
    isStopped = true;
  };
  await Promise.all([stop(), clock.runUntil(() => isStopped, 60_000)]);
}

const ref = { namespace: 'default', name: 'a' };
const pod = (
  fields: Partial<NonNullable<Pod['spec']>> = {},
  annotations: Record<string, string> = {},
): NewObject<Pod> => ({
  metadata: { ...ref, annotations },
  spec: { containers: [{ name: 'c', image: 'nginx' }], ...fields },
});
const get = () => client.get(Pod, ref);
const conditions = async () =>
  Object.fromEntries(((await get()).status?.conditions ?? []).map(({ type, status }) => [type, status]));

test('a pod becomes ready, has an address, and says how it is run', async () => {
  await client.create(Pod, pod());
  await clock.advance(2_000);
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

test('a container that fails is restarted at once, then later and later', async () => {
  await client.create(Pod, pod({}, { 'simulate.polder.io/exit-code': '3', 'simulate.polder.io/exit-after': '1s' }));
  const restarts: number[] = [];
  for (const seconds of [5, 15, 30, 60]) {
    await clock.advance(seconds * 1000);
    restarts.push((await get()).status?.containerStatuses?.[0]?.restartCount ?? 0);
  }
  expect(restarts).toEqual([1, 2, 3, 4]);
  expect((await get()).status).toMatchObject({
    phase: 'Running',
    containerStatuses: [
      {
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: { terminated: { exitCode: 3, reason: 'Error' } },
      },
    ],
  });
});

test('a pod that is deleted ends its containers first, and then it is gone', async () => {
  await client.create(Pod, pod({}, { 'simulate.polder.io/stop-after': '5s' }));
  await clock.advance(2_000);
  await client.delete(Pod, ref);
  await clock.advance(4_000);
  expect((await get()).metadata.deletionTimestamp).toBeDefined();
  await clock.advance(2_000);
  await expect(get()).rejects.toMatchObject({ status: 404 });
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
