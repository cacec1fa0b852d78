/** What peers agree on, what they do when they can't, and what stops them for good. */
import { describe, expect, test } from 'vitest';
import { objectAt } from '../../qdrant/src/json.ts';
import { numbersTo, World } from './world.ts';

const saying = (text: string) => expect.stringContaining(text);
const TIMED_OUT = 'Service internal error: Waiting for consensus operation commit failed. Timeout set at: 2 seconds';
const raftInfo = async (world: World, at: number) => objectAt(await world.get(at, '/cluster'), 'raft_info');
const threadOf = async (world: World, at: number) =>
  objectAt(await world.get(at, '/cluster'), 'consensus_thread_status');
const leaderOf = (world: World, ...peers: readonly number[]) =>
  peers.find((at) => world.peer(at).node.role === 'Leader');

describe('a leader', () => {
  test('that lost its followers looks healthy for ever; only its failures to send tell', async () => {
    const world = await World.of(3);
    for (const at of [1, 2]) world.kill(at);
    await world.rest(60_000);
    const { raft_info, consensus_thread_status, message_send_failures } = await world.get(0, '/cluster');
    expect(raft_info).toMatchObject({ role: 'Leader', leader: Number(world.id(0)), pending_operations: 0, term: 1 });
    expect(consensus_thread_status).toMatchObject({ consensus_thread_status: 'working' });
    expect(message_send_failures).toMatchObject({
      'http://p1:6335/': { latest_error: saying('Failed to connect to http://p1:6335/') },
    });
    const count = async () => {
      const failures = objectAt(await world.get(0, '/cluster'), 'message_send_failures');
      return Number(objectAt(failures, 'http://p1:6335/')['count']);
    };
    const before = await count();
    await world.rest(1_000);
    expect(await count()).toBeGreaterThan(before + 2);
    for (const at of [1, 2]) await world.start(at);
    await world.rest(1_000);
    expect(await world.get(0, '/cluster')).toMatchObject({ message_send_failures: {} });
  });

  test('that restarts without followers asks for votes, and is known to be nobody', async () => {
    const world = await World.of(3);
    for (const at of [1, 2]) world.kill(at);
    await world.restart(0);
    expect(await raftInfo(world, 0)).toMatchObject({ leader: null, role: null });
    await world.rest(5_000);
    const { term } = await raftInfo(world, 0);
    expect(await raftInfo(world, 0)).toMatchObject({ leader: 0, role: 'Candidate' });
    await world.rest();
    expect((await raftInfo(world, 0))['term']).toBeGreaterThan(Number(term));
  });

  test('that dies is followed until the others have another one, some seconds later', async () => {
    const world = await World.of(3);
    const former = Number(world.id(0));
    world.kill(0);
    await world.rest(1_000);
    expect(await raftInfo(world, 1)).toMatchObject({ leader: former, role: 'Follower' });
    await world.rest(3_000);
    const leader = leaderOf(world, 1, 2) ?? 0;
    for (const at of [1, 2])
      expect(await raftInfo(world, at)).toMatchObject({ leader: Number(world.id(leader)), term: 2 });
    expect(await world.create(1, 'a')).toMatchObject({ status: 200 });
  });

  test('on the wrong side of a cut steps down when it hears of its successor', async () => {
    const world = await World.of(3);
    world.cluster.partition([world.uri(0)], [world.uri(1), world.uri(2)]);
    await world.rest();
    expect(await raftInfo(world, 0)).toMatchObject({ role: 'Leader', term: 1 });
    expect(leaderOf(world, 1, 2)).toBeDefined();
    world.cluster.partition();
    await world.rest(1_000);
    expect(await raftInfo(world, 0)).toMatchObject({ role: 'Follower', term: 2 });
  });
});

describe('without a quorum', () => {
  test('every change is refused after exactly its timeout, and carried out when one follower is back', async () => {
    const world = await World.of(3);
    await world.create(0, 'a', { shard_number: 1, replication_factor: 3 });
    await world.create(0, 'gone');
    for (const at of [1, 2]) world.kill(at);
    const before = world.clock.now();
    const created = await world.ask(0, 'PUT', '/collections/late?timeout=2', { body: {} });
    expect(created).toMatchObject({ status: 500, error: TIMED_OUT });
    expect(world.clock.now() - before).toBe(2_000);
    const drop = { shard_id: 0, peer_id: BigInt(world.id(2)) };
    const changes = [
      await world.ask(0, 'PATCH', '/collections/a?timeout=2', { body: { params: { replication_factor: 2 } } }),
      await world.ask(0, 'DELETE', '/collections/gone?timeout=2'),
      await world.ask(0, 'PUT', '/collections/a/index?timeout=2', {
        body: { field_name: 'f', field_schema: 'keyword' },
      }),
      await world.operate(0, 'a', { drop_replica: drop }, 2),
      await world.ask(0, 'POST', '/collections/aliases?timeout=2', {
        body: { actions: [{ create_alias: { collection_name: 'a', alias_name: 'x' } }] },
      }),
    ];
    for (const change of changes) expect(change).toMatchObject({ status: 500, error: TIMED_OUT });
    // The one that accepted them remembers, also through a restart.
    await world.restart(0);
    await world.start(1);
    await world.rest();
    expect(await world.get(1, '/collections')).toEqual({ collections: [{ name: 'a' }, { name: 'late' }] });
    expect(new Set(world.holders(1, 'a', 0))).toEqual(new Set([0, 1]));
    expect(await world.get(1, '/collections/x')).toMatchObject({
      config: { params: { replication_factor: 2 } },
      payload_schema: { f: { data_type: 'keyword' } },
    });
  });

  test('a node that knows no leader says so', async () => {
    const world = await World.of(3);
    for (const at of [0, 1, 2]) world.kill(at);
    await world.start(1);
    await world.rest();
    expect(await world.ask(1, 'PUT', '/collections/a?timeout=2', { body: {} })).toMatchObject({
      status: 500,
      error: 'Service internal error: Failed to propose operation: leader is not established within 2s',
    });
    await world.start(0);
    await world.rest();
    expect(await world.create(1, 'b')).toMatchObject({ status: 200 });
    expect(await world.get(1, '/collections')).toEqual({ collections: [{ name: 'b' }] });
  });

  test('points are still read and written, and snapshots made', async () => {
    const world = await World.of(3);
    await world.create(0, 'a', { shard_number: 1, replication_factor: 3 });
    await world.upsert(0, 'a', numbersTo(5));
    for (const at of [1, 2]) world.kill(at);
    expect(await world.numbers(0, 'a')).toEqual(numbersTo(5));
    expect(await world.ask(0, 'POST', '/collections/a/snapshots')).toMatchObject({ status: 200 });
  });
});

test('what was proposed on a follower just after its leader died is lost', async () => {
  const world = await World.of(3);
  world.kill(0);
  const asked = world.asking(1, 'PUT', '/collections/a?timeout=2', { body: {} });
  expect(await world.run(asked)).toMatchObject({ status: 500, error: TIMED_OUT });
  await world.start(0);
  await world.rest(30_000);
  expect(await world.get(1, '/collections')).toEqual({ collections: [] });
});

test('what a leader accepted alone is gone once the others have gone on without it', async () => {
  const world = await World.of(3);
  world.cluster.partition([world.uri(0)], [world.uri(1), world.uri(2)]);
  const asked = await world.ask(0, 'PUT', '/collections/ghost?timeout=2', { body: {} });
  expect(asked).toMatchObject({ status: 500, error: TIMED_OUT });
  await world.rest();
  world.cluster.partition();
  await world.rest();
  // Until it leads again.
  for (let round = 0; round < 10 && leaderOf(world, 0, 1, 2) !== 0; round++) {
    const leader = leaderOf(world, 0, 1, 2) ?? 1;
    world.kill(leader);
    await world.rest();
    await world.start(leader);
    await world.rest();
  }
  expect(leaderOf(world, 0, 1, 2)).toBe(0);
  expect(await world.create(0, 'real')).toMatchObject({ status: 200 });
  expect(await world.get(0, '/collections')).toEqual({ collections: [{ name: 'real' }] });
});

test('a change is not seen at once by all of them', async () => {
  const world = await World.of(3);
  await world.create(0, 'a');
  const seen = (at: number) => world.peer(at).view.collections['a']?.config['metadata'];
  let late = 0;
  for (let round = 1; round <= 10; round++) {
    await world.ask(0, 'PATCH', '/collections/a', { body: { metadata: { round } } });
    expect(seen(0)).toEqual({ round });
    if (!Object.is(seen(2), seen(0))) late++;
    await world.rest(1_000);
    expect(seen(2)).toEqual({ round });
  }
  expect(late).toBeGreaterThan(5);
});

test('of creates at the same time on several peers, one succeeds', async () => {
  const world = await World.of(3);
  const asked = [0, 1, 1, 2].map((at) => world.asking(at, 'PUT', '/collections/a', { body: {} }));
  const statuses = (await world.run(Promise.all(asked))).map(({ status }) => status);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
});

describe('an entry that nobody can apply', () => {
  /** A collection named as the folder it would be in. */
  const stopped = async () => {
    const world = await World.of(3);
    await world.create(0, 'a', { shard_number: 3, replication_factor: 2 });
    await world.upsert(0, 'a', numbersTo(30));
    expect(await world.ask(1, 'PUT', '/collections/.', { body: {} })).toMatchObject({ status: 500 });
    await world.rest(1_000);
    return world;
  };

  test('stops consensus on all peers at once; points and health go on as if nothing were', async () => {
    const world = await stopped();
    for (const at of [0, 1, 2]) {
      expect(await threadOf(world, at)).toEqual({
        consensus_thread_status: 'stopped_with_err',
        err: expect.stringMatching(
          /Device or resource busy; restarting consensus thread \(attempt \d+, next attempt in \d+ sec\)$/,
        ),
      });
      expect(await world.ask(at, 'GET', '/healthz')).toMatchObject({ status: 200 });
      expect(await world.numbers(at, 'a')).toEqual(numbersTo(30));
    }
    expect(await world.upsert(0, 'a', [31])).toMatchObject({ status: 200 });
    expect(await world.ask(2, 'DELETE', '/collections/a?timeout=2')).toMatchObject({ status: 500, error: TIMED_OUT });
    expect((await world.ask(0, 'GET', '/metrics')).text).toContain('cluster_working_state{state="stopped"} 1');
  });

  test('is tried again after ever longer times', async () => {
    const world = await stopped();
    await world.rest(60_000);
    expect(await threadOf(world, 0)).toMatchObject({ err: saying('attempt 6, next attempt in 32 sec') });
  });

  test('lets no process start again', async () => {
    const world = await stopped();
    expect(await world.restart(1)).toMatchObject({ is: 'exited', exitCode: 101 });
    expect(await world.start(1)).toMatchObject({ is: 'exited', exitCode: 101 });
  });

  test('is left behind by starting over: one alone, then each of the others with it', async () => {
    const world = await stopped();
    const ids = [0, 1, 2].map((at) => world.id(at));
    for (const at of [0, 1, 2]) world.kill(at);
    expect(await world.start(1, { reinit: true, bootstrap: world.uri(1) })).toMatchObject({ is: 'serving' });
    for (const at of [0, 2]) {
      expect(await world.start(at, { reinit: true, bootstrap: world.uri(1) })).toMatchObject({ is: 'serving' });
    }
    await world.until(() => world.isHealed(0, 1, 2));
    for (const at of [0, 1, 2]) expect(await world.restart(at)).toMatchObject({ is: 'serving' });
    await world.until(() => world.isHealed(0, 1, 2));
    expect([0, 1, 2].map((at) => world.id(at))).toEqual(ids);
    for (const at of [0, 1, 2]) expect(await world.numbers(at, 'a')).toEqual(numbersTo(30));
    expect([0, 1, 2].map((shard) => world.holders(0, 'a', shard).length)).toEqual([2, 2, 2]);
    expect(await world.create(2, 'b')).toMatchObject({ status: 200 });
  });
});

test('after a stop of all, peers that start together find a leader, and all that was agreed on', async () => {
  const world = await World.of(3);
  await world.create(0, 'a', { shard_number: 3, replication_factor: 2 });
  await world.upsert(0, 'a', numbersTo(30));
  for (const at of [0, 1, 2]) world.kill(at);
  await world.startAll(0, 1, 2);
  expect(await raftInfo(world, 0)).toMatchObject({ leader: null });
  await world.rest(4_000);
  expect(leaderOf(world, 0, 1, 2)).toBeDefined();
  expect(await world.numbers(2, 'a')).toEqual(numbersTo(30));
});
