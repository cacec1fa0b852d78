/** Where shards are, how they move, and what a cluster lets one do to them. */
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../qdrant/src/json.ts';
import { numbersTo, World } from './world.ts';

const saying = (text: string) => expect.stringContaining(text);
const between = (world: World, shard_id: number, from: number, to: number, more: JsonObject = {}) => ({
  shard_id,
  from_peer_id: BigInt(world.id(from)),
  to_peer_id: BigInt(world.id(to)),
  ...more,
});
const replica = (world: World, shard_id: number, at: number) => ({ shard_id, peer_id: BigInt(world.id(at)) });
const transfers = async (world: World, at: number) =>
  (await world.get(at, '/collections/a/cluster'))['shard_transfers'];

/** One shard with so many points on two of three peers; who holds it and who does not. */
async function oneShard(points = 30) {
  const world = await World.of(3);
  await world.create(0, 'a', { shard_number: 1, replication_factor: 2 });
  await world.upsert(0, 'a', numbersTo(points));
  await world.rest(1_000);
  const [one = 0, other = 0] = world.holders(0, 'a', 0);
  const free = 3 - one - other;
  return { world, one, other, free, points };
}

describe('placement', () => {
  test('is even, and never puts two replicas of a shard on one peer', async () => {
    const world = await World.of(3);
    await world.create(0, 'a', { shard_number: 6, replication_factor: 2 });
    const held = [0, 1, 2, 3, 4, 5].flatMap((shard) => world.holders(0, 'a', shard));
    expect([0, 1, 2].map((at) => held.filter((holder) => holder === at).length)).toEqual([4, 4, 4]);
  });

  test('gives no more replicas than there are peers, and keeps the number', async () => {
    const world = await World.of(3);
    await world.create(0, 'a', { shard_number: 1, replication_factor: 9 });
    expect(world.holders(0, 'a', 0)).toHaveLength(3);
    expect(await world.get(0, '/collections/a')).toMatchObject({ config: { params: { replication_factor: 9 } } });
  });

  test('does not follow a change of the factor, nor a peer that joins', async () => {
    const { world } = await oneShard();
    await world.ask(0, 'PATCH', '/collections/a', { body: { params: { replication_factor: 3 } } });
    await world.start(3);
    await world.rest(90_000);
    expect(world.holders(0, 'a', 0)).toHaveLength(2);
  });

  test('does not ask who lives: it takes its time, and what is on a dead peer comes with it', async () => {
    const world = await World.of(3);
    world.kill(2);
    await world.rest();
    const before = world.clock.now();
    expect(await world.create(0, 'a', { shard_number: 3 })).toMatchObject({ status: 200 });
    expect(world.clock.now() - before).toBeGreaterThan(10_000);
    const dead = [0, 1, 2].find((shard) => world.replicas(0, 'a', shard)['p2'] === 'Initializing') ?? 0;
    expect(await world.operate(0, 'a', { drop_replica: replica(world, dead, 2) })).toMatchObject({
      status: 400,
      error: `Bad request: Shard ${dead} must have at least one active replica after removing ${world.id(2)}`,
    });
    await world.start(2);
    await world.until(() => world.isHealed(0, 1, 2));
  });

  test('waits even longer for a peer that is silent', async () => {
    const world = await World.of(3);
    world.cluster.setFaults(world.uri(2), { isHung: true });
    const before = world.clock.now();
    expect(await world.create(0, 'a', { shard_number: 3 })).toMatchObject({ status: 200 });
    expect(world.clock.now() - before).toBeGreaterThan(18_000);
  });

  test('by keys starts with none, and counts from one', async () => {
    const world = await World.of(2);
    await world.create(0, 'a', { sharding_method: 'custom' });
    expect(await world.get(0, '/collections/a/cluster')).toMatchObject({ shard_count: 0 });
    for (const shard_key of [7, 'k1']) {
      expect(await world.operate(0, 'a', { create_sharding_key: { shard_key, shards_number: 1 } })).toMatchObject({
        status: 200,
      });
    }
    expect(await world.get(0, '/collections/a/shards')).toEqual({ shard_keys: [{ key: 7 }, { key: 'k1' }] });
    expect([1, 2].map((shard) => world.holders(0, 'a', shard).length)).toEqual([1, 1]);
    const point = { id: 1, vector: [1, 2, 3, 4] };
    const write = (body: JsonObject) => world.ask(0, 'PUT', '/collections/a/points?wait=true', { body });
    expect(await write({ points: [point] })).toMatchObject({
      status: 400,
      error: 'Wrong input: Shard key not specified',
    });
    expect(await write({ points: [point], shard_key: 'k1' })).toMatchObject({ status: 200 });
    expect([0, 1].map((at) => world.held(at, 'a', 2))).toContain(1);
    await world.create(0, 'auto');
    expect(await world.operate(0, 'auto', { create_sharding_key: { shard_key: 'k' } })).toMatchObject({
      status: 400,
      error: 'Bad request: Shard Key cannot be created with Auto sharding method',
    });
  });
});

describe('a transfer', () => {
  test('that moves a shard is answered when it is accepted, takes its time, and leaves the source empty', async () => {
    const { world, one, other, free } = await oneShard(800);
    expect(await world.operate(0, 'a', { move_shard: between(world, 0, one, free) })).toMatchObject({
      status: 200,
      result: true,
    });
    await world.until(() => world.replicas(one, 'a', 0)[`p${free}`] !== undefined);
    const listed = {
      shard_id: 0,
      from: Number(world.id(one)),
      to: Number(world.id(free)),
      sync: false,
      method: 'snapshot',
    };
    // Only the source knows how far it is.
    expect(await transfers(world, one)).toEqual([{ ...listed, comment: saying('transferring (') }]);
    await world.rest(300);
    expect(await transfers(world, free)).toEqual([listed]);
    await world.until(() => world.isHealed(0, 1, 2) && !world.holders(0, 'a', 0).includes(one));
    expect(world.replicas(0, 'a', 0)).toEqual({ [`p${other}`]: 'Active', [`p${free}`]: 'Active' });
    expect([one, other, free].map((at) => world.held(at, 'a', 0))).toEqual([undefined, 800, 800]);
  });

  test('by snapshot goes from Recovery over Partial to Active; by records from Partial to Active', async () => {
    for (const [method, expected] of [
      ['snapshot', ['Recovery', 'Partial', 'Active']],
      ['stream_records', ['Partial', 'Active']],
    ] as const) {
      const { world, one, free } = await oneShard();
      await world.operate(one, 'a', { replicate_shard: between(world, 0, one, free, { method }) });
      const seen: string[] = [];
      await world.until(() => {
        const state = world.replicas(one, 'a', 0)[`p${free}`];
        if (state !== undefined && seen.at(-1) !== state) seen.push(state);
        return state === 'Active';
      });
      expect(seen).toEqual(expected);
      expect(world.held(free, 'a', 0)).toBe(30);
    }
  });

  test('is by records, unless told otherwise, before version 1.18', async () => {
    const world = new World();
    for (const at of [0, 1]) await world.start(at, { version: '1.17.1' });
    await world.rest();
    await world.create(0, 'a', { shard_number: 1 });
    await world.rest(1_000);
    const [one = 0] = world.holders(0, 'a', 0);
    await world.operate(one, 'a', { replicate_shard: between(world, 0, one, 1 - one) });
    expect(await transfers(world, one)).toMatchObject([{ method: 'stream_records' }]);
  });

  test('of the log to a peer that has nothing becomes one by snapshot', async () => {
    const { world, one, free } = await oneShard();
    await world.operate(one, 'a', { replicate_shard: between(world, 0, one, free, { method: 'wal_delta' }) });
    await world.until(() => world.peer(one).view.collections['a']?.transfers.length === 1);
    expect(await transfers(world, one)).toMatchObject([{ method: 'snapshot', sync: true }]);
  });

  test('onto a peer that already has the shard is accepted, and costs a replica', async () => {
    const { world, one, other } = await oneShard();
    expect(await world.operate(0, 'a', { move_shard: between(world, 0, one, other) })).toMatchObject({ status: 200 });
    await world.until(() => world.replicas(0, 'a', 0)[`p${other}`] !== 'Active');
    await world.until(() => world.isHealed(0, 1, 2));
    expect(world.replicas(0, 'a', 0)).toEqual({ [`p${other}`]: 'Active' });
    expect(world.held(other, 'a', 0)).toBe(30);
  });

  test('onto a peer that already has the shard costs a replica also if it is aborted', async () => {
    const { world, one, other } = await oneShard();
    await world.operate(one, 'a', { move_shard: between(world, 0, one, other) });
    expect(await world.operate(one, 'a', { abort_transfer: between(world, 0, one, other) })).toMatchObject({
      status: 200,
    });
    await world.rest();
    expect(world.replicas(0, 'a', 0)).toEqual({ [`p${one}`]: 'Active' });
  });

  test('that moves can be aborted: its target is gone', async () => {
    const { world, one, other, free } = await oneShard();
    await world.operate(one, 'a', { move_shard: between(world, 0, one, free) });
    await world.operate(one, 'a', { abort_transfer: between(world, 0, one, free) });
    await world.rest();
    expect(world.replicas(0, 'a', 0)).toEqual({ [`p${one}`]: 'Active', [`p${other}`]: 'Active' });
    expect(world.held(free, 'a', 0)).toBeUndefined();
  });

  test('that replicates is not cancelled by an abort: the target dies, and heals by itself', async () => {
    const { world, one, free } = await oneShard();
    await world.operate(one, 'a', { replicate_shard: between(world, 0, one, free) });
    await world.operate(one, 'a', { abort_transfer: between(world, 0, one, free) });
    expect(world.replicas(one, 'a', 0)[`p${free}`]).toBe('Dead');
    await world.until(() => world.isHealed(0, 1, 2));
    expect(world.holders(0, 'a', 0)).toHaveLength(3);
    expect(world.held(free, 'a', 0)).toBe(30);
  });

  test('that replicates is cancelled by dropping its target', async () => {
    const { world, one, free } = await oneShard();
    await world.operate(one, 'a', { replicate_shard: between(world, 0, one, free) });
    expect(await world.operate(one, 'a', { drop_replica: replica(world, 0, free) })).toMatchObject({ status: 200 });
    await world.rest();
    expect(world.holders(0, 'a', 0)).toHaveLength(2);
    expect(world.isHealed(0, 1, 2)).toBe(true);
  });

  test('whose source dies stays listed until the source is back', async () => {
    const { world, one, free } = await oneShard(2_000);
    await world.operate(free, 'a', { replicate_shard: between(world, 0, one, free, { method: 'stream_records' }) });
    await world.until(() => world.peer(one).view.collections['a']?.transfers.length === 1);
    world.kill(one);
    await world.rest(60_000);
    expect(await transfers(world, free)).toHaveLength(1);
    expect(world.replicas(free, 'a', 0)[`p${free}`]).toBe('Partial');
    await world.start(one);
    await world.until(() => world.isHealed(0, 1, 2));
    expect(world.held(free, 'a', 0)).toBe(2_000);
  });

  test('whose target dies ends after some seconds: a move without it, a replication with a dead replica', async () => {
    const { world, one, free } = await oneShard();
    await world.operate(one, 'a', { move_shard: between(world, 0, one, free) });
    world.kill(free);
    // It may have been the leader: then the others have to agree on another one first.
    await world.until(() => world.holders(one, 'a', 0).length === 2);
    expect(await world.operate(one, 'a', { replicate_shard: between(world, 0, one, free) })).toMatchObject({
      status: 200,
    });
    await world.until(() => world.replicas(one, 'a', 0)[`p${free}`] === 'Dead');
    await world.start(free);
    await world.until(() => world.isHealed(0, 1, 2));
  });

  test('does not lose what is written while it runs', async () => {
    const { world, one, other, free } = await oneShard(300);
    await world.operate(0, 'a', { move_shard: between(world, 0, one, free) });
    for (let number = 301; number <= 400; number++) {
      expect(await world.upsert(number % 3, 'a', [number])).toMatchObject({ status: 200 });
      await world.rest(20);
    }
    await world.until(() => world.isHealed(0, 1, 2));
    expect([other, free].map((at) => world.held(at, 'a', 0))).toEqual([400, 400]);
  });

  test('conflicts with another of the same shard, and with no other', async () => {
    const world = await World.of(3);
    await world.create(0, 'a', { shard_number: 2, replication_factor: 1 });
    const [[from = 0], [second = 0]] = [world.holders(0, 'a', 0), world.holders(0, 'a', 1)];
    const to = (from + 1) % 3;
    await world.operate(0, 'a', { replicate_shard: between(world, 0, from, to) });
    expect(await world.operate(0, 'a', { move_shard: between(world, 0, from, (from + 2) % 3) })).toMatchObject({
      status: 400,
      error: `Bad request: Shard 0 is already involved in transfer ${world.id(from)} -> ${world.id(to)}`,
    });
    expect(await world.operate(0, 'a', { replicate_shard: between(world, 1, second, (second + 1) % 3) })).toMatchObject(
      { status: 200 },
    );
  });

  test('is restarted with another method only', async () => {
    const { world, one, free } = await oneShard(2_000);
    await world.operate(one, 'a', { replicate_shard: between(world, 0, one, free, { method: 'stream_records' }) });
    const restart = (method: string) =>
      world.operate(one, 'a', { restart_transfer: between(world, 0, one, free, { method }) });
    expect(await restart('stream_records')).toMatchObject({
      status: 400,
      error: saying('its configuration did not change'),
    });
    expect(await restart('snapshot')).toMatchObject({ status: 200 });
    expect(await transfers(world, one)).toMatchObject([{ method: 'snapshot' }]);
    await world.until(() => world.isHealed(0, 1, 2));
    expect(world.held(free, 'a', 0)).toBe(2_000);
  });
});

test('operations that make no sense are refused in these words', async () => {
  const { world, one, other, free } = await oneShard();
  const refusals = [
    [{ move_shard: between(world, 0, one, one) }, 422, 'cannot transfer shard to itself'],
    [{ move_shard: between(world, 0, free, one) }, 400, `Bad request: Shard 0 is not active on peer ${world.id(free)}`],
    [{ move_shard: between(world, 77, one, free) }, 400, 'Bad request: Shard 77 of a does not exist'],
    [
      { move_shard: { ...between(world, 0, one, free), to_peer_id: 12_345 } },
      400,
      'Bad request: Peer 12345 does not exist',
    ],
    [
      { move_shard: { ...between(world, 0, one, free), to_peer_id: world.id(free) } },
      400,
      'untagged enum ClusterOperations',
    ],
    [{ move_shard: between(world, 0, one, free, { method: 'magic' }) }, 400, 'untagged enum ClusterOperations'],
    [{ drop_replica: replica(world, 0, free) }, 400, `Bad request: Peer ${world.id(free)} has no replica of shard 0`],
    [
      { abort_transfer: between(world, 0, one, free) },
      404,
      `Not found: Shard transfer ${world.id(one)} -> ${world.id(free)} for collection a:0 does not exist`,
    ],
    [{ start_resharding: { direction: 'up' } }, 400, 'Bad request: resharding is only supported in Qdrant Cloud'],
    [{ abort_resharding: {} }, 400, 'Bad request: resharding is not in progress for collection a'],
    [{ nonsense: {} }, 400, 'untagged enum ClusterOperations'],
  ] as const;
  for (const [body, status, text] of refusals) {
    expect(await world.operate(0, 'a', body)).toMatchObject({ status, error: saying(text) });
  }
  expect(await world.operate(0, 'a', { drop_replica: replica(world, 0, one) })).toMatchObject({ status: 200 });
  await world.rest();
  expect(await world.operate(0, 'a', { drop_replica: replica(world, 0, other) })).toMatchObject({
    status: 400,
    error: `Bad request: Shard 0 must have at least one active replica after removing ${world.id(other)}`,
  });
});

describe('a dead peer', () => {
  test('keeps its replicas Active in every view until a write misses it', async () => {
    const { world, one, other, free } = await oneShard();
    world.kill(one);
    await world.rest(60_000);
    await world.numbers(free, 'a');
    for (const at of [other, free]) expect(world.replicas(at, 'a', 0)[`p${one}`]).toBe('Active');
    expect((await world.ask(other, 'GET', '/metrics')).text).toContain('collection_dead_replicas 0');
    expect(await world.upsert(free, 'a', [31])).toMatchObject({ status: 200 });
    await world.rest(300);
    for (const at of [other, free]) expect(world.replicas(at, 'a', 0)[`p${one}`]).toBe('Dead');
    const metrics = (await world.ask(other, 'GET', '/metrics')).text;
    expect(metrics).toContain('collection_dead_replicas 1');
    expect(metrics).toContain('collection_active_replicas_min 1');
  });

  test('counts as Active when the last live replica is dropped', async () => {
    const { world, one, other, free } = await oneShard();
    world.kill(one);
    await world.rest();
    expect(await world.operate(free, 'a', { drop_replica: replica(world, 0, other) })).toMatchObject({ status: 200 });
    await world.rest(1_000);
    expect(await world.ask(free, 'POST', '/collections/a/points/count', { body: {} })).toMatchObject({ status: 500 });
  });

  test('that comes back is filled again, shard by shard', async () => {
    const world = await World.of(3);
    await world.create(0, 'a', { shard_number: 6, replication_factor: 3 });
    world.kill(2);
    await world.rest();
    await world.upsert(0, 'a', numbersTo(60));
    await world.start(2);
    let most = 0;
    await world.until(() => {
      most = Math.max(most, world.peer(2).view.collections['a']?.transfers.length ?? 0);
      return world.isHealed(0, 1, 2);
    });
    expect(most).toBe(1);
    const held = [0, 1, 2, 3, 4, 5].map((shard) => world.held(2, 'a', shard) ?? 0);
    expect(held.reduce((sum, count) => sum + count, 0)).toBe(60);
  });
});

test('scaling down by moving every replica loses nothing', async () => {
  const world = await World.of(3);
  await world.create(0, 'a', { shard_number: 3, replication_factor: 2 });
  await world.upsert(0, 'a', numbersTo(90));
  for (const shard of [0, 1, 2]) {
    if (!world.holders(0, 'a', shard).includes(2)) continue;
    const to = [0, 1].find((at) => !world.holders(0, 'a', shard).includes(at)) ?? 0;
    expect(
      await world.operate(0, 'a', { move_shard: between(world, shard, 2, to, { method: 'stream_records' }) }),
    ).toMatchObject({ status: 200 });
    await world.until(() => world.isHealed(0, 1, 2) && !world.holders(0, 'a', shard).includes(2));
  }
  for (const at of [0, 1]) {
    expect(await world.ask(at, 'DELETE', `/cluster/peer/${world.id(2)}`)).toMatchObject({ status: 200, result: true });
  }
  world.kill(2);
  await world.rest();
  for (const at of [0, 1]) {
    expect(Object.keys(world.peer(at).view.peers)).toHaveLength(2);
    expect(await world.numbers(at, 'a')).toEqual(numbersTo(90));
  }
});
