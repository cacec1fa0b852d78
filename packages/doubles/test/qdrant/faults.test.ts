/** What can be wrong with a peer, on demand, and what it was asked. */
import { expect, test } from 'vitest';
import { numbersTo, World } from './world.ts';

const saying = (text: string) => expect.stringContaining(text);

test('a peer that hangs takes requests and answers when it goes on', async () => {
  const world = await World.of(3);
  world.cluster.setFaults(world.uri(1), { isHung: true });
  let isAnswered = false;
  const asked = world.asking(1, 'GET', '/healthz').finally(() => (isAnswered = true));
  await world.rest(60_000);
  expect(isAnswered).toBe(false);
  world.cluster.setFaults(world.uri(1), {});
  expect(await world.run(asked)).toMatchObject({ status: 200 });
});

test('a peer that refuses its clients is still a peer', async () => {
  const world = await World.of(3);
  await world.create(0, 'a', { shard_number: 1, replication_factor: 3 });
  await world.rest(1_000);
  world.cluster.setFaults(world.uri(1), { refusesClients: true });
  await expect(world.ask(1, 'GET', '/healthz')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect(await world.upsert(0, 'a', [1])).toMatchObject({ status: 200 });
  expect(world.held(1, 'a', 0)).toBe(1);
});

test('a peer that dies over a request closes the connection', async () => {
  const world = await World.of(3);
  const asked = world.asking(1, 'PUT', '/collections/a', { body: {} });
  world.kill(1);
  await expect(world.run(asked)).rejects.toMatchObject({ code: 'ECONNRESET' });
  await expect(world.ask(1, 'GET', '/healthz')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('a slow peer is slow to its clients and to its peers', async () => {
  const world = await World.of(2);
  await world.create(0, 'a', { shard_number: 1, replication_factor: 2 });
  world.cluster.setFaults(world.uri(1), { latencyMs: 700 });
  const before = world.clock.now();
  await world.ask(1, 'GET', '/collections');
  await world.upsert(0, 'a', [1]);
  expect(world.clock.now() - before).toBeGreaterThanOrEqual(1_400);
});

test('what a peer proposes can get lost, or be agreed on while its caller is told of a timeout', async () => {
  const world = await World.of(3);
  const create = (name: string) => world.ask(1, 'PUT', `/collections/${name}?timeout=2`, { body: {} });
  world.cluster.setFaults(world.uri(1), { consensus: 'lost' });
  expect(await create('lost')).toMatchObject({ status: 500, error: saying('Timeout set at: 2 seconds') });
  world.cluster.setFaults(world.uri(1), { consensus: 'late' });
  expect(await create('late')).toMatchObject({ status: 500, error: saying('Timeout set at: 2 seconds') });
  await world.rest();
  expect(await world.get(0, '/collections')).toEqual({ collections: [{ name: 'late' }] });
});

test('transfers of a peer can fail, again and again, until they do not', async () => {
  const world = await World.of(2);
  await world.create(0, 'a', { shard_number: 1 });
  await world.upsert(0, 'a', numbersTo(30));
  await world.rest(1_000);
  const [from = 0] = world.holders(0, 'a', 0);
  const ids = { from_peer_id: BigInt(world.id(from)), to_peer_id: BigInt(world.id(1 - from)) };
  world.cluster.setFaults(world.uri(1 - from), { failsTransfers: true });
  expect(await world.operate(0, 'a', { move_shard: { shard_id: 0, ...ids } })).toMatchObject({ status: 200 });
  await world.rest(30_000);
  expect(world.replicas(0, 'a', 0)).toEqual({ [`p${from}`]: 'Active' });
  await world.operate(0, 'a', { replicate_shard: { shard_id: 0, ...ids } });
  await world.rest(30_000);
  expect(world.isHealed(0)).toBe(false);
  world.cluster.setFaults(world.uri(1 - from), {});
  await world.until(() => world.isHealed(0, 1));
  expect(world.held(1 - from, 'a', 0)).toBe(30);
});

test('a full disk takes no points, no snapshots and no shards', async () => {
  const world = await World.of(1);
  await world.create(0, 'a');
  world.cluster.setFaults(world.uri(0), { isDiskFull: true });
  expect(await world.upsert(0, 'a', [1])).toMatchObject({ status: 500, error: saying('No space left on device') });
  expect(await world.ask(0, 'POST', '/collections/a/snapshots')).toMatchObject({
    status: 500,
    error: saying('No space left'),
  });
  await world.start(1);
  await world.rest();
  world.cluster.setFaults(world.uri(1), { isDiskFull: true });
  const ids = { from_peer_id: BigInt(world.id(0)), to_peer_id: BigInt(world.id(1)) };
  expect(await world.operate(0, 'a', { move_shard: { shard_id: 0, ...ids } })).toMatchObject({ status: 200 });
  await world.rest(30_000);
  expect(world.replicas(0, 'a', 0)).toEqual({ p0: 'Active' });
});

test('an answer can be another one, or none: before or after the request is carried out', async () => {
  const world = await World.of(1);
  const busy = { status: 429, headers: { 'retry-after': '60' }, body: Buffer.from('') };
  world.cluster.setFaults(world.uri(0), { answer: ({ method }) => (method === 'PUT' ? busy : undefined) });
  expect(await world.create(0, 'a')).toMatchObject({ status: 429, headers: { 'retry-after': '60' } });
  expect(await world.get(0, '/collections')).toEqual({ collections: [] });
  for (const [name, answer] of [
    ['before', 'close'],
    ['after', 'close-after'],
  ] as const) {
    world.cluster.setFaults(world.uri(0), { answer: () => answer });
    await expect(world.create(0, name)).rejects.toMatchObject({ code: 'ECONNRESET' });
  }
  world.cluster.setFaults(world.uri(0), {});
  expect(await world.get(0, '/collections')).toEqual({ collections: [{ name: 'after' }] });
});

test('peers on different sides of a cut do not reach each other; clients reach all of them', async () => {
  const world = await World.of(3);
  await world.create(0, 'a', { shard_number: 1, replication_factor: 3 });
  await world.upsert(0, 'a', numbersTo(10));
  world.cluster.partition([world.uri(0)], [world.uri(1), world.uri(2)]);
  await world.rest();
  expect(await world.upsert(1, 'a', numbersTo(20))).toMatchObject({ status: 200 });
  expect(await world.numbers(0, 'a')).toEqual(numbersTo(10));
  world.cluster.partition();
  await world.rest(2_000);
  await world.until(() => world.isHealed(0, 1, 2));
  expect(await world.numbers(0, 'a')).toEqual(numbersTo(20));
});

test('every request is in the log, with its time and its answer', async () => {
  const world = await World.of(1);
  await world.ask(0, 'GET', '/collections/nope');
  await world.create(0, 'a');
  expect(world.cluster.requests).toEqual([
    { at: expect.any(Number), host: 'p0', method: 'GET', path: '/collections/nope', status: 404 },
    { at: expect.any(Number), host: 'p0', method: 'PUT', path: '/collections/a', status: 200 },
  ]);
});

test('the same seed gives the same course', async () => {
  const course = async () => {
    const world = await World.of(3, 7);
    await world.create(0, 'a', { shard_number: 3, replication_factor: 2 });
    world.kill(1);
    await world.upsert(0, 'a', numbersTo(30));
    await world.start(1);
    await world.until(() => world.isHealed(0, 1, 2));
    return [world.clock.now(), world.peer(0).view, world.cluster.requests];
  };
  expect(await course()).toEqual(await course());
});

test('a cluster at rest does nothing', async () => {
  const world = await World.of(3);
  await world.create(0, 'a', { shard_number: 3, replication_factor: 2 });
  await world.rest(30_000);
  expect(world.clock.pending).toBe(0);
});
