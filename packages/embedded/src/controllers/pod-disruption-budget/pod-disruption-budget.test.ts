import { type Pod, PodDisruptionBudget, ReplicaSet, register } from '@polder/kube';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { kindFinder } from '../kind-finder.ts';
import { replicaSets } from '../replica-set/index.ts';
import { TestWorld } from '../test-world.ts';
import { podDisruptionBudgets } from './index.ts';

let world: TestWorld;
beforeEach(() => {
  world = new TestWorld();
  const { client, server } = world;
  const findKind = kindFinder(() => server.kinds);
  world.run(
    register(replicaSets),
    register(podDisruptionBudgets, (base) => ({ ...base, client, findKind })),
  );
});
afterEach(() => world.stop());

const WEB = { namespace: 'default', name: 'web' };
const guard = (spec: PodDisruptionBudget['spec']) =>
  world.client.create(PodDisruptionBudget, {
    metadata: WEB,
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
  });
const status = async () => (await world.client.get(PodDisruptionBudget, WEB)).status;

/** 201, or why not. */
async function evict({ metadata: { name } }: Pod, deleteOptions?: object): Promise<{ code: number; text: string }> {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, deleteOptions };
  const path = `/api/v1/namespaces/default/pods/${name}/eviction`;
  const answer = await world.server.handle({ method: 'POST', path, headers: {}, body: JSON.stringify(body) });
  return { code: answer.status, text: await answer.text() };
}

async function runWeb(replicas: number): Promise<readonly Pod[]> {
  const labels = { app: 'web' };
  await world.client.create(ReplicaSet, {
    metadata: WEB,
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } },
    },
  });
  await world.until('all are ready', async () => {
    const set = await world.client.get(ReplicaSet, WEB);
    return set.status?.readyReplicas === replicas;
  });
  return world.pods();
}

test('however many are evicted at once, no more go than the budget allows', async () => {
  const pods = await runWeb(5);
  await guard({ maxUnavailable: 2 });
  await world.settle();
  expect(await status()).toMatchObject({ expectedPods: 5, currentHealthy: 5, disruptionsAllowed: 2 });
  const answers = await Promise.all(pods.map((pod) => evict(pod)));
  expect(answers.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([201, 201, 429, 429, 429]);
  await world.settle();
  const going = (await world.pods()).filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  expect(going).toHaveLength(2);
  expect(await status()).toMatchObject({ currentHealthy: 3, disruptionsAllowed: 0 });
});

test('however late the controller hears of evictions, no more go than the budget allows', async () => {
  await runWeb(5);
  await guard({ maxUnavailable: 2 });
  await world.settle();
  for (const plural of ['pods', 'poddisruptionbudgets']) {
    world.server.faults.on({ verb: 'watch', plural }, { do: 'delay', ms: 3_000 });
  }
  let codes: readonly number[] = [];
  for (let round = 0; round < 30; round++) {
    const pods = await world.pods();
    const staying = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const next = staying[round % staying.length];
    if (next && next.status?.phase === 'Running') codes = [...codes, (await evict(next)).code];
    await world.clock.advance(370);
  }
  expect(codes.filter((code) => code === 201)).toHaveLength(2);
  expect(codes.length).toBeGreaterThan(5);
});

test('a budget that nobody has counted yet lets nobody go', async () => {
  const [first] = await runWeb(1);
  await world.settle();
  await guard({ minAvailable: 0 });
  const refused = first && (await evict(first));
  expect(refused?.code).toBe(429);
  expect(refused?.text).toContain('The disruption budget web is still being processed by the server.');
  await world.settle();
  expect(first && (await evict(first)).code).toBe(201);
});

test('a version that the caller insists on holds for the eviction as a whole', async () => {
  const [first] = await runWeb(1);
  if (!first) throw new Error('there is a pod');
  const evictAt = (resourceVersion = '') => evict(first, { preconditions: { resourceVersion } });
  const isTarget = async () => {
    const [pod] = await world.pods();
    return pod?.status?.conditions?.some(({ type }) => type === 'DisruptionTarget');
  };
  expect((await evictAt('1')).code).toBe(409);
  expect(await isTarget()).toBe(false);
  const [unharmed] = await world.pods();
  expect((await evictAt(unharmed?.metadata.resourceVersion)).code).toBe(201);
  expect(await isTarget()).toBe(true);
});

test('once all is counted, nothing is written', async () => {
  await runWeb(2);
  await guard({ maxUnavailable: '50%' });
  await world.settle();
  world.writes.length = 0;
  const writes = world.server.revision;
  await world.settle(24 * 3600_000);
  expect(world.writes).toEqual([]);
  expect(world.server.revision).toBe(writes);
});
