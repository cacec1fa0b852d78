/** How peers come and go, as a real cluster of version 1.19 was seen to do it. */
import { describe, expect, test } from 'vitest';
import { objectAt } from '../../qdrant/src/json.ts';
import { numbersTo, World } from './world.ts';

const raftInfo = async (world: World, at: number) => objectAt(await world.get(at, '/cluster'), 'raft_info');
const members = async (world: World, at: number) =>
  Object.keys(objectAt(await world.get(at, '/cluster'), 'peers')).map((id) => world.nameOf(id));

describe('a peer that starts', () => {
  test('with an empty volume and no bootstrap is the leader of itself at once, and ready', async () => {
    const world = new World();
    await world.start(0);
    expect(await raftInfo(world, 0)).toMatchObject({ role: 'Leader', is_voter: true, pending_operations: 0 });
    expect(await world.ask(0, 'GET', '/readyz')).toMatchObject({ status: 200 });
  });

  test('with its own URI as bootstrap is the first one, too', async () => {
    const world = new World();
    await world.start(0, { bootstrap: world.uri(0) });
    expect(await members(world, 0)).toEqual(['p0']);
  });

  test('joins whom bootstrap names; two of them at the same time, and all agree on the leader', async () => {
    const world = new World();
    await world.start(0);
    await world.run(
      Promise.all(
        [1, 2].map((at) => world.cluster.start({ uri: world.uri(at), bootstrap: world.uri(0) }, world.disk(at))),
      ),
    );
    await world.rest(1_000);
    for (const at of [0, 1, 2]) {
      expect(await members(world, at)).toEqual(['p0', 'p1', 'p2']);
      expect(await raftInfo(world, at)).toMatchObject({ leader: Number(world.id(0)), is_voter: true });
    }
  });

  test('refuses clients until it has joined', async () => {
    const world = await World.of(1);
    const starting = world.cluster.start({ uri: world.uri(1), bootstrap: world.uri(0) }, world.disk(1));
    await world.clock.advance(500);
    await expect(world.asking(1, 'GET', '/healthz')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await world.run(starting);
    expect(await world.ask(1, 'GET', '/healthz')).toMatchObject({ status: 200 });
  });

  test('and is killed on the way is dead at once: the next process on its volume leads, and takes new members', async () => {
    const world = await World.of(1);
    world.peer(0).stop();
    const killed = new AbortController();
    const first = world.cluster.start({ uri: world.uri(0) }, world.disk(0), killed.signal);
    await world.clock.advance(10);
    killed.abort();
    const second = world.cluster.start({ uri: world.uri(0) }, world.disk(0));
    expect(await world.run(first)).toMatchObject({ is: 'exited', exitCode: 137 });
    await world.run(second);
    expect(await raftInfo(world, 0)).toMatchObject({ role: 'Leader' });
    expect(await world.start(1)).toMatchObject({ is: 'serving' });
  });

  test('and is killed before it begins never comes up', async () => {
    const world = new World();
    const start = world.cluster.start({ uri: world.uri(0) }, world.disk(0), AbortSignal.abort());
    expect(await world.run(start)).toMatchObject({ is: 'exited', exitCode: 137 });
    expect(world.cluster.peers).toHaveLength(0);
  });

  test('exits with 101 if nobody is where bootstrap says', async () => {
    const world = new World();
    expect(await world.start(1)).toMatchObject({
      is: 'exited',
      exitCode: 101,
      message: expect.stringContaining('Connection refused'),
    });
  });

  test('exits with 101 without a quorum, and is a member all the same when the quorum returns', async () => {
    const world = await World.of(3);
    const leader = [0, 1, 2].find((at) => world.peer(at).node.role === 'Leader') ?? 0;
    const others = [0, 1, 2].filter((at) => at !== leader);
    for (const at of others) world.kill(at);
    const start = await world.start(3, { bootstrap: world.uri(leader) });
    expect(start).toMatchObject({
      is: 'exited',
      exitCode: 101,
      message: expect.stringContaining('Waiting for consensus operation commit failed'),
    });
    for (const at of others) await world.start(at);
    await world.rest();
    expect(await members(world, leader)).toContain('p3');
    expect(await world.start(3, { bootstrap: world.uri(leader) })).toMatchObject({ is: 'serving' });
    expect(await members(world, 3)).toHaveLength(4);
  });

  test("that joins and dies before it has caught up takes nobody's quorum away", async () => {
    const world = await World.of(1);
    const killed = new AbortController();
    const starting = world.cluster.start({ uri: world.uri(1), bootstrap: world.uri(0) }, world.disk(1), killed.signal);
    // It is listed at once, and votes only once it has heard everything.
    for (let waited = 0; !world.peer(0).view.peers[world.disk(1).peer ?? '']; waited += 5) {
      expect(waited).toBeLessThan(2_000);
      await world.clock.advance(5);
    }
    killed.abort();
    world.kill(1);
    await world.run(starting);
    expect(await members(world, 0)).toHaveLength(2);
    expect(await world.create(0, 'a', { shard_number: 1 })).toMatchObject({ status: 200 });
    expect(await world.start(1)).toMatchObject({ is: 'serving' });
    expect(await raftInfo(world, 1)).toMatchObject({ is_voter: true });
  });

  test('with a used volume ignores bootstrap, keeps its id, and announces a new URI', async () => {
    const world = await World.of(3);
    const id = world.id(2);
    world.kill(2);
    const moved = 'http://elsewhere:6335';
    await world.run(world.cluster.start({ uri: moved, bootstrap: 'http://nobody:6335' }, world.disk(2)));
    await world.rest(4_000);
    expect(world.disk(2).peer).toBe(id);
    expect(objectAt(await world.get(0, '/cluster'), 'peers')).toMatchObject({ [id]: { uri: `${moved}/` } });
  });

  test('may have an id beyond what a number holds', async () => {
    const world = new World();
    await world.start(0, { peerId: '9007199254740993' });
    expect((await world.ask(0, 'GET', '/cluster')).text).toContain('"peer_id":9007199254740993,');
    await world.start(1);
    await world.rest();
    await world.create(0, 'a', { shard_number: 1 });
    const [holder = 0] = world.holders(0, 'a', 0);
    const move = { shard_id: 0, from_peer_id: BigInt(world.id(holder)), to_peer_id: BigInt(world.id(1 - holder)) };
    expect(await world.operate(0, 'a', { move_shard: move })).toMatchObject({ status: 200 });
  });
});

describe('a lost volume', () => {
  test('keeps a peer out while its former self still holds replicas', async () => {
    const world = await World.of(3);
    await world.create(0, 'a', { shard_number: 3 });
    const former = world.id(1);
    world.kill(1);
    world.loseVolume(1);
    const start = await world.start(1);
    expect(start).toMatchObject({ is: 'exited', exitCode: 101 });
    expect(start).toMatchObject({
      message: expect.stringContaining(`already used by peer ${former} which still has shards`),
    });
  });

  test('is replaced without a word if its former self held nothing', async () => {
    const world = await World.of(3);
    const former = world.id(1);
    world.kill(1);
    world.loseVolume(1);
    expect(await world.start(1)).toMatchObject({ is: 'serving' });
    await world.rest();
    expect(await members(world, 0)).toEqual(['p0', 'p2', 'p1']);
    expect(Object.keys(objectAt(await world.get(0, '/cluster'), 'peers'))).not.toContain(former);
  });

  test.each([
    ['1.15.5', 'serving', 4],
    ['1.16.3', 'exited', 3],
    ['1.17.1', 'serving', 3],
  ])('that held nothing was handled otherwise by %s', async (version, is, count) => {
    const world = new World();
    for (const at of [0, 1, 2]) await world.start(at, { version });
    await world.rest();
    world.kill(1);
    world.loseVolume(1);
    expect(await world.start(1, { version })).toMatchObject({ is });
    await world.rest();
    expect(await members(world, 0)).toHaveLength(count);
  });

  test('is overcome by dropping its replicas, a new start, and replication', async () => {
    const world = await World.of(3);
    await world.create(0, 'a', { shard_number: 3, replication_factor: 2 });
    await world.upsert(0, 'a', numbersTo(30));
    const former = BigInt(world.id(1));
    const lost = [0, 1, 2].filter((shard) => world.holders(0, 'a', shard).includes(1));
    world.kill(1);
    world.loseVolume(1);
    const empty = world.peer(0).view.peers;
    expect(Object.keys(empty)).toHaveLength(3);
    for (const shard_id of lost) {
      expect(await world.operate(0, 'a', { drop_replica: { shard_id, peer_id: former } })).toMatchObject({
        status: 200,
      });
    }
    expect(await world.start(1)).toMatchObject({ is: 'serving' });
    await world.rest();
    for (const shard_id of lost) {
      const [source = 0] = world.holders(0, 'a', shard_id);
      const replicate_shard = { shard_id, from_peer_id: BigInt(world.id(source)), to_peer_id: BigInt(world.id(1)) };
      expect(await world.operate(0, 'a', { replicate_shard })).toMatchObject({ status: 200 });
    }
    await world.until(
      () => world.isHealed(0, 1, 2) && lost.every((shard) => world.holders(0, 'a', shard).length === 2),
    );
    for (const at of [0, 1, 2]) expect(await world.numbers(at, 'a')).toEqual(numbersTo(30));
  });

  test('of the first peer, started without bootstrap, makes half a cluster: empty, ready, and led by a stranger', async () => {
    const world = await World.of(3);
    await world.create(0, 'a', { shard_number: 3, replication_factor: 3 });
    world.kill(0);
    await world.rest();
    world.loseVolume(0);
    await world.start(0);
    const view = await world.get(0, '/cluster');
    expect(Object.keys(objectAt(view, 'peers'))).toEqual([world.id(0)]);
    const leader = [1, 2].find((at) => world.peer(at).node.role === 'Leader') ?? 1;
    expect(objectAt(view, 'raft_info')).toMatchObject({
      leader: Number(world.id(leader)),
      role: 'Follower',
      is_voter: true,
    });
    expect(await world.get(0, '/collections')).toEqual({ collections: [] });
    expect(await world.ask(0, 'GET', '/readyz')).toMatchObject({ status: 200 });
    const before = world.clock.now();
    expect(await world.create(0, 'b')).toMatchObject({
      status: 500,
      error: expect.stringContaining('Timeout set at: 10 seconds'),
    });
    expect(world.clock.now() - before).toBe(10_000);
  });

  test('of the first peer makes a whole cluster of its own while the old one has no leader', async () => {
    const world = await World.of(3);
    for (const at of [0, 1, 2]) world.kill(at);
    world.loseVolume(0);
    await world.start(0);
    expect(await world.create(0, 'b')).toMatchObject({ status: 200 });
  });
});

describe('removing a peer', () => {
  test('that holds replicas is refused before anybody is asked', async () => {
    const world = await World.of(3);
    await world.create(0, 'a', { shard_number: 3 });
    for (const at of [1, 2]) world.kill(at);
    const { status, error } = await world.ask(0, 'DELETE', `/cluster/peer/${world.id(1)}`);
    expect({ status, error }).toEqual({
      status: 400,
      error: `Bad request: Cannot remove peer ${world.id(1)} as there are shards on it`,
    });
  });

  test('that nobody knows succeeds, so that it can be repeated', async () => {
    const world = await World.of(2);
    expect(await world.ask(0, 'DELETE', '/cluster/peer/12345')).toMatchObject({ status: 200, result: true });
    expect(await world.ask(0, 'DELETE', '/cluster/peer/abc')).toMatchObject({
      status: 404,
      text: 'can not parse "abc" to a u64',
    });
    expect(await world.ask(0, 'DELETE', '/cluster/peer/1?timeout=0')).toMatchObject({ status: 422 });
  });

  test('leaves it alone with a stopped consensus, healthy and, once restarted, ready', async () => {
    const world = await World.of(3);
    const leader = Number(world.id(0));
    expect(await world.ask(0, 'DELETE', `/cluster/peer/${world.id(2)}`)).toMatchObject({ status: 200, result: true });
    await world.rest(1_000);
    const removed = await world.get(2, '/cluster');
    expect(Object.keys(objectAt(removed, 'peers'))).toEqual([world.id(2)]);
    expect(removed).toMatchObject({
      raft_info: { is_voter: false, leader, pending_operations: 1 },
      consensus_thread_status: { consensus_thread_status: 'stopped' },
    });
    expect(await world.create(2, 'b')).toMatchObject({ status: 500 });
    await world.restart(2);
    expect(await raftInfo(world, 2)).toMatchObject({ is_voter: false, leader: null, role: null });
    expect(await world.ask(2, 'GET', '/readyz')).toMatchObject({ status: 200 });
    expect(await members(world, 0)).toEqual(['p0', 'p1']);
  });

  test('works for the leader, who removes itself', async () => {
    const world = await World.of(3);
    expect(await world.ask(0, 'DELETE', `/cluster/peer/${world.id(0)}`)).toMatchObject({ status: 200 });
    await world.rest(4_000);
    expect(new Set([1, 2].map((at) => world.peer(at).node.role))).toEqual(new Set(['Follower', 'Leader']));
  });

  test('by force takes its only replicas with it: the shards are listed nowhere, and still counted', async () => {
    const world = await World.of(3);
    await world.create(0, 'a', { shard_number: 3 });
    await world.upsert(0, 'a', numbersTo(30));
    expect(await world.ask(0, 'DELETE', `/cluster/peer/${world.id(2)}?force=true`)).toMatchObject({ status: 200 });
    await world.rest(1_000);
    const { shard_count, local_shards, remote_shards } = await world.get(0, '/collections/a/cluster');
    expect(shard_count).toBe(3);
    expect([local_shards, remote_shards].flat()).toHaveLength(2);
    expect(await world.ask(0, 'GET', '/collections/a')).toMatchObject({
      status: 500,
      error: 'Service internal error: 0 of 0 read operations failed',
    });
    await expect(world.ask(0, 'POST', '/collections/a/points/count', { body: {} })).rejects.toMatchObject({
      code: 'ECONNRESET',
    });
    expect(await world.upsert(0, 'a', numbersTo(30))).toMatchObject({
      status: 500,
      error: expect.stringContaining('has no active replica'),
    });
  });

  test('of two needs both: by force at the leader it waits for the other one, and then removes it', async () => {
    const world = await World.of(2);
    await world.create(0, 'a', { shard_number: 2 });
    world.kill(1);
    const removal = await world.ask(0, 'DELETE', `/cluster/peer/${world.id(1)}?force=true&timeout=3`);
    expect(removal).toMatchObject({ status: 500, error: expect.stringContaining('Timeout set at: 3 seconds') });
    expect(await members(world, 0)).toEqual(['p0', 'p1']);
    await world.start(1);
    await world.rest();
    expect(await members(world, 0)).toEqual(['p0']);
    expect(await members(world, 1)).toEqual(['p1']);
  });

  test('of two, asked of the follower of a dead leader, never happens', async () => {
    const world = await World.of(2);
    world.kill(0);
    const removal = await world.ask(1, 'DELETE', `/cluster/peer/${world.id(0)}?force=true&timeout=3`);
    expect(removal).toMatchObject({ status: 500 });
    await world.start(0);
    await world.rest(60_000);
    for (const at of [0, 1]) expect(await members(world, at)).toHaveLength(2);
  });

  test('that is down makes it a candidate for ever once it is back: it unseats leaders and accepts writes', async () => {
    const world = await World.of(3);
    await world.create(0, 'a', { shard_number: 1, replication_factor: 3 });
    world.kill(2);
    await world.operate(0, 'a', { drop_replica: { shard_id: 0, peer_id: BigInt(world.id(2)) } });
    await world.ask(0, 'DELETE', `/cluster/peer/${world.id(2)}`);
    const { term } = await raftInfo(world, 0);
    await world.start(2);
    await world.rest(60_000);
    const zombie = await world.get(2, '/cluster');
    expect(zombie).toMatchObject({
      raft_info: { leader: 0, role: 'Candidate' },
      consensus_thread_status: { consensus_thread_status: 'working' },
    });
    expect(Object.keys(objectAt(zombie, 'peers'))).toHaveLength(3);
    expect((await raftInfo(world, 0))['term']).toBeGreaterThan(Number(term) + 3);
    expect(await world.upsert(2, 'a', [1], false)).toMatchObject({ status: 200 });
    expect(world.held(2, 'a', 0)).toBe(1);
    // What the others do is not held up by it.
    await world.start(3);
    await world.rest();
    const ids = { from_peer_id: BigInt(world.id(0)), to_peer_id: BigInt(world.id(3)) };
    const move = () => world.operate(0, 'a', { move_shard: { shard_id: 0, ...ids } });
    expect(await move()).toMatchObject({ status: 200 });
    await world.until(() => world.isHealed(0, 1, 3) && world.holders(0, 'a', 0).includes(3));
  });

  test('leaves a volume that can not come back by starting over: it does not vote', async () => {
    const world = await World.of(3);
    await world.ask(0, 'DELETE', `/cluster/peer/${world.id(2)}`);
    await world.rest(1_000);
    await world.restart(2, { reinit: true });
    await world.rest();
    expect(await members(world, 0)).toContain('p2');
    expect(await world.get(2, '/cluster')).toMatchObject({
      raft_info: { is_voter: false },
      consensus_thread_status: { consensus_thread_status: 'stopped' },
    });
  });

  test('by force while it is down leaves a volume that starts over once, and then never again', async () => {
    const world = await World.of(3);
    await world.create(0, 'a', { shard_number: 3, replication_factor: 2 });
    world.kill(2);
    await world.rest();
    expect(await world.ask(0, 'DELETE', `/cluster/peer/${world.id(2)}?force=true`)).toMatchObject({ status: 200 });
    const id = world.id(2);
    expect(await world.start(2, { reinit: true })).toMatchObject({ is: 'serving' });
    await world.rest();
    expect(await raftInfo(world, 2)).toMatchObject({ is_voter: true });
    expect(world.id(2)).toBe(id);
    expect(await world.restart(2)).toMatchObject({
      is: 'exited',
      exitCode: 101,
      message: expect.stringContaining('Failed to load local shard'),
    });
  });

  test('and its volume lets it join anew, under a new id', async () => {
    const world = await World.of(3);
    const former = world.id(2);
    await world.ask(0, 'DELETE', `/cluster/peer/${former}`);
    await world.rest(1_000);
    world.kill(2);
    world.loseVolume(2);
    expect(await world.start(2)).toMatchObject({ is: 'serving' });
    expect(world.id(2)).not.toBe(former);
    expect(await members(world, 2)).toHaveLength(3);
  });
});

test('a server on its own says so to whoever asks for the cluster', async () => {
  const world = new World();
  await world.start(0, { isClustered: false });
  expect(await world.get(0, '/cluster')).toEqual({ status: 'disabled' });
  await world.create(0, 'a');
  const refusal = { status: 405, error: 'Qdrant is running in standalone mode' };
  expect(await world.operate(0, 'a', { drop_replica: { shard_id: 0, peer_id: 1 } })).toMatchObject(refusal);
  expect(await world.ask(0, 'DELETE', '/cluster/peer/1')).toMatchObject(refusal);
  expect(await world.ask(0, 'POST', '/cluster/recover')).toMatchObject(refusal);
  expect(await world.ask(0, 'GET', '/cluster/telemetry')).toMatchObject({ status: 500 });
  expect(await world.get(0, '/collections/a/cluster')).toMatchObject({ shard_count: 1 });
});
