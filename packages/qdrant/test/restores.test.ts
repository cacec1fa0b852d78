import { Simulation, type State, staysQuiet } from '@polder/embedded/simulation';
import type { Client } from '@polder/kube';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { manifestKey, shardFile } from '../src/archive/index.ts';
import { QdrantCollectionBackup, QdrantCollectionRestore } from '../src/kinds/index.ts';
import { back, backUp, backUpAsUpstream, bucketOf, declareBucket, ID, restoreTo } from './archive.ts';
import {
  aClusterOf,
  applyCluster,
  ask,
  copiesOfPoints,
  fill,
  hasPeers,
  NUMBERS,
  type QdrantWorld,
  qdrantWorld,
} from './world.ts';

/** Each is a cluster that is formed, filled and restored. */
vi.setConfig({ testTimeout: 120_000 });

let simulation: Simulation<QdrantWorld>;
let client: Client;
afterEach(() => simulation.end());

const until = (what: string, isSo: (state: State) => boolean) => simulation.until(what, isSo, 900_000);
const hosts = () => simulation.world.hosts;
const forever = new AbortController().signal;

async function during<T>(work: Promise<T>): Promise<T> {
  let isOver = false;
  work.finally(() => (isOver = true)).catch(() => {});
  await simulation.until('it is over', () => isOver, 300_000);
  return work;
}

/** Three peers with numbered points in four shards, two copies of each; and a bucket for their backups. */
async function start(snapshots: Parameters<typeof declareBucket>[1] = {}): Promise<void> {
  simulation = await new Simulation({ seed: 1, world: qdrantWorld() }).start();
  client = simulation.client;
  await applyCluster(aClusterOf(3))(client);
  await until('three peers', hasPeers(3));
  await during(fill(hosts(), 4, 2));
  await declareBucket(client, snapshots);
}

const statusIn = (state: State) => state.get(QdrantCollectionRestore, back)?.status;
const isOver = (state: State) => ['Completed', 'Failed'].includes(statusIn(state)?.phase ?? '');

async function restored(more: Parameters<typeof restoreTo>[0] = {}) {
  await restoreTo(more)(client);
  await until('the restore is over', isOver);
  return statusIn(simulation.state);
}

const put = (numbers: readonly number[], mark: string) =>
  ask(hosts(), 'PUT', '/collections/points/points?wait=true', {
    points: numbers.map((id) => ({ id, vector: [id, 0, 0, 1], payload: { mark } })),
  });

/** Every one of these points, and no other, is there in so many copies. */
function expectPoints(numbers: readonly number[], copies: number): void {
  const counts = [...copiesOfPoints(hosts())].toSorted(([a], [b]) => a - b);
  expect(counts).toEqual(numbers.toSorted((a, b) => a - b).map((number) => [number, copies]));
}

const uploads = () => hosts().qdrant.requests.filter(({ path }) => path.includes('/snapshots/upload'));

describe('a restore', () => {
  test('brings back what the operator has backed up', async () => {
    await start({ backupNow: true });
    const idIn = (state: State) =>
      state.get(QdrantCollectionBackup, { namespace: 'default', name: 'backups' })?.status?.lastBackup?.id;
    await until('there is a backup', (state) => idIn(state) !== undefined);
    await during(ask(hosts(), 'DELETE', '/collections/points'));
    const backupId = idIn(simulation.state) ?? '';
    expect(await restored({ backupId })).toMatchObject({ phase: 'Completed', points: 60, progress: '4 of 4' });
    expectPoints(NUMBERS, 2);
  });

  test('brings back a collection that is gone, every point in every copy, and its aliases', async () => {
    await start();
    await during(backUp(hosts(), { aliases: ['current', 'other'] }));
    await during(ask(hosts(), 'PUT', '/collections/else', { vectors: { size: 4, distance: 'Dot' } }));
    const actions = [{ create_alias: { collection_name: 'else', alias_name: 'other' } }];
    await during(ask(hosts(), 'POST', '/collections/aliases', { actions }));
    await during(ask(hosts(), 'DELETE', '/collections/points'));
    expect(await restored()).toMatchObject({ phase: 'Completed', points: 60, progress: '4 of 4' });
    expectPoints(NUMBERS, 2);
    expect(await during(ask(hosts(), 'GET', '/aliases'))).toEqual({
      aliases: [
        { alias_name: 'other', collection_name: 'else' },
        { alias_name: 'current', collection_name: 'points' },
      ],
    });
    expect(statusIn(simulation.state)?.message).toBe(`60 points of ${ID} are in points; left to others: other`);
  });

  test('brings back a collection with shard keys that is gone: each point is in the part that it was in', async () => {
    simulation = await new Simulation({ seed: 1, world: qdrantWorld() }).start();
    client = simulation.client;
    await applyCluster(aClusterOf(2))(client);
    await until('two peers', hasPeers(2));
    const tell = (method: string, path: string, body: object) =>
      during(ask(hosts(), method, `/collections/points${path}`, body));
    await tell('PUT', '', { vectors: { size: 4, distance: 'Dot' }, sharding_method: 'custom', replication_factor: 2 });
    for (const [shard_key, shards_number] of [
      ['south', 2],
      [7, 1],
    ] as const) {
      await tell('POST', '/cluster', { create_sharding_key: { shard_key, shards_number } });
      const points = NUMBERS.map((id) => ({ id, vector: [id, 0, 0, 1], payload: { shard_key } }));
      await tell('PUT', '/points?wait=true', { shard_key, points: shard_key === 7 ? points.slice(0, 5) : points });
    }
    // Each peer has all shards, and counts their points.
    const placed = await during(ask(hosts(), 'GET', '/collections/points/cluster'));
    expect(placed).toMatchObject({ local_shards: [{ shard_key: 'south' }, { shard_key: 'south' }, { shard_key: 7 }] });
    await declareBucket(client, { backupNow: true });
    const idIn = (state: State) =>
      state.get(QdrantCollectionBackup, { namespace: 'default', name: 'backups' })?.status?.lastBackup?.id;
    await until('there is a backup', (state) => idIn(state) !== undefined);
    await during(ask(hosts(), 'DELETE', '/collections/points'));
    const backupId = idIn(simulation.state) ?? '';
    expect(await restored({ backupId })).toMatchObject({ phase: 'Completed', points: 65, progress: '3 of 3' });
    expect(await during(ask(hosts(), 'GET', '/collections/points/cluster'))).toEqual(placed);
  });

  test('takes a live collection back: what came later is gone, and what was deleted is there', async () => {
    await start();
    await during(backUp(hosts()));
    await during(put([61, 62, 63], 'later'));
    await during(ask(hosts(), 'POST', '/collections/points/points/delete?wait=true', { points: [1, 2, 3] }));
    expect(await restored()).toMatchObject({ phase: 'Completed', points: 60 });
    expectPoints(NUMBERS, 2);
  });

  test('uploads each file once, one after the other, and says each time that the file counts', async () => {
    await start();
    await during(backUp(hosts()));
    await restored();
    expect(uploads().map(({ path, status }) => [path.replace(/checksum=.*/, ''), status])).toEqual(
      [0, 1, 2, 3].map((shard) => [
        `/collections/points/shards/${shard}/snapshots/upload?wait=true&priority=snapshot&`,
        200,
      ]),
    );
  });

  test('adds the points of a backup to those that are there, if that is asked for, and leaves nothing behind', async () => {
    await start();
    await during(backUp(hosts()));
    await during(put([3, 61, 62], 'later'));
    await during(ask(hosts(), 'POST', '/collections/points/points/delete?wait=true', { points: [1, 2] }));
    expect(await restored({ mode: 'merge' })).toMatchObject({ phase: 'Completed', points: 60 });
    expectPoints([...NUMBERS, 61, 62], 2);
    const { payload } = await point(3);
    expect(payload).toEqual({ number: 3 });
    await until('it has no finalizer', (state) => !state.get(QdrantCollectionRestore, back)?.metadata.finalizers);
    expect(statusIn(simulation.state)?.temporary).toBeUndefined();
    expect(await during(ask(hosts(), 'GET', '/collections'))).toEqual({ collections: [{ name: 'points' }] });
  });

  test('understands what upstream has left in a bucket', async () => {
    await start();
    await during(backUpAsUpstream(hosts()));
    await during(put([61, 62, 63], 'later'));
    expect(await restored()).toMatchObject({ phase: 'Completed', points: 60, progress: '3 of 3' });
    expectPoints(NUMBERS, 2);
    await during(ask(hosts(), 'DELETE', '/collections/points'));
    await client.delete(QdrantCollectionRestore, back);
    expect(await restored()).toMatchObject({ phase: 'Completed', points: 60 });
    expectPoints(NUMBERS, 2);
  });

  test('is done once: neither an operator that starts again nor time repeats it, and a new spec does', async () => {
    await start();
    await during(backUp(hosts()));
    await restored();
    const made = uploads().length;
    await during(put([61], 'later'));
    simulation.living('operator')?.end();
    simulation.revive('operator');
    await staysQuiet(simulation);
    expect(uploads()).toHaveLength(made);
    expectPoints([...NUMBERS, 61], 2);
    const before = statusIn(simulation.state)?.generation;
    await restoreTo({ pauseWrites: false })(client);
    await until('it is done again', (state) => statusIn(state)?.generation !== before && isOver(state));
    expectPoints(NUMBERS, 2);
  });

  test('says that writes are not paused', async () => {
    await start();
    await during(backUp(hosts()));
    expect((await restored())?.conditions).toContainEqual(
      expect.objectContaining({ type: 'WritesPaused', status: 'False', reason: 'NotSupported' }),
    );
  });
});

async function point(id: number): Promise<{ readonly payload?: unknown }> {
  const found = await during(ask(hosts(), 'GET', `/collections/points/points/${id}`));
  return typeof found === 'object' && found !== null ? found : {};
}

describe('nothing of a collection is touched if', () => {
  test.each<[string, string, () => Promise<unknown>]>([
    [
      'a file is not what the manifest says',
      'the file is damaged',
      async () => {
        const key = `${ID}/${shardFile(3)}`;
        const { byteLength } = hosts().storage.objectsIn('backups').get(key)?.body ?? new Uint8Array();
        await bucketOf(hosts()).put(key, Buffer.alloc(byteLength), {}, forever);
      },
    ],
    [
      'a file is missing',
      `${ID}/${shardFile(2)} is missing`,
      () => bucketOf(hosts()).remove([`${ID}/${shardFile(2)}`], forever),
    ],
    [
      'there is no manifest',
      'the backup was not completed',
      () => bucketOf(hosts()).remove([manifestKey(ID)], forever),
    ],
    [
      'vectors are of another size',
      'its vectors are 4 Dot, and those of the backup 8 Dot',
      () => backUp(hosts(), { config: { vectors: { size: 8, distance: 'Dot' } } }),
    ],
    [
      'it has another number of shards',
      'it has 4 shards, and the backup 3',
      async () => {
        const { shards } = await backUp(hosts());
        await backUp(hosts(), { shardNumber: 3, shards: shards.slice(0, 3) });
      },
    ],
    ['there is no such backup', 'there is no backup', () => bucketOf(hosts()).remove(keys(), forever)],
  ])('%s', async (_what, error, damage) => {
    await start();
    await during(backUp(hosts()));
    await during(damage());
    await during(put([61], 'later'));
    const status = await restored();
    expect(status).toMatchObject({ phase: 'Failed', error: expect.stringContaining(error) });
    expect(status?.message).toContain('Nothing of the collection was changed');
    expect(uploads()).toEqual([]);
    expectPoints([...NUMBERS, 61], 2);
    await staysQuiet(simulation);
  });
});

const keys = () => [...hosts().storage.objectsIn('backups').keys()];

describe('a restore waits', () => {
  test('for another one of the same collection', async () => {
    await start();
    await during(backUp(hosts()));
    const names = ['back', 'again'];
    await Promise.all(names.map((name) => restoreTo({}, { namespace: 'default', name })(client)));
    const phases = (state: State) => state.list(QdrantCollectionRestore).map(({ status }) => status?.phase);
    await until('all are over', (state) => phases(state).every((phase) => phase === 'Completed'));
    // Each brings the shards back in their order, and none begins before the one before it has ended.
    const shards = uploads().map(({ path }) => Number(/shards\/(\d)/.exec(path)?.[1]));
    expect(shards).toEqual([0, 1, 2, 3, 0, 1, 2, 3]);
    expectPoints(NUMBERS, 2);
  });

  test('until somebody says where the backups are, and goes on then', async () => {
    simulation = await new Simulation({ seed: 1, world: qdrantWorld() }).start();
    client = simulation.client;
    await applyCluster(aClusterOf(2))(client);
    await until('two peers', hasPeers(2));
    await during(fill(hosts(), 2, 1));
    await during(backUp(hosts()));
    await restoreTo()(client);
    await until('it tells what is missing', (state) =>
      (statusIn(state)?.message ?? '').includes('create a QdrantCollectionBackup'),
    );
    await declareBucket(client);
    await until('the restore is over', isOver);
    expect(statusIn(simulation.state)).toMatchObject({ phase: 'Completed' });
    expectPoints(NUMBERS, 1);
  });

  test('for peers, if upstream made the backup of more of them', async () => {
    await start();
    await during(backUpAsUpstream(hosts()));
    await applyCluster(aClusterOf(2))(client);
    await until('two peers', hasPeers(2));
    await restoreTo()(client);
    await until('it tells what to do', (state) =>
      (statusIn(state)?.message ?? '').includes('held by every-file-has-its-peer'),
    );
    expect(statusIn(simulation.state)).toMatchObject({
      phase: 'Pending',
      message: expect.stringContaining('scale QdrantCluster vectors to 3 replicas first'),
    });
    await applyCluster(aClusterOf(3))(client);
    await until('the restore is over', isOver);
    expectPoints(NUMBERS, 2);
  });

  test('for a member that is away', async () => {
    await start();
    await during(backUp(hosts()));
    hosts().qdrant.setFaults('http://vectors-2.vectors-headless.default:6335', { refusesClients: true });
    await restoreTo()(client);
    await until('it is held', (state) => (statusIn(state)?.message ?? '').includes('held by every-member-answers'));
    expect(uploads()).toEqual([]);
    hosts().qdrant.setFaults('http://vectors-2.vectors-headless.default:6335', {});
    await until('the restore is over', isOver);
    expectPoints(NUMBERS, 2);
  });
});

describe('a peer that dies right after it took a file', () => {
  test.each([
    ['of ours', backUp],
    ["of upstream's", backUpAsUpstream],
  ] as const)('gets it again, because nothing is left of it (%s)', async (_whose, make) => {
    await start();
    await during<unknown>(make(hosts()));
    await during(put([61, 62, 63], 'later'));
    await restoreTo()(client);
    await until('a file was taken', () => uploads().some(({ status }) => status === 200));
    const [taken] = uploads();
    hosts().crash(taken?.host.split('.')[0] ?? '');
    await until('the restore is over', isOver);
    expectPoints(NUMBERS, 2);
    const again = uploads().filter(({ path, host }) => path === taken?.path && host === taken.host);
    expect(again.length).toBeGreaterThan(1);
  });
});

test('a restore that is deleted while it merges takes its temporary collection with it', async () => {
  await start();
  await during(backUp(hosts()));
  await restoreTo({ mode: 'merge' })(client);
  const collections = () => hosts().qdrant.peers.map(({ view }) => Object.keys(view.collections));
  await until('the temporary collection is there', () => collections().every((names) => names.length === 2));
  await client.delete(QdrantCollectionRestore, back);
  await until('it is gone', (state) => state.get(QdrantCollectionRestore, back) === undefined);
  await until('its collection is gone', () => collections().every((names) => names.join() === 'points'));
  expect(hosts().qdrant.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
  expectPoints(NUMBERS, 2);
});

test('a cluster is not changed while a restore is under way', async () => {
  await start();
  await during(backUp(hosts()));
  await restoreTo()(client);
  await until('it is under way', (state) => statusIn(state)?.phase === 'InProgress');
  await applyCluster(aClusterOf(2))(client);
  await until('the restore is over', (state) => {
    const peers = hosts().qdrant.peers.length;
    if (!isOver(state) && peers < 3) throw new Error(`there are ${peers} peers`);
    return isOver(state);
  });
  expect(statusIn(simulation.state)).toMatchObject({ phase: 'Completed' });
  await until('two peers', hasPeers(2));
  expectPoints(NUMBERS, 2);
});
