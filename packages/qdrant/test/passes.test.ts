/** What a cluster with two collections costs until all is as it should be: what is counted here is paid for every one of them. */
import { Simulation } from '@polder/embedded/simulation';
import type { ProductEvents } from '@polder/kube';
import { afterEach, expect, test } from 'vitest';
import { aClusterOf, aCollection, applyCluster, applyCollection, hasPeers, isMade, qdrantWorld } from './world.ts';

let simulation: Simulation<ReturnType<typeof qdrantWorld>>;
afterEach(() => simulation.end());

/** How many passes were made, and how often each object was written, in the order of the first time. */
async function formed(peers: number) {
  let passes = 0;
  const on: ProductEvents = { running: () => ({ passStarted: () => void passes++ }) };
  simulation = await new Simulation({ seed: 1, world: qdrantWorld({ measured: () => on }) }).start();
  const { client } = simulation;
  await applyCluster(aClusterOf(peers, { apikey: 'true' }))(client);
  for (const name of ['a', 'b']) await applyCollection(aCollection(), name)(client);
  const isFormed = hasPeers(peers);
  await simulation.until(
    'all is made',
    (state) => isFormed(state) && isMade('a')(state) && isMade('b')(state),
    600_000,
  );
  await simulation.pass(60_000);
  const requests = simulation.living('operator')?.writes.filter(({ purpose }) => purpose !== 'lease') ?? [];
  const counts = new Map<string, number>();
  for (const { request } of requests) {
    const name = nameOf(request);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return { passes, writes: requests.length, to: Object.fromEntries(counts) };
}

/** `statefulsets/vectors`, `qdrantclusters/vectors/status`; all events are one. */
function nameOf(request: string): string {
  const [, name = ''] = /namespaces\/default\/([^?]+)/.exec(request) ?? [];
  return name.startsWith('events') ? 'events' : name;
}

test('one peer: each object is written once, and the status when there is something to see', async () => {
  const { passes, writes, to } = await formed(1);
  expect(to).toEqual({
    'qdrantclusters/vectors': 1,
    'qdrantcollections/a': 1,
    'qdrantcollections/b': 1,
    secrets: 1,
    'configmaps/vectors': 1,
    'services/vectors-headless': 1,
    'services/vectors': 1,
    'networkpolicies/vectors': 1,
    'statefulsets/vectors': 1,
    // It was applied; there is a peer; it is ready.
    'qdrantclusters/vectors/status': 3,
    // The cluster is waited for; it is ours to be made; it is ready.
    'qdrantcollections/a/status': 3,
    'qdrantcollections/b/status': 3,
    // A key, a peer, a cluster, and two collections.
    events: 5,
  });
  expect({ passes, writes }).toEqual({ passes: 14, writes: 23 });
});

test('three peers: the StatefulSet is written once for each, and no shard has to move', async () => {
  const { passes, writes, to } = await formed(3);
  expect(to).toMatchObject({ 'statefulsets/vectors': 3, 'configmaps/vectors': 2 });
  expect(passes).toBeLessThanOrEqual(32);
  expect(writes).toBeLessThanOrEqual(44);
});
