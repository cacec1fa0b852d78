import {
  crashAtEveryWrite,
  quiet,
  type Scenario,
  Simulation,
  type State,
  seeds,
  simulate,
} from '@polder/embedded/simulation';
import { type Client, EventsV1Event, Pod, sleep } from '@polder/kube';
import { afterEach, describe, expect, test } from 'vitest';
import {
  QdrantCluster,
  QdrantCollection,
  QdrantCollectionBackup,
  QdrantCollectionRestore,
} from '../src/kinds/index.ts';
import {
  aClusterOf,
  aCollection,
  applyCluster,
  applyCollection,
  ask,
  collectionIn,
  type Hosts,
  hasPeers,
  isMade,
  type QdrantWorld,
  qdrantWorld,
  statusIn,
  vectors,
} from './world.ts';

let simulation: Simulation<QdrantWorld>;
afterEach(() => simulation?.end());

async function start(peers = 1): Promise<Client> {
  simulation = await new Simulation({ seed: 1, world: qdrantWorld() }).start();
  await applyCluster(aClusterOf(peers))(simulation.client);
  await until('the cluster is there', hasPeers(peers));
  return simulation.client;
}

const until = (what: string, isSo: (state: State) => boolean) => simulation.until(what, isSo, 900_000);
const hosts = () => simulation.world.hosts;
const points = { namespace: 'default', name: 'points' };

async function during<T>(work: Promise<T>): Promise<T> {
  let isOver = false;
  work.finally(() => (isOver = true)).catch(() => {});
  await simulation.until('it is over', () => isOver, 300_000);
  return work;
}

const told = async (method: string, path: string, body?: object) => during(ask(hosts(), method, path, body));

/** As the peer has it that knows most of them. */
const onServer = (name = 'points', of: Hosts = hosts()) =>
  of.qdrant.peers.map(({ view }) => view.collections[name]).find((one) => one !== undefined);
const aliasesOnServer = () => hosts().qdrant.peers[0]?.view.aliases ?? {};
const statusOf = (name = 'points') => collectionIn(simulation.state, name)?.status;
const condition = (type: string, name = 'points') => statusOf(name)?.conditions?.find((one) => one.type === type);

/** What peers were told, and not only asked. */
const writesSince = (at: number, of: Hosts = hosts()) =>
  of.qdrant.requests
    .filter((one) => one.at >= at && one.method !== 'GET')
    .map(({ method, path }) => `${method} ${path}`);
const now = () => simulation.clock.now();

/** How many copies each shard has that are active in the eyes of everybody. */
const copies = (name = 'points') =>
  (onServer(name)?.shards ?? []).map(({ replicas }) => Object.values(replicas).filter((is) => is === 'Active').length);

test('a collection is made as it is declared, once its cluster is ready', async () => {
  simulation = await new Simulation({ seed: 1, world: qdrantWorld() }).start();
  const { client } = simulation;
  const config = { vectors: { distance: 'Dot' }, hnsw_config: { m: 32 } };
  await applyCollection(aCollection({ shardNumber: 2, replicationFactor: 2, config }))(client);
  await until('it waits', () => condition('Ready')?.reason === 'ClusterMissing');
  await applyCluster(aClusterOf(2))(client);
  await until('it is made', isMade());
  expect(onServer()?.config).toMatchObject({
    params: { vectors: { size: 4, distance: 'Dot', on_disk: true }, shard_number: 2, replication_factor: 2 },
    hnsw_config: { m: 32 },
  });
  expect(copies()).toEqual([2, 2]);
  expect(statusOf()).toMatchObject({ qdrantStatus: 'Healthy', origin: 'Created', pointsCount: 0 });
  expect(condition('Replicated')).toMatchObject({ status: 'True' });
});

test('it is made in a cluster that asks for a key', async () => {
  simulation = await new Simulation({ seed: 1, world: qdrantWorld() }).start();
  await applyCluster(aClusterOf(1, { apikey: 'true' }))(simulation.client);
  await applyCollection(aCollection())(simulation.client);
  await until('it is made', isMade());
  expect(hosts().qdrant.peers[0]?.settings.apiKey).toMatch(/^key/);
  expect(onServer()).toBeDefined();
});

test('in a cluster that was made anew it is made anew, or is what is there', async () => {
  const client = await start();
  await applyCollection(aCollection())(client);
  await until('it is made', isMade());
  const { clusterUID } = statusOf() ?? {};
  await client.delete(QdrantCluster, vectors);
  await until('the cluster is gone', (state) => state.list(QdrantCluster).length + state.list(Pod).length === 0);
  await applyCluster(aClusterOf(1))(client);
  await until('it is there again', (state) => hasPeers(1)(state) && isMade()(state));
  expect(statusOf()).toMatchObject({ origin: 'Adopted' });
  expect(statusOf()?.clusterUID).not.toBe(clusterUID);
});

test('what can not be is told in the status, and Qdrant hears nothing of it', async () => {
  const client = await start();
  const before = now();
  await applyCollection(aCollection({ vectorSize: -1 }))(client);
  await until('it is refused', () => statusOf()?.reason === 'InvalidSpec');
  expect(statusOf()).toMatchObject({
    qdrantStatus: 'Error',
    errorMessage: 'spec.vectorSize is -1; it must be at least 1',
  });
  expect(condition('Ready')).toMatchObject({ status: 'False', reason: 'InvalidSpec' });
  await simulation.pass(900_000);
  expect(writesSince(before)).toEqual([]);
  expect(hosts().qdrant.requests.filter(({ path }) => path.includes('/points'))).toEqual([]);
  await applyCollection(aCollection())(client);
  await until('it is made', isMade());
  await applyCollection(aCollection({ vectorSize: 0 }), 'wrong')(client);
  await until('it is refused', () => statusOf('wrong')?.reason === 'InvalidSpec');
  await client.delete(QdrantCollection, { namespace: 'default', name: 'wrong' });
  await until('it is gone', (state) => collectionIn(state, 'wrong') === undefined);
  await applyCollection(aCollection({ vectorSize: 0 }))(client);
  await until('it is refused', () => statusOf()?.reason === 'InvalidSpec');
  await client.delete(QdrantCollection, points);
  await until('it is gone', (state) => collectionIn(state) === undefined);
  expect(onServer()).toBeUndefined();
});

test('a collection that is there is adopted with its points, and drift by hand is repaired by one request', async () => {
  const client = await start();
  await told('PUT', '/collections/points', { vectors: { size: 4, distance: 'Cosine' }, shard_number: 1 });
  await told('PUT', '/collections/points/points?wait=true', { points: [{ id: 1, vector: [1, 0, 0, 0] }] });
  const config = { optimizers_config: { indexing_threshold: 5000 }, hnsw_config: { m: 16 } };
  await applyCollection(aCollection({ config }))(client);
  await until('it is adopted', isMade());
  expect(statusOf()).toMatchObject({ origin: 'Adopted', pointsCount: 1 });
  expect(onServer()?.config).toMatchObject({
    optimizer_config: { indexing_threshold: 5000, flush_interval_sec: 5 },
  });
  await told('PATCH', '/collections/points', { hnsw_config: { m: 8 }, optimizers_config: { indexing_threshold: 1 } });
  const before = now();
  await simulation.pass(301_000);
  await until('it is repaired', isMade());
  expect(onServer()?.config).toMatchObject({ hnsw_config: { m: 16 }, optimizer_config: { indexing_threshold: 5000 } });
  expect(writesSince(before)).toEqual(['PATCH /collections/points?timeout=10']);
});

test('a collection that is adopted stays as it is in all that the spec does not say', async () => {
  const client = await start(3);
  const found = { vectors: { size: 4, distance: 'Dot', on_disk: false }, shard_number: 2, replication_factor: 3 };
  await told('PUT', '/collections/points', found);
  const before = now();
  await applyCollection(aCollection())(client);
  await until('it is adopted', isMade());
  await simulation.pass(301_000);
  expect(statusOf()).toMatchObject({ origin: 'Adopted', qdrantStatus: 'Healthy' });
  expect(copies()).toEqual([3, 3]);
  expect(writesSince(before)).toEqual([]);
  await applyCollection(aCollection({ replicationFactor: 2 }))(client);
  await until('it has the copies that it says', (state) => isMade()(state) && copies().every((count) => count === 2));
  expect(onServer()?.config).toMatchObject({ params: { vectors: { distance: 'Dot' }, replication_factor: 2 } });
});

test('a collection that was made stays as it was made, also in what its spec does not say', async () => {
  const client = await start();
  await applyCollection(aCollection())(client);
  await until('it is made', isMade());
  await told('PATCH', '/collections/points', { params: { replication_factor: 3 } });
  await simulation.pass(301_000);
  await until('it is repaired', isMade());
  expect(onServer()?.config).toMatchObject({ params: { replication_factor: 1 } });
});

test('what can not be changed is told and left, and all else is changed', async () => {
  const client = await start();
  await applyCollection(aCollection())(client);
  await until('it is made', isMade());
  const { serial } = onServer() ?? {};
  await applyCollection(aCollection({ vectorSize: 8, config: { hnsw_config: { m: 64 } } }))(client);
  await until('it is told', () => condition('Ready')?.reason === 'ImmutableFieldChanged');
  expect(condition('Ready')?.message).toContain('vectors.size is 4 and can not become 8');
  await until('all else is changed', () => JSON.stringify(onServer()?.config).includes('"m":64'));
  expect(onServer()).toMatchObject({ serial, config: { params: { vectors: { size: 4 } } } });
  await applyCollection(aCollection())(client);
  await until('it is as it was', isMade());
});

test('vectors with names are added to those that are there, with all that is said of them, and never taken away', async () => {
  const client = await start();
  const wanting = (...names: string[]) => {
    const vectors = Object.fromEntries(names.map((name) => [name, { size: 8, hnsw_config: { m: 8 } }]));
    return aCollection({ config: { vectors, sparse_vectors: names.length > 1 ? { words: { modifier: 'idf' } } : {} } });
  };
  await applyCollection(wanting('image'))(client);
  await until('it is made', isMade());
  const { serial } = onServer() ?? {};
  await applyCollection(wanting('image', 'text'))(client);
  await until('it has both', (state) => isMade()(state) && JSON.stringify(onServer()?.config).includes('words'));
  expect(onServer()).toMatchObject({
    serial,
    config: {
      params: {
        vectors: { text: { size: 8, distance: 'Cosine', on_disk: true, hnsw_config: { m: 8 } } },
        sparse_vectors: { words: { modifier: 'idf' } },
      },
    },
  });
  await applyCollection(wanting('image'))(client);
  await until('it is left as it is', isMade());
  expect(onServer()?.config).toMatchObject({ params: { vectors: { text: {} }, sparse_vectors: { words: {} } } });
});

test('a vector that is added to a collection of an older version is told to be impossible', async () => {
  simulation = await new Simulation({ seed: 1, world: qdrantWorld() }).start();
  const { client } = simulation;
  await applyCluster(aClusterOf(1, { image: 'qdrant/qdrant:v1.17.1' }))(client);
  await applyCollection(aCollection({ config: { vectors: { image: {} } } }))(client);
  await until('it is made', isMade());
  await applyCollection(aCollection({ config: { vectors: { image: {}, text: {} } } }))(client);
  await until('it is told', () => condition('Ready')?.reason === 'ImmutableFieldChanged');
  expect(condition('Ready')?.message).toContain('vectors.text is null and can not become');
});

test('a collection of somebody else, which only has the name, is neither changed nor deleted', async () => {
  const client = await start();
  await told('PUT', '/collections/points', { vectors: { size: 768, distance: 'Cosine' }, shard_number: 1 });
  const before = now();
  await applyCollection(aCollection({ aliases: ['theirs'] }))(client);
  await until('it is told', () => condition('Ready')?.reason === 'ImmutableFieldChanged');
  expect(statusOf()?.holding?.[0]).toContain('only-what-is-ours-is-changed');
  await client.delete(QdrantCollection, points);
  await until('it is gone', (state) => collectionIn(state) === undefined);
  expect(onServer()).toBeDefined();
  expect(writesSince(before)).toEqual([]);
});

describe('a collection whose spec names another cluster', () => {
  const leftBehind = () => condition('LeftBehind');
  const notes = async (client: Client) =>
    (await client.list(EventsV1Event, { namespace: 'default' })).items
      .filter(({ reason }) => reason === 'LeftBehind')
      .map(({ note }) => note);
  const note = 'collection points of QdrantCluster vectors is not looked after any more; it is not deleted';

  async function moved(): Promise<Client> {
    const client = await start();
    await applyCollection(aCollection())(client);
    await until('it is made', isMade());
    await applyCollection(aCollection({ cluster: 'other' }))(client);
    await until('that is told', () => leftBehind()?.status === 'True');
    return client;
  }

  test('tells what it leaves behind, and does not delete it', async () => {
    const client = await moved();
    expect(leftBehind()?.message).toBe(
      'collection points of QdrantCluster vectors is not looked after any more. Set spec.cluster back from other, or delete it there once its points are not needed: DELETE /collections/points',
    );
    await simulation.pass(900_000);
    expect(await notes(client)).toEqual([note]);
    expect(onServer()).toBeDefined();
    await client.delete(QdrantCollection, points);
    await until('it is gone', (state) => collectionIn(state) === undefined);
    await simulation.pass(10_000);
    expect(onServer()).toBeDefined();
    expect(await notes(client)).toEqual([note, note]);
  });

  test('has left nothing once it is deleted there by hand', async () => {
    await moved();
    await told('DELETE', '/collections/points');
    await until('that is noticed', () => leftBehind()?.status === 'False');
    expect(statusOf()?.leftBehind).toBeUndefined();
  });

  test('is what it was once the spec is set back', async () => {
    const client = await moved();
    const { serial } = onServer() ?? {};
    await applyCollection(aCollection())(client);
    await until('it is as it was', isMade());
    expect(leftBehind()?.status).toBe('False');
    expect(statusOf()).toMatchObject({ origin: 'Created' });
    expect(onServer()?.serial).toBe(serial);
  });
});

describe('aliases', () => {
  test('are made, and removed when the spec does not name them any more; others are left alone', async () => {
    const client = await start();
    await applyCollection(aCollection({ aliases: ['current', 'latest'] }))(client);
    await until('it is made', isMade());
    expect(aliasesOnServer()).toEqual({ current: 'points', latest: 'points' });
    await told('POST', '/collections/aliases', {
      actions: [{ create_alias: { collection_name: 'points', alias_name: 'by-hand' } }],
    });
    const before = now();
    await applyCollection(aCollection({ aliases: ['current', 'next'] }))(client);
    await until('they are changed', (state) => isMade()(state) && 'next' in aliasesOnServer());
    expect(aliasesOnServer()).toEqual({ current: 'points', next: 'points', 'by-hand': 'points' });
    expect(writesSince(before)).toEqual(['POST /collections/aliases?timeout=10']);
  });

  test('are not stolen from another collection, and move in one go once it gives them up', async () => {
    const client = await start();
    await applyCollection(aCollection({ aliases: ['current'] }))(client);
    await until('it is made', isMade());
    await applyCollection(aCollection({ aliases: ['current', 'own'] }), 'other')(client);
    await until('it is told', () => condition('AliasesInPlace', 'other')?.reason === 'AliasTaken');
    await until('the other alias is made', () => 'own' in aliasesOnServer());
    expect(aliasesOnServer()).toEqual({ current: 'points', own: 'other' });
    const gaps: number[] = [];
    await applyCollection(aCollection())(client);
    await until('it moves', (state) => {
      if (!('current' in aliasesOnServer())) gaps.push(now());
      return isMade('other')(state) && aliasesOnServer()['current'] === 'other';
    });
    expect(gaps).toEqual([]);
    await until('all is well', (state) => isMade()(state) && isMade('other')(state));
    expect(statusOf()?.aliases).toBeUndefined();
  });

  test('a collection whose name is an alias is not made, and says why', async () => {
    const client = await start();
    await applyCollection(aCollection({ aliases: ['other'] }))(client);
    await until('it is made', isMade());
    await applyCollection(aCollection(), 'other')(client);
    await until('it is told', () => condition('Ready', 'other')?.reason === 'NameTaken');
    await client.delete(QdrantCollection, { namespace: 'default', name: 'other' });
    await until('it is gone', (state) => collectionIn(state, 'other') === undefined);
    expect(aliasesOnServer()).toEqual({ other: 'points' });
  });
});

test('payload indexes are made, made anew with another type, and removed; those of others are left alone', async () => {
  const client = await start();
  await applyCollection(aCollection({ payloadIndexes: [{ field: 'city', type: 'keyword' }] }))(client);
  await until('it is made', isMade());
  expect(onServer()?.indexes).toMatchObject({ city: { data_type: 'keyword' } });
  await told('PUT', '/collections/points/index?wait=true', { field_name: 'by-hand', field_schema: 'integer' });
  await applyCollection(aCollection({ payloadIndexes: [{ field: 'city', type: 'text' }] }))(client);
  await until('its type changes', (state) => isMade()(state) && onServer()?.indexes['city']?.['data_type'] === 'text');
  await applyCollection(aCollection({ payloadIndexes: [{ field: 'by-hand', type: 'float' }] }))(client);
  await until('it is told', () => condition('Ready')?.reason === 'IndexTaken');
  expect(onServer()?.indexes).toMatchObject({ 'by-hand': { data_type: 'integer' } });
  await applyCollection(aCollection())(client);
  await until('ours are gone', (state) => isMade()(state) && !('city' in (onServer()?.indexes ?? {})));
  expect(Object.keys(onServer()?.indexes ?? {})).toEqual(['by-hand']);
});

test('shard keys are made, and never dropped', async () => {
  const client = await start(2);
  await applyCollection(aCollection({ shardKeys: ['north', 'south'], replicationFactor: 2 }))(client);
  const keys = () => [...new Set(onServer()?.shards.map(({ key }) => key))];
  await until('they are made', (state) => isMade()(state) && keys().length === 2);
  expect(keys()).toEqual(['north', 'south']);
  expect(copies()).toEqual([2, 2]);
  await applyCollection(aCollection({ shardKeys: ['north'], replicationFactor: 2 }))(client);
  await simulation.pass(400_000);
  expect(keys()).toEqual(['north', 'south']);
});

test('copies are made when the factor rises, dropped when it falls, and more than there are peers is told', async () => {
  const client = await start(3);
  await applyCollection(aCollection({ shardNumber: 3 }))(client);
  await until('it is made', isMade());
  expect(copies()).toEqual([1, 1, 1]);
  await applyCollection(aCollection({ shardNumber: 3, replicationFactor: 3 }))(client);
  const begin = now();
  await until('there are three of each', (state) => isMade()(state) && copies().every((count) => count === 3));
  expect(now() - begin).toBeLessThan(120_000);
  await applyCollection(aCollection({ shardNumber: 3, replicationFactor: 2 }))(client);
  await until('there are two of each', (state) => isMade()(state) && copies().every((count) => count === 2));
  await applyCollection(aCollection({ shardNumber: 3, replicationFactor: 5 }))(client);
  await until(
    'there are as many as there can be',
    (state) => isMade()(state) && copies().every((count) => count === 3),
  );
  expect(condition('Replicated')).toMatchObject({ status: 'False', reason: 'TooFewPeers' });
  expect(condition('Replicated')?.message).toContain('5 copies are wanted');
});

test('two collections keep every copy while their cluster grows and shrinks', async () => {
  const client = await start(2);
  await applyCollection(aCollection({ shardNumber: 4, replicationFactor: 2 }))(client);
  await applyCollection(aCollection({ shardNumber: 2 }), 'other')(client);
  const both = (state: State) => isMade()(state) && isMade('other')(state);
  await until('both are made', both);
  const written = Array.from({ length: 20 }, (_, at) => ({ id: at + 1, vector: [1, 0, 0, at] }));
  await told('PUT', '/collections/points/points?wait=true', { points: written });
  for (const peers of [4, 2]) {
    await applyCluster(aClusterOf(peers))(client);
    await until(`${peers} peers`, (state) => hasPeers(peers)(state) && both(state));
    expect(copies()).toEqual([2, 2, 2, 2]);
    expect(copies('other')).toEqual([1, 1]);
  }
  await simulation.pass(301_000);
  expect(statusOf()?.pointsCount).toBe(20);
});

test('no collection is made while a peer is away: the server would place shards on it', async () => {
  const client = await start(3);
  hosts().qdrant.setFaults('http://vectors-2.vectors-headless.default:6335', { refusesClients: true });
  await applyCollection(aCollection({ shardNumber: 3 }))(client);
  await until(
    'it is held',
    () => statusOf()?.holding?.some((one) => one.includes('shards-are-placed-on-live-peers')) === true,
  );
  await simulation.pass(60_000);
  expect(onServer()).toBeUndefined();
  hosts().qdrant.setFaults('http://vectors-2.vectors-headless.default:6335', {});
  await until('it is made', isMade());
});

test('a cluster whose consensus has stopped is told nothing', async () => {
  const client = await start(3);
  await applyCollection(aCollection())(client);
  await until('it is made', isMade());
  await during(
    hosts().qdrant.request('vectors-0.vectors-headless.default', {
      method: 'PUT',
      path: '/collections/.',
      headers: {},
      body: Buffer.from(JSON.stringify({ vectors: { size: 4, distance: 'Dot' } })),
    }),
  );
  await until('all have stopped', (state) => statusIn(state)?.reason === 'ConsensusStopped');
  const before = now();
  await applyCollection(aCollection({ aliases: ['current'], config: { hnsw_config: { m: 64 } } }))(client);
  await until(
    'it is held',
    () => statusOf()?.holding?.some((one) => one.includes('a-stopped-consensus-is-told-nothing')) === true,
  );
  await simulation.pass(60_000);
  expect(writesSince(before)).toEqual([]);
});

test('what a peer may or may not have done is looked at before it is asked for again', async () => {
  const client = await start();
  const uri = 'http://vectors-0.vectors-headless.default:6335';
  const closing = {
    answer: ({ method }: { method: string }) => (method === 'GET' ? undefined : ('close-after' as const)),
  };
  hosts().qdrant.setFaults(uri, closing);
  const before = now();
  await applyCollection(aCollection({ aliases: ['current'] }))(client);
  await until('it is made', isMade());
  expect(writesSince(before)).toEqual(['PUT /collections/points?timeout=30', 'POST /collections/aliases?timeout=10']);
});

test('what the server refuses is told, and not asked for again and again', async () => {
  const client = await start();
  const before = now();
  await applyCollection(aCollection({ config: { vectors: { distance: 'Nearby' } } }))(client);
  await until('it is told', () => statusOf()?.reason === 'Refused');
  await simulation.pass(60_000);
  // Once, and once more because the status changed.
  expect(writesSince(before).length).toBeLessThanOrEqual(2);
  await applyCollection(aCollection())(client);
  await until('it is made', isMade());
});

describe('a collection that is deleted', () => {
  test('goes, unless it is to be retained', async () => {
    const client = await start();
    for (const [deletionPolicy, isLeft] of [
      ['Retain', true],
      ['Delete', false],
    ] as const) {
      await applyCollection(aCollection({ deletionPolicy, aliases: ['current'] }))(client);
      await until('it is made', isMade());
      await client.delete(QdrantCollection, points);
      await until('it is gone', (state) => collectionIn(state) === undefined);
      expect(onServer() !== undefined).toBe(isLeft);
    }
  });

  test('is let go at once if its cluster is gone, or goes', async () => {
    const client = await start();
    await applyCollection(aCollection())(client);
    await until('it is made', isMade());
    await client.delete(QdrantCluster, vectors);
    await until('the cluster is gone', (state) => state.list(QdrantCluster).length + state.list(Pod).length === 0);
    await until('it is told', () => condition('Ready')?.reason === 'ClusterGone');
    await client.delete(QdrantCollection, points);
    const before = now();
    await until('it is gone', (state) => collectionIn(state) === undefined);
    expect(now() - before).toBeLessThan(1_000);
  });

  test('is let go after so many attempts, which the status counts, and somebody is told', async () => {
    const client = await start();
    await applyCollection(aCollection())(client);
    await until('it is made', isMade());
    const no = { status: 403, headers: {}, body: Buffer.from('{"status":{"error":"Forbidden: no"},"time":0}') };
    const answer = ({ method }: { method: string }) => (method === 'DELETE' ? no : undefined);
    hosts().qdrant.setFaults('http://vectors-0.vectors-headless.default:6335', { answer });
    await client.delete(QdrantCollection, points);
    await until('attempts are counted', () => (statusOf()?.cleanupAttempts ?? 0) > 2);
    expect(statusOf()).toMatchObject({ cleanupPhase: 'Retrying', cleanupError: expect.stringContaining('Forbidden') });
    await until('it is gone', (state) => collectionIn(state) === undefined);
    await simulation.pass(10_000);
    const { items } = await client.list(EventsV1Event, { namespace: 'default' });
    expect(items.find(({ reason }) => reason === 'CleanupForced')?.note).toContain('collection points may be left');
    expect(onServer()).toBeDefined();
  });

  test.each([
    { says: 'nobody', till: 'for a while' },
    { says: 'somebody', till: 'no longer' },
  ])('waits $till for a cluster that does not answer, if $says is in a hurry', async ({ says }) => {
    const client = await start();
    await applyCollection(aCollection())(client);
    await until('it is made', isMade());
    hosts().qdrant.setFaults('http://vectors-0.vectors-headless.default:6335', { refusesClients: true });
    await client.delete(QdrantCollection, points);
    await simulation.pass(60_000);
    expect(statusOf()?.cleanupAttempts).toBeGreaterThan(2);
    const body = { metadata: { annotations: { 'qdrant.operator/force-delete': 'true' } } };
    if (says === 'somebody') await client.patch(QdrantCollection, points, { type: 'merge', body });
    await until('it is gone', (state) => collectionIn(state) === undefined);
  });
});

describe('snapshots', () => {
  const s3 = { s3EndpointURL: 'https://s3.example.com', s3CredentialsSecretName: 'bucket', bucketName: 'b' };
  const backupIn = (state: State) => state.get(QdrantCollectionBackup, points);
  const restoresIn = (state: State) => state.list(QdrantCollectionRestore);

  test('are asked for by a backup and a restore of its own, and their outcome is told', async () => {
    const client = await start();
    const restoreSnapshotName = 'vectors/points/2024-01-21-23-38';
    await applyCollection(aCollection({ snapshots: { ...s3, backupNow: true, restoreSnapshotName } }))(client);
    await until('they are there', (state) => backupIn(state) !== undefined && restoresIn(state).length === 1);
    expect(backupIn(simulation.state)?.spec).toMatchObject({
      cluster: 'vectors',
      collectionName: 'points',
      request: 1,
    });
    expect(backupIn(simulation.state)?.spec.snapshots.restoreSnapshotName).toBe('');
    const [restore] = restoresIn(simulation.state);
    expect(restore?.spec).toMatchObject({ collection: 'points', cluster: 'vectors', backupId: restoreSnapshotName });
    const lastBackup = { generation: 1, id: 'vectors/points/2024-01-22-00-00' };
    const options = { fieldManager: 'backups', subresource: 'status' } as const;
    await client.apply(QdrantCollectionBackup, { metadata: points, status: { lastBackup } }, options);
    const { namespace, name = '' } = restore?.metadata ?? {};
    const metadata = { ...(namespace && { namespace }), name };
    await client.apply(QdrantCollectionRestore, { metadata, status: { phase: 'Completed' } }, options);
    await until('it is told', () => statusOf()?.lastBackup !== undefined && statusOf()?.restore?.phase === 'Completed');
    await client.delete(QdrantCollectionRestore, metadata);
    await simulation.pass(400_000);
    expect(restoresIn(simulation.state)).toEqual([]);
    await applyCollection(aCollection({ snapshots: s3 }))(client);
    await until('the restore is forgotten', () => statusOf()?.restore === undefined);
    await applyCollection(aCollection({ snapshots: { ...s3, restoreSnapshotName } }))(client);
    await until('it is asked for again', (state) => restoresIn(state).length === 1);
    await applyCollection(aCollection())(client);
    await until('both are gone', (state) => backupIn(state) === undefined && restoresIn(state).length === 0);
  });

  test('under a name that somebody else took are not touched, and that is told', async () => {
    const client = await start();
    const spec = { cluster: 'vectors', collectionName: 'theirs', snapshots: s3 };
    await client.create(QdrantCollectionBackup, { metadata: points, spec });
    await applyCollection(aCollection({ snapshots: s3 }))(client);
    await until('it is told', () => condition('SnapshotsInPlace')?.reason === 'NameTaken');
    expect(backupIn(simulation.state)?.spec.collectionName).toBe('theirs');
  });
});

/** Those of the run that is under way. */
let run: Hosts;
const worldWith = (options: Parameters<typeof qdrantWorld>[0]) => (): QdrantWorld => {
  const made = qdrantWorld(options);
  run = made.hosts;
  return made;
};
const world = worldWith({});

const sayAndWait = (isSo: () => boolean) => async () => {
  while (!isSo()) await sleep(run.clock, 500);
};

/** Everything that a collection may have, and then without it. */
const scenario: Scenario = [
  applyCluster(aClusterOf(1)),
  applyCollection(aCollection({ aliases: ['current'], payloadIndexes: [{ field: 'city', type: 'keyword' }] })),
  applyCollection(aCollection(), 'other'),
  sayAndWait(() => run.isUp && run.qdrant.peers[0]?.view.aliases['current'] === 'points'),
  applyCollection(aCollection({ config: { hnsw_config: { m: 32 } } })),
  sayAndWait(() => onServer('other', run) !== undefined),
  (client) => client.delete(QdrantCollection, { namespace: 'default', name: 'other' }),
];

/** Copies are added and dropped while the cluster grows. */
const troubledScenario: Scenario = [
  applyCluster(aClusterOf(2)),
  applyCollection(aCollection({ shardNumber: 2, replicationFactor: 2, aliases: ['current'] })),
  applyCollection(aCollection(), 'other'),
  sayAndWait(() => run.isUp && onServer('points', run) !== undefined && onServer('other', run) !== undefined),
  applyCluster(aClusterOf(3)),
  applyCollection(aCollection({ shardNumber: 2, replicationFactor: 3, config: { hnsw_config: { m: 32 } } })),
  (client) => client.delete(QdrantCollection, { namespace: 'default', name: 'other' }),
];

function isReplicated(state: State): boolean {
  const { view } = run.qdrant.peers[0] ?? {};
  const found = view?.collections['points'];
  const isWhole = found?.shards.every(
    ({ replicas }) => Object.values(replicas).filter((is) => is === 'Active').length === 3,
  );
  const isAlone = Object.keys(view?.collections ?? {}).length === 1 && Object.keys(view?.aliases ?? {}).length === 0;
  return hasPeers(3)(state) && isMade()(state) && isWhole === true && isAlone && !collectionIn(state, 'other');
}

function isConverged(state: State): boolean {
  const { view } = run.qdrant.peers[0] ?? {};
  const { config, indexes = {} } = view?.collections['points'] ?? {};
  const isAsDeclared = JSON.stringify(config ?? '').includes('"m":32') && Object.keys(indexes).length === 0;
  const isAlone = Object.keys(view?.collections ?? {}).length === 1 && Object.keys(view?.aliases ?? {}).length === 0;
  return hasPeers(1)(state) && isMade()(state) && isAsDeclared && isAlone && !collectionIn(state, 'other');
}

describe('a collection is as it is declared in the end, nothing of it is left over, and it is left alone,', () => {
  test('if the operator is killed at any of its writes', { timeout: 900_000 }, async () => {
    const writes = await crashAtEveryWrite({ world, scenario, isConverged, limitMs: 1_800_000 });
    expect(writes).toBeGreaterThan(20);
  });

  test.each(seeds(3))(
    'whatever happens to the operator, to the cluster and to its peers (seed %i)',
    { timeout: 900_000 },
    async (seed) => {
      const limitMs = 3_600_000;
      const course = { seed, world: worldWith({ troubledMs: limitMs / 10 }), scenario: troubledScenario, limitMs };
      const actors = ['operator', 'cluster'];
      const troubled = await simulate({ ...course, until: isReplicated, actors });
      expect(collectionIn(troubled.state)?.status).toMatchObject({ qdrantStatus: 'Healthy' });
      troubled.end();
    },
  );

  test('for hours', { timeout: 300_000 }, async () => {
    await quiet({ world, scenario, isConverged, forMs: 2 * 3_600_000 });
    const last = run.qdrant.requests.findLast(({ method }) => method !== 'GET');
    expect((last?.at ?? 0) + 2 * 3_600_000).toBeLessThan(run.clock.now());
  });
});
