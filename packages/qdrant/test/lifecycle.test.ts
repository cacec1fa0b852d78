import { Simulation, type State } from '@polder/embedded/simulation';
import {
  type Client,
  CustomResourceDefinition,
  PersistentVolumeClaim,
  Pod,
  Secret,
  StatefulSet,
  StorageClass,
} from '@polder/kube';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ServiceMonitor, VolumeSnapshot } from '../src/cluster/foreign-kinds.ts';
import { QdrantCluster } from '../src/index.ts';
import {
  aClusterOf,
  applyCluster,
  claimsIn,
  copiesOfPoints,
  fill,
  foreignCrd,
  hasPeers,
  isSettled,
  NUMBERS,
  type QdrantWorld,
  qdrantWorld,
  setIn,
  statusIn,
  vectors,
} from './world.ts';

// What takes minutes in there takes seconds here, and more of them on a machine that has other things to do.
vi.setConfig({ testTimeout: 120_000 });

let simulation: Simulation<QdrantWorld>;
afterEach(() => simulation.end());

async function start(): Promise<Client> {
  simulation = await new Simulation({ seed: 1, world: qdrantWorld() }).start();
  return simulation.client;
}

const until = (what: string, isSo: (state: State) => boolean) => simulation.until(what, isSo, 900_000);
const hosts = () => simulation.world.hosts;

async function during<T>(work: Promise<T>): Promise<T> {
  let isOver = false;
  work.finally(() => (isOver = true)).catch(() => {});
  await simulation.until('it is over', () => isOver, 300_000);
  return work;
}

/** Every point is there, in so many copies. */
function expectCopies(copies: number): void {
  const counts = copiesOfPoints(hosts());
  expect(NUMBERS.filter((number) => counts.get(number) !== copies)).toEqual([]);
}

const membersSeen = () => hosts().qdrant.peers.map(({ view }) => Object.keys(view.peers).length);

test('a cluster forms from its first peer, and all of it is one', async () => {
  const client = await start();
  await applyCluster(aClusterOf(3))(client);
  await until('three peers are one cluster', hasPeers(3));
  expect(membersSeen()).toEqual([3, 3, 3]);
  expect(statusIn(simulation.state)).toMatchObject({ qdrantStatus: 'Healthy', readyReplicas: 3, version: '1.19.0' });
});

test('an operator that is killed is followed by one that finds all in place, and writes nothing', async () => {
  const client = await start();
  await applyCluster(aClusterOf(2))(client);
  await until('two peers are one cluster', hasPeers(2));
  await simulation.pass(60_000);
  simulation.living('operator')?.kill();
  simulation.revive('operator');
  await simulation.pass(600_000);
  expect(simulation.living('operator')?.writes).toEqual([]);
});

test('it grows, and the new peers get their share; it shrinks, and every point is still there', async () => {
  const client = await start();
  await applyCluster(aClusterOf(2))(client);
  await until('two peers', hasPeers(2));
  await during(fill(hosts(), 6, 2));
  await applyCluster(aClusterOf(4))(client);
  await until('four peers', hasPeers(4));
  expectCopies(2);
  const shares = hosts().qdrant.peers.map(
    ({ id, view }) => view.collections['points']?.shards.filter(({ replicas }) => id in replicas).length,
  );
  expect(shares).toEqual([3, 3, 3, 3]);
  await applyCluster(aClusterOf(1))(client);
  await until('one peer', hasPeers(1));
  expectCopies(1);
  await until('its volume is gone', (state) => claimsIn(state).length === 1);
});

test('who changes his mind while a peer leaves gets it back, empty, and no point is lost', async () => {
  const client = await start();
  await applyCluster(aClusterOf(3))(client);
  await until('three peers', hasPeers(3));
  await during(fill(hosts(), 6, 1));
  await applyCluster(aClusterOf(2))(client);
  await until('one is no member any more', () => membersSeen().includes(2));
  await applyCluster(aClusterOf(3))(client);
  await until('three peers', hasPeers(3));
  expect(membersSeen()).toEqual([3, 3, 3]);
  expectCopies(1);
});

test('a cluster that is suspended and goes on has all that it had', async () => {
  const client = await start();
  await applyCluster(aClusterOf(3))(client);
  await until('three peers', hasPeers(3));
  await during(fill(hosts(), 6, 1));
  await applyCluster(aClusterOf(3, { suspend: true }))(client);
  await until('nobody runs', (state) => isSettled(state) && state.list(Pod).length === 0);
  await applyCluster(aClusterOf(3))(client);
  await until('three peers', hasPeers(3));
  expect(membersSeen()).toEqual([3, 3, 3]);
  expectCopies(1);
});

test('volumes grow without a restart', async () => {
  const client = await start();
  await client.patch(StorageClass, { name: 'standard' }, { type: 'merge', body: { allowVolumeExpansion: true } });
  await applyCluster(aClusterOf(2))(client);
  await until('two peers', hasPeers(2));
  const uids = () => simulation.state.list(Pod).map(({ metadata }) => metadata.uid);
  const before = uids();
  await applyCluster(aClusterOf(2, { persistence: { size: '2Gi' } }))(client);
  const sizeOf = (template: PersistentVolumeClaim | undefined) => template?.spec?.resources?.requests?.['storage'];
  await until(
    'the template has the new size',
    (state) => hasPeers(2)(state) && sizeOf(setIn(state)?.spec?.volumeClaimTemplates?.[0]) === '2Gi',
  );
  expect(simulation.state.list(PersistentVolumeClaim).map(sizeOf)).toEqual(['2Gi', '2Gi']);
  expect(uids()).toEqual(before);
});

test('a consensus that has stopped holds everything, and the status says how to go on', async () => {
  const client = await start();
  await applyCluster(aClusterOf(3))(client);
  await until('three peers', hasPeers(3));
  // A name that no disk takes: the server agrees to it, and then nobody can apply it.
  await during(
    hosts().qdrant.request('vectors-0.vectors-headless.default', {
      method: 'PUT',
      path: '/collections/.',
      headers: {},
      body: Buffer.from(JSON.stringify({ vectors: { size: 4, distance: 'Dot' } })),
    }),
  );
  await applyCluster(aClusterOf(2, { config: { log_level: 'DEBUG' } }))(client);
  await until('it is told', (state) => statusIn(state)?.reason === 'ConsensusStopped');
  expect(statusIn(simulation.state)?.errorMessage).toContain('--reinit');
  const uids = simulation.state.list(Pod).map(({ metadata }) => metadata.uid);
  await simulation.pass(600_000);
  expect(simulation.state.list(Pod).map(({ metadata }) => metadata.uid)).toEqual(uids);
});

test('peers are upgraded one after the other, and the leader last', async () => {
  const client = await start();
  await applyCluster(aClusterOf(3, { image: 'qdrant/qdrant:v1.18.2' }))(client);
  await until('three peers', hasPeers(3));
  await during(fill(hosts(), 3, 2));
  const leader = statusIn(simulation.state)?.peers?.find(({ role }) => role === 'Leader')?.pod;
  const order: string[] = [];
  await applyCluster(aClusterOf(3))(client);
  await until('all run the new version', (state) => {
    for (const { metadata } of state.list(Pod)) {
      if (metadata.deletionTimestamp !== undefined && !order.includes(metadata.name)) order.push(metadata.name);
    }
    return isSettled(state) && statusIn(state)?.version === '1.19.0';
  });
  expect(order).toHaveLength(3);
  expect(order.at(-1)).toBe(leader);
  expectCopies(2);
});

test('a version is not skipped, and the status says which way to go', async () => {
  const client = await start();
  await applyCluster(aClusterOf(1, { image: 'qdrant/qdrant:v1.16.0' }))(client);
  await until('one peer', hasPeers(1));
  await applyCluster(aClusterOf(1))(client);
  await until('it is refused', (state) => statusIn(state)?.reason === 'UpgradePathInvalid');
  expect(statusIn(simulation.state)?.errorMessage).toContain('go through 1.17 first');
  expect(setIn(simulation.state)?.spec?.template?.spec?.containers[0]?.image).toBe('qdrant/qdrant:v1.16.0');
});

test('a peer whose volume was lost is replaced, from the copies that the others have', async () => {
  const client = await start();
  await applyCluster(aClusterOf(3))(client);
  await until('three peers', hasPeers(3));
  await during(fill(hosts(), 6, 2));
  for (const at of [0, 2]) {
    const before = statusIn(simulation.state)?.peers?.find(({ pod }) => pod === `vectors-${at}`)?.id;
    await loseVolume(client, at);
    await until('another peer is in its place', (state) => {
      const after = statusIn(state)?.peers?.find(({ pod }) => pod === `vectors-${at}`)?.id;
      return hasPeers(3)(state) && after !== undefined && after !== before;
    });
    expect(membersSeen()).toEqual([3, 3, 3]);
    expectCopies(2);
  }
});

test('a lone peer whose volume was lost begins anew, and that is told until somebody changes the spec', async () => {
  const client = await start();
  await applyCluster(aClusterOf(1))(client);
  await until('one peer', hasPeers(1));
  await during(fill(hosts(), 2, 1));
  const before = statusIn(simulation.state)?.peers?.[0]?.id;
  await loseVolume(client, 0);
  const told = (state: State) => statusIn(state)?.conditions?.find(({ type }) => type === 'VolumeLost');
  await until('it is told', (state) => told(state)?.status === 'True' && hasPeers(1)(state));
  expect(told(simulation.state)?.message).toContain(`vectors-0 was peer ${before} and came back as`);
  await simulation.pass(3_600_000);
  expect(told(simulation.state)?.status).toBe('True');
  await applyCluster(aClusterOf(1, { config: { log_level: 'DEBUG' } }))(client);
  await until('it is seen', (state) => told(state)?.status === 'False');
});

async function loseVolume(client: Client, at: number): Promise<void> {
  await client.delete(PersistentVolumeClaim, { namespace: 'default', name: `qdrant-storage-vectors-${at}` });
  await client.delete(Pod, { namespace: 'default', name: `vectors-${at}` });
}

test('whoever scales the StatefulSet by hand gets it back, and no peer is lost', async () => {
  const client = await start();
  await applyCluster(aClusterOf(3))(client);
  await until('three peers', hasPeers(3));
  await during(fill(hosts(), 6, 1));
  await client.setScale(StatefulSet, vectors, 0);
  await simulation.pass(10_000);
  await until('three peers again', hasPeers(3));
  expect(membersSeen()).toEqual([3, 3, 3]);
  expectCopies(1);
});

describe('a key', () => {
  test('is generated once, and not again', async () => {
    const client = await start();
    await applyCluster(aClusterOf(1, { apikey: 'true' }))(client);
    const key = (state: State) => state.get(Secret, { ...vectors, name: 'vectors-apikey' })?.data?.['api-key'];
    await until('there is a key', (state) => key(state) !== undefined);
    const before = key(simulation.state);
    await simulation.pass(600_000);
    expect(key(simulation.state)).toBe(before);
  });
});

test('snapshots of volumes are taken where they can be, and elsewhere nothing else is wrong', async () => {
  const client = await start();
  const spec = aClusterOf(2, {
    volumeSnapshots: { enabled: true, createNow: true, schedule: '@hourly', retentionCount: 2 },
    metrics: { serviceMonitor: { enabled: true } },
  });
  await applyCluster(spec)(client);
  await until('two peers', hasPeers(2));
  const told = (state: State) => statusIn(state)?.conditions?.find(({ type }) => type === 'VolumeSnapshots');
  expect(told(simulation.state)).toMatchObject({ status: 'False', reason: 'Unavailable' });
  for (const kind of [VolumeSnapshot, ServiceMonitor]) await client.create(CustomResourceDefinition, foreignCrd(kind));
  const taken = (state: State) => state.list(VolumeSnapshot).map(({ metadata }) => metadata.name);
  await until('each peer has one', (state) => told(state)?.status === 'True' && taken(state).length === 2);
  await until('each is scraped', (state) => state.get(ServiceMonitor, vectors) !== undefined);
  const [first] = taken(simulation.state);
  await simulation.pass(4 * 3_600_000);
  // None is ever ready: so none is old enough to go, and there is one set for each hour.
  expect(taken(simulation.state)).toContain(first);
  expect(taken(simulation.state)).toHaveLength(10);
  for (const { metadata } of simulation.state.list(VolumeSnapshot)) {
    const body = { status: { readyToUse: true } };
    await client.patch(VolumeSnapshot, metadata, { type: 'merge', body });
  }
  await until('two sets are kept', (state) => taken(state).length === 4);
  expect(taken(simulation.state)).not.toContain(first);
});

test('a cluster that is deleted takes its volumes along only if it is told to', async () => {
  const client = await start();
  for (const [pvc, left] of [
    ['Retain', 2],
    ['Delete', 0],
  ] as const) {
    await applyCluster(aClusterOf(2, { deletionPolicy: { pvc } }))(client);
    await until('two peers', hasPeers(2));
    await client.delete(QdrantCluster, vectors);
    await until('all is gone', (state) => statusIn(state) === undefined && state.list(Pod).length === 0);
    await simulation.pass(30_000);
    expect(claimsIn(simulation.state)).toHaveLength(left);
  }
});

test('a spec that can not be is refused, and what runs keeps running', async () => {
  const client = await start();
  await applyCluster(aClusterOf(1))(client);
  await until('one peer', hasPeers(1));
  await applyCluster({ replicas: 1, image: ' ' })(client);
  await until('it is refused', (state) => statusIn(state)?.qdrantStatus === 'Error');
  expect(statusIn(simulation.state)).toMatchObject({ reason: 'InvalidSpec' });
  expect(simulation.state.list(Pod)).toHaveLength(1);
});
