/** Who gets a write, who is asked for a read, and what is acknowledged. */
import { describe, expect, test } from 'vitest';
import { numbersTo, World } from './world.ts';

const saying = (text: string) => expect.stringContaining(text);

/** Three shards on three peers, each on so many of them. */
async function collection(replication_factor: number, write_consistency_factor = 1) {
  const world = await World.of(3);
  await world.create(0, 'a', { shard_number: 3, replication_factor, write_consistency_factor });
  await world.rest(1_000);
  return world;
}

test('a write reaches all replicas, and is read back at any peer', async () => {
  const world = await collection(2);
  expect(await world.upsert(1, 'a', numbersTo(90))).toMatchObject({ status: 200, result: { status: 'completed' } });
  for (const at of [0, 1, 2]) expect(await world.numbers(at, 'a')).toEqual(numbersTo(90));
  for (const shard of [0, 1, 2]) {
    const [one = 0, other = 0] = world.holders(0, 'a', shard);
    expect(world.held(one, 'a', shard)).toBeGreaterThan(10);
    expect(world.held(one, 'a', shard)).toBe(world.held(other, 'a', shard));
  }
  expect(await world.ask(0, 'POST', '/collections/a/points/count', { body: {} })).toMatchObject({
    result: { count: 90 },
  });
});

test('a write that is not waited for is acknowledged, and a 200 all the same', async () => {
  const world = await collection(2);
  expect(await world.upsert(0, 'a', [1], false)).toMatchObject({ status: 200, result: { status: 'acknowledged' } });
});

test('points are upserted in batches, scrolled in pages, fetched and deleted', async () => {
  const world = await collection(2);
  const uuid = '5c56c793-69f3-4fbf-87e6-c4bf54c28c26';
  const batch = {
    ids: [3, 1, uuid],
    vectors: [
      [1, 0, 0, 0],
      [2, 0, 0, 0],
      [3, 0, 0, 0],
    ],
    payloads: [{ x: 3 }, { x: 1 }],
  };
  await world.ask(0, 'PUT', '/collections/a/points?wait=true', { body: { batch } });
  const scroll = (body: object) => world.ask(1, 'POST', '/collections/a/points/scroll', { body: { ...body } });
  expect(await scroll({ limit: 2 })).toMatchObject({
    result: {
      points: [
        { id: 1, payload: { x: 1 } },
        { id: 3, payload: { x: 3 } },
      ],
      next_page_offset: uuid,
    },
  });
  expect(await scroll({ offset: uuid })).toMatchObject({ result: { points: [{ id: uuid }], next_page_offset: null } });
  expect(await world.get(2, '/collections/a/points/3')).toMatchObject({ id: 3, vector: [1, 0, 0, 0] });
  await world.ask(0, 'POST', '/collections/a/points/delete?wait=true', { body: { points: [3] } });
  expect(await world.ask(2, 'GET', '/collections/a/points/3')).toMatchObject({ status: 404 });
});

test('a vector of the wrong size, and an id that is none, are refused', async () => {
  const world = await collection(1);
  const write = (id: string | number, vector: readonly number[]) =>
    world.ask(0, 'PUT', '/collections/a/points', { body: { points: [{ id, vector }] } });
  expect(await write(1, [1, 2, 3])).toMatchObject({
    status: 400,
    error: 'Wrong input: Vector dimension error: expected dim: 4, got 3',
  });
  expect(await write('abc', [1, 2, 3, 4])).toMatchObject({ status: 400, error: saying('is not a valid point ID') });
});

describe('with a dead peer', () => {
  test('reads go to the other replicas, and writes mark those that missed them', async () => {
    const world = await collection(2);
    await world.upsert(0, 'a', numbersTo(30));
    world.kill(2);
    for (const at of [0, 1]) expect(await world.numbers(at, 'a')).toEqual(numbersTo(30));
    expect(await world.upsert(1, 'a', numbersTo(60))).toMatchObject({ status: 200 });
    await world.rest(1_000);
    const states = [0, 1, 2].map((shard) => world.replicas(0, 'a', shard)['p2']).filter((state) => state !== undefined);
    expect(states).toEqual(['Dead', 'Dead']);
    await world.start(2);
    await world.until(() => world.isHealed(0, 1, 2));
    expect(await world.numbers(2, 'a')).toEqual(numbersTo(60));
  });

  test('a shard that is nowhere else fails reads, writes and the description of its collection', async () => {
    const world = await collection(1);
    await world.upsert(0, 'a', numbersTo(30));
    world.kill(2);
    const failure = {
      status: 500,
      error: saying('1 of 1 read operations failed:\n  Service internal error: Tonic status error'),
    };
    expect(await world.ask(0, 'POST', '/collections/a/points/count', { body: {} })).toMatchObject(failure);
    expect(await world.ask(0, 'GET', '/collections/a')).toMatchObject(failure);
    expect(await world.upsert(0, 'a', numbersTo(30))).toMatchObject({
      status: 500,
      error: saying('1 out of 3 shards failed to apply operation. First error captured: Service internal error: Tonic'),
    });
  });

  test('a write that must reach two fails, and marks nobody', async () => {
    const world = await collection(2, 2);
    world.kill(2);
    expect(await world.upsert(0, 'a', numbersTo(30))).toMatchObject({
      status: 500,
      error: saying('2 out of 3 shards failed to apply operation. First error captured: '),
    });
    await world.rest();
    for (const shard of [0, 1, 2]) expect(Object.values(world.replicas(0, 'a', shard))).toEqual(['Active', 'Active']);
  });

  test('a write that only a replica got that is still being filled is not acknowledged', async () => {
    const world = await World.of(3);
    await world.create(0, 'a', { shard_number: 1 });
    await world.upsert(0, 'a', numbersTo(2_000));
    await world.rest(1_000);
    const [from = 0] = world.holders(0, 'a', 0);
    const to = (from + 1) % 3;
    const ids = { from_peer_id: BigInt(world.id(from)), to_peer_id: BigInt(world.id(to)) };
    await world.operate(to, 'a', { replicate_shard: { shard_id: 0, ...ids, method: 'stream_records' } });
    world.kill(from);
    expect(world.replicas(to, 'a', 0)).toEqual({ [`p${from}`]: 'Active', [`p${to}`]: 'Partial' });
    expect(await world.upsert(to, 'a', [2_001])).toMatchObject({
      status: 500,
      error: saying('at least one `Active` replica'),
    });
  });

  test('a write that can not be marked is not acknowledged', async () => {
    const world = await collection(3);
    for (const at of [1, 2]) world.kill(at);
    const before = world.clock.now();
    expect(await world.upsert(0, 'a', [1])).toMatchObject({
      status: 500,
      error: saying('Consistency of this operation is not guaranteed'),
    });
    expect(world.clock.now() - before).toBeGreaterThanOrEqual(30_000);
  });
});

test.each([
  [1, 2],
  [2, 3],
])('of %i replicas no more than that are asked for, though %i should be written', async (factor, consistency) => {
  const world = await collection(factor, consistency);
  expect(await world.upsert(0, 'a', numbersTo(30))).toMatchObject({ status: 200 });
});

test('a silent peer delays the first write that needs it, and the reads that have no other', async () => {
  const world = await collection(2);
  await world.create(0, 'single', { shard_number: 3 });
  await world.upsert(0, 'a', numbersTo(30));
  world.cluster.setFaults(world.uri(2), { isHung: true });
  expect(await world.numbers(0, 'a')).toEqual(numbersTo(30));
  const before = world.clock.now();
  expect(await world.upsert(0, 'a', numbersTo(31))).toMatchObject({ status: 200 });
  expect(world.clock.now() - before).toBeGreaterThan(9_000);
  const marked = world.clock.now();
  expect(await world.upsert(0, 'a', numbersTo(32))).toMatchObject({ status: 200 });
  expect(world.clock.now() - marked).toBeLessThan(1_000);
  expect(await world.ask(0, 'POST', '/collections/single/points/count', { body: {} })).toMatchObject({ status: 500 });
  world.cluster.setFaults(world.uri(2), {});
  await world.until(() => world.isHealed(0, 1, 2));
  expect(await world.numbers(2, 'a')).toEqual(numbersTo(32));
});
