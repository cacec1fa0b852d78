/** What a peer says of itself and of the others, and how little of it can be believed. */
import { describe, expect, test } from 'vitest';
import { numbersTo, World } from './world.ts';

const readyz = (world: World, at: number) => world.ask(at, 'GET', '/readyz');
const READY = { status: 200, text: 'all shards are ready' };
const NOT_READY = { status: 503, text: 'some shards are not ready' };

describe('readiness', () => {
  test('gets further only when it is asked: the first answer of one that joined or restarted is no', async () => {
    const world = await World.of(3);
    const before = world.clock.now();
    expect(await readyz(world, 1)).toMatchObject(NOT_READY);
    expect(world.clock.now() - before).toBe(500);
    expect(await readyz(world, 1)).toMatchObject(READY);
    await world.restart(1);
    await world.rest();
    expect(await readyz(world, 1)).toMatchObject(NOT_READY);
    expect(await readyz(world, 1)).toMatchObject(READY);
  });

  test('waits for the replicas of the peer to heal, and then stays whatever happens', async () => {
    const world = await World.of(3);
    await world.create(0, 'a', { shard_number: 3, replication_factor: 3 });
    world.kill(1);
    await world.rest();
    await world.upsert(0, 'a', numbersTo(30));
    await world.start(1);
    expect(await readyz(world, 1)).toMatchObject(NOT_READY);
    expect(await readyz(world, 1)).toMatchObject(NOT_READY);
    await world.until(() => world.isHealed(0, 1, 2));
    expect(await readyz(world, 1)).toMatchObject(READY);
    for (const at of [0, 2]) world.kill(at);
    await world.rest();
    expect(await readyz(world, 1)).toMatchObject(READY);
  });

  test('does not need a leader', async () => {
    const world = await World.of(3);
    for (const at of [0, 1, 2]) world.kill(at);
    await world.start(1);
    await readyz(world, 1);
    expect(await readyz(world, 1)).toMatchObject(READY);
    expect(world.peer(1).node.role).not.toBe('Leader');
  });
});

test('a peer is alive as long as it answers', async () => {
  const world = await World.of(3);
  for (const at of [1, 2]) world.kill(at);
  for (const path of ['/healthz', '/livez']) {
    expect(await world.ask(0, 'GET', path)).toMatchObject({ status: 200, text: 'healthz check passed' });
  }
});

test('a peer says its version', async () => {
  const world = new World();
  await world.start(0, { version: '1.18.2' });
  expect((await world.ask(0, 'GET', '/')).json).toEqual({
    title: 'qdrant - vector search engine',
    version: '1.18.2',
    commit: expect.stringMatching(/^[0-9a-f]{40}$/),
  });
});

test('metrics tell what this peer believes', async () => {
  const world = await World.of(2);
  await world.create(0, 'a', { shard_number: 2, replication_factor: 2 });
  await world.rest(1_000);
  const { text, headers } = await world.ask(0, 'GET', '/metrics');
  expect(headers['content-type']).toContain('text/plain');
  const commit = world.peer(0).node.record.applied.index;
  for (const line of [
    'app_info{name="qdrant",version="1.19.0"} 1',
    'cluster_enabled 1',
    'cluster_peers_total 2',
    'cluster_term 1',
    `cluster_commit{peer_id="${world.id(0)}"} ${commit}`,
    'cluster_pending_operations_total 0',
    'cluster_voter 1',
    'cluster_working_state{state="working"} 1',
    'collection_active_replicas_min 2',
    'collection_active_replicas_max 2',
    'collection_dead_replicas 0',
    'collection_shard_transfer_incoming{id="a"} 0',
    'collection_shard_transfer_outgoing{id="a"} 0',
  ]) {
    expect(text.split('\n')).toContain(line);
  }
});

describe('the telemetry of the cluster', () => {
  test('says who answers, which nothing else does', async () => {
    const world = await World.of(3);
    await world.create(0, 'a', { shard_number: 1, replication_factor: 3 });
    await world.upsert(0, 'a', numbersTo(5));
    await world.rest(1_000);
    world.kill(2);
    const told = await world.get(0, '/cluster/telemetry?details_level=3');
    expect(told).toMatchObject({
      cluster: {
        enabled: true,
        number_of_peers: 3,
        peers: {
          [world.id(0)]: {
            responsive: true,
            details: { version: '1.19.0', is_voter: true, num_pending_operations: 0 },
          },
          [world.id(2)]: { uri: 'http://p2:6335/', responsive: false, details: null },
        },
      },
      collections: { a: { id: 'a', shards: [{ id: 0 }] } },
    });
    const replicas = JSON.stringify(told['collections']);
    expect(replicas.match(/"num_points":5/g)).toHaveLength(2);
    expect(replicas.match(/"state":"Active"/g)).toHaveLength(3);
  });

  test('does not exist before version 1.17', async () => {
    const world = new World();
    await world.start(0, { version: '1.16.3' });
    expect(await world.ask(0, 'GET', '/cluster/telemetry')).toMatchObject({ status: 404, text: '' });
  });

  test('has the shards of a collection only if it is asked for them', async () => {
    const world = await World.of(1);
    await world.create(0, 'a');
    expect(await world.get(0, '/cluster/telemetry')).toMatchObject({ collections: { a: { id: 'a' } } });
    expect((await world.get(0, '/cluster/telemetry?details_level=2'))['collections']).toEqual({ a: { id: 'a' } });
  });

  test('waits long for a peer that is silent', async () => {
    const world = await World.of(3);
    world.cluster.setFaults(world.uri(2), { isHung: true });
    const before = world.clock.now();
    await world.get(0, '/cluster/telemetry?timeout=2');
    expect(world.clock.now() - before).toBeGreaterThan(9_000);
  });
});

test('keys of metadata are written at once and known a moment later', async () => {
  const world = await World.of(3);
  expect(await world.ask(0, 'PUT', '/cluster/metadata/keys/k', { body: { x: 1 } })).toMatchObject({
    status: 200,
    result: true,
  });
  await world.rest(1_000);
  expect(await world.get(2, '/cluster/metadata/keys/k')).toEqual({ x: 1 });
  expect(await world.ask(2, 'DELETE', '/cluster/metadata/keys/k')).toMatchObject({ status: 200 });
  await world.rest(1_000);
  expect(await world.ask(0, 'GET', '/cluster/metadata/keys/k')).toMatchObject({ status: 200, result: null });
});
