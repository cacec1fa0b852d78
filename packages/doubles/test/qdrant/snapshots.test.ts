/** Snapshots: what is in them, and what restoring one does to everybody else. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { isObject, type Json, numberAt, stringAt } from '../../qdrant/src/json.ts';
import { numbersTo, World } from './world.ts';

const saying = (text: string) => expect.stringContaining(text);

/** A collection of two shards with so many replicas each, and thirty points. */
async function filled(replication_factor: number, peers = 3) {
  const world = await World.of(peers);
  await world.create(0, 'a', { shard_number: 2, replication_factor });
  await world.upsert(0, 'a', numbersTo(30));
  await world.rest(1_000);
  return world;
}

async function made(world: World, at: number, path: string) {
  const { result, text } = await world.ask(at, 'POST', path);
  if (!isObject(result)) throw new Error(text);
  const [name = '', checksum = '', createdAt = ''] = ['name', 'checksum', 'creation_time'].map((key) =>
    stringAt(result, key),
  );
  return { name, checksum, createdAt, size: numberAt(result, 'size') };
}

/** The bytes of a new snapshot. */
async function taken(world: World, at: number, path: string): Promise<Uint8Array> {
  const { name } = await made(world, at, path);
  return Buffer.from((await world.ask(at, 'GET', `${path}/${name}`)).text);
}

function upload(world: World, at: number, path: string, file: Uint8Array, field = 'snapshot') {
  const head = `--b\r\nContent-Disposition: form-data; name="${field}"; filename="x"\r\n\r\n`;
  const bytes = Buffer.concat([Buffer.from(head), file, Buffer.from('\r\n--b--\r\n')]);
  return world.ask(at, 'POST', path, { bytes, headers: { 'content-type': 'multipart/form-data; boundary=b' } });
}

const holdersOf = (world: World, shard: number) => world.holders(0, 'a', shard);

describe('a snapshot', () => {
  test('is named after its collection, its peer and its second, and is what its checksum says', async () => {
    const world = await filled(2);
    const { name, size, checksum, createdAt } = await made(world, 1, '/collections/a/snapshots');
    expect(name).toMatch(new RegExp(`^a-${world.id(1)}-\\d{4}-\\d\\d-\\d\\d-\\d\\d-\\d\\d-\\d\\d\\.snapshot$`));
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
    const { text, headers } = await world.ask(1, 'GET', `/collections/a/snapshots/${name}`);
    expect(headers).toMatchObject({ 'content-type': 'application/octet-stream', 'content-length': String(size) });
    expect(createHash('sha256').update(text).digest('hex')).toBe(checksum);
  });

  test('is with the peer that made it, and with no other', async () => {
    const world = await filled(2);
    const { name } = await made(world, 1, '/collections/a/snapshots');
    expect((await world.ask(0, 'GET', '/collections/a/snapshots')).result).toEqual([]);
    expect(await world.ask(0, 'GET', `/collections/a/snapshots/${name}`)).toMatchObject({
      status: 404,
      headers: { 'content-type': saying('text/plain') },
      text: `Not found: Snapshot ${name} not found`,
    });
    expect(await world.ask(0, 'DELETE', `/collections/a/snapshots/${name}`)).toMatchObject({
      status: 404,
      error: saying('not found'),
    });
    expect(await world.ask(1, 'DELETE', `/collections/a/snapshots/${name}`)).toMatchObject({
      status: 200,
      result: true,
    });
    expect((await world.ask(1, 'GET', '/collections/a/snapshots')).result).toEqual([]);
  });

  test('has the name of another one of the same second, and takes its place', async () => {
    const world = await filled(2);
    const first = await made(world, 0, '/collections/a/snapshots');
    await world.upsert(0, 'a', [31, 32, 33]);
    const second = await made(world, 0, '/collections/a/snapshots');
    expect(second.name).toBe(first.name);
    expect(second.checksum).not.toBe(first.checksum);
    expect((await world.ask(0, 'GET', '/collections/a/snapshots')).result).toHaveLength(1);
  });

  test('that is not waited for is only accepted', async () => {
    const world = await filled(2);
    const { status, json } = await world.ask(0, 'POST', '/collections/a/snapshots?wait=false');
    expect({ status, json }).toEqual({ status: 202, json: { status: 'accepted', time: expect.any(Number) } });
  });

  test('of a shard exists where the shard does', async () => {
    const world = await filled(1);
    const [holder = 0] = holdersOf(world, 0);
    const stranger = (holder + 1) % 3;
    expect((await made(world, holder, '/collections/a/shards/0/snapshots')).name).toMatch(/^a-shard-0-2026-/);
    const path = '/collections/a/shards/0/snapshots';
    expect(await world.ask(stranger, 'POST', path)).toMatchObject({
      status: 400,
      error: 'Wrong input: Shard 0 is not a local or queue proxy shard',
    });
    expect(await world.ask(stranger, 'GET', path)).toMatchObject({
      status: 400,
      error: 'Wrong input: Shard 0 is not a local shard',
    });
    expect(await world.ask(holder, 'POST', '/collections/a/shards/99/snapshots')).toMatchObject({
      status: 404,
      error: 'Not found: shard 99 not found',
    });
    const { status, headers } = await world.ask(holder, 'GET', '/collections/a/shards/0/snapshot');
    expect({ status, headers }).toEqual({
      status: 200,
      headers: { 'content-type': 'application/octet-stream', 'transfer-encoding': 'chunked' },
    });
  });

  test('of everything can be made in a cluster', async () => {
    const world = await filled(1);
    expect((await made(world, 0, '/snapshots')).name).toMatch(/^full-snapshot-/);
  });
});

describe('an upload', () => {
  test('without the field, or of something else, is refused', async () => {
    const world = await filled(2);
    const file = await taken(world, 0, '/collections/a/snapshots');
    expect(await upload(world, 0, '/collections/a/snapshots/upload', file, 'other')).toMatchObject({
      status: 400,
      text: 'Required field is missing: snapshot',
    });
    expect(await upload(world, 0, '/collections/a/snapshots/upload', Buffer.from('junk'))).toMatchObject({
      status: 500,
      error: 'Service internal error: File IO error: Malformed tar archive, reached unknown entry',
    });
    expect(await upload(world, 0, '/collections/a/snapshots/upload?priority=bogus', file)).toMatchObject({
      status: 400,
      error: saying('unknown variant `bogus`, expected one of `no_sync`, `snapshot`, `replica`'),
    });
    const [holder = 0] = holdersOf(world, 0);
    const shardFile = await taken(world, holder, '/collections/a/shards/0/snapshots');
    expect(await upload(world, 0, '/collections/a/shards/0/snapshots/upload', file)).toMatchObject({
      status: 400,
      error: 'Bad request: Invalid snapshot',
    });
    expect(await upload(world, 0, '/collections/a/snapshots/upload', shardFile)).toMatchObject({
      status: 500,
      error: saying('config.json: No such file'),
    });
  });

  test('with a wrong checksum is refused, its words the wrong way round', async () => {
    const world = await filled(2);
    const file = await taken(world, 0, '/collections/a/snapshots');
    const computed = createHash('sha256').update(file).digest('hex');
    expect(await upload(world, 0, '/collections/a/snapshots/upload?checksum=f00', file)).toMatchObject({
      status: 400,
      error: `Checksum mismatch: expected ${computed}, actual f00`,
    });
  });

  test('into a collection of another shape is refused', async () => {
    const world = await filled(2);
    const file = await taken(world, 0, '/collections/a/snapshots');
    await world.create(0, 'three', { shard_number: 3 });
    expect(await upload(world, 0, '/collections/three/snapshots/upload', file)).toMatchObject({
      status: 400,
      error:
        'Wrong input: Snapshot is not compatible with existing collection: Collection shard number: 3 Snapshot shard number: 2',
    });
  });

  test('for a collection that is missing creates it, on all peers', async () => {
    const world = await filled(3);
    const file = await taken(world, 0, '/collections/a/snapshots');
    expect(await upload(world, 0, '/collections/copy/snapshots/upload', file)).toMatchObject({
      status: 200,
      result: true,
    });
    await world.rest(2_000);
    await world.until(() => world.isHealed(0, 1, 2));
    for (const at of [0, 1, 2]) expect(await world.numbers(at, 'copy')).toEqual(numbersTo(30));
    expect(world.holders(0, 'copy', 0)).toHaveLength(3);
  });

  test('with priority for the snapshot replaces what is there, and the other replicas follow a moment later', async () => {
    const world = await filled(3);
    const file = await taken(world, 0, '/collections/a/snapshots');
    await world.upsert(0, 'a', numbersTo(60));
    await world.rest(1_000);
    expect(await upload(world, 0, '/collections/a/snapshots/upload?priority=snapshot', file)).toMatchObject({
      status: 200,
    });
    expect(world.replicas(0, 'a', 0)).toMatchObject({ p0: 'ManualRecovery', p1: 'Active', p2: 'Active' });
    await world.until(() => world.replicas(0, 'a', 0)['p1'] === 'Dead');
    await world.until(() => world.isHealed(0, 1, 2));
    for (const at of [0, 1, 2]) expect(await world.numbers(at, 'a')).toEqual(numbersTo(30));
  });

  test('with no priority at all has that of the snapshot', async () => {
    const world = await filled(3);
    const file = await taken(world, 0, '/collections/a/snapshots');
    await world.upsert(0, 'a', numbersTo(60));
    await upload(world, 0, '/collections/a/snapshots/upload', file);
    await world.rest(2_000);
    await world.until(() => world.isHealed(0, 1, 2));
    expect(await world.numbers(1, 'a')).toEqual(numbersTo(30));
  });

  test('without synchronisation leaves active replicas that differ', async () => {
    const world = await filled(3);
    const file = await taken(world, 0, '/collections/a/snapshots');
    await world.upsert(0, 'a', numbersTo(60));
    await upload(world, 0, '/collections/a/snapshots/upload?priority=no_sync', file);
    await world.rest(60_000);
    expect(world.isHealed(0, 1, 2)).toBe(true);
    expect(await world.numbers(0, 'a')).toEqual(numbersTo(30));
    expect(await world.numbers(1, 'a')).toEqual(numbersTo(60));
  });

  test('of a collection with priority for its replicas stops the consensus of the whole cluster', async () => {
    const world = await filled(2);
    const file = await taken(world, 0, '/collections/a/snapshots');
    expect(await upload(world, 0, '/collections/a/snapshots/upload?priority=replica&wait=true', file)).toMatchObject({
      status: 200,
      result: true,
    });
    await world.rest(5_000);
    for (const at of [0, 1, 2]) {
      expect(await world.get(at, '/cluster')).toMatchObject({
        consensus_thread_status: {
          consensus_thread_status: 'stopped_with_err',
          err: saying(
            'has no method set; the coordinating peer must pick a transfer method before submitting to consensus; restarting',
          ),
        },
      });
      expect(await world.restart(at)).toMatchObject({ is: 'exited', exitCode: 101 });
    }
  });

  test('of a collection with priority for its replicas is harmless if there are none', async () => {
    const world = await filled(1, 1);
    const file = await taken(world, 0, '/collections/a/snapshots');
    await upload(world, 0, '/collections/a/snapshots/upload?priority=replica', file);
    await world.rest(5_000);
    expect(await world.get(0, '/cluster')).toMatchObject({
      consensus_thread_status: { consensus_thread_status: 'working' },
    });
    expect(await world.numbers(0, 'a')).toEqual(numbersTo(30));
  });
});

describe('an upload into a shard', () => {
  const shardUpload = (world: World, at: number, shard: number, file: Uint8Array, priority = 'snapshot') =>
    upload(world, at, `/collections/a/shards/${shard}/snapshots/upload?priority=${priority}`, file);

  test('answers with null, and restores a collection shard by shard, its index with it', async () => {
    const world = await filled(2);
    await world.ask(0, 'PUT', '/collections/a/index', { body: { field_name: 'number', field_schema: 'integer' } });
    await world.rest(1_000);
    const files = new Map<number, Uint8Array>();
    for (const shard of [0, 1]) {
      const [holder = 0] = holdersOf(world, shard);
      files.set(shard, await taken(world, holder, `/collections/a/shards/${shard}/snapshots`));
    }
    await world.ask(0, 'DELETE', '/collections/a');
    await world.create(0, 'a', { shard_number: 2, replication_factor: 2 });
    await world.upsert(0, 'a', [1_000]);
    await world.rest(1_000);
    for (const [shard, file] of files) {
      const [holder = 0] = holdersOf(world, shard);
      expect(await shardUpload(world, holder, shard, file)).toMatchObject({ status: 200, result: null });
    }
    await world.rest(2_000);
    await world.until(() => world.isHealed(0, 1, 2));
    for (const at of [0, 1, 2]) expect(await world.numbers(at, 'a')).toEqual(numbersTo(30));
    expect([0, 1].map((shard) => holdersOf(world, shard).length)).toEqual([2, 2]);
    expect(await world.get(0, '/collections/a')).toMatchObject({
      payload_schema: { number: { data_type: 'integer', points: 30 } },
    });
  });

  test('compares nothing: the file of another shard, or of other vectors, becomes the shard', async () => {
    const world = await filled(1);
    const [holder = 0] = holdersOf(world, 0);
    const [other = 0] = holdersOf(world, 1);
    const file = await taken(world, other, '/collections/a/shards/1/snapshots');
    expect(await shardUpload(world, holder, 0, file)).toMatchObject({ status: 200 });
    await world.rest(5_000);
    expect(world.held(holder, 'a', 0)).toBe(world.held(other, 'a', 1));
    await world.create(0, 'wide', { shard_number: 1, vectors: { size: 8, distance: 'Dot' } });
    await world.rest(1_000);
    const [wide = 0] = world.holders(0, 'wide', 0);
    expect(await upload(world, wide, '/collections/wide/shards/0/snapshots/upload', file)).toMatchObject({
      status: 200,
    });
  });

  test('on a peer without the shard adds a replica, and none is taken away for it', async () => {
    const world = await filled(2);
    const [holder = 0] = holdersOf(world, 0);
    const stranger = [0, 1, 2].find((at) => !holdersOf(world, 0).includes(at)) ?? 0;
    const file = await taken(world, holder, '/collections/a/shards/0/snapshots');
    expect(await shardUpload(world, stranger, 0, file)).toMatchObject({ status: 200 });
    await world.rest(2_000);
    await world.until(() => world.isHealed(0, 1, 2));
    expect(holdersOf(world, 0)).toHaveLength(3);
  });

  test('with priority for the replicas is thrown away: they fill it again', async () => {
    const world = await filled(2);
    const [holder = 0] = holdersOf(world, 0);
    const before = world.held(holder, 'a', 0);
    const file = await taken(world, holder, '/collections/a/shards/0/snapshots');
    await world.upsert(0, 'a', numbersTo(60));
    const after = world.held(holder, 'a', 0);
    expect(after).not.toBe(before);
    await shardUpload(world, holder, 0, file, 'replica');
    await world.rest(2_000);
    await world.until(() => world.isHealed(0, 1, 2));
    expect(world.held(holder, 'a', 0)).toBe(after);
  });
});

describe('a recovery', () => {
  const recover = (world: World, at: number, name: string, body: Json) =>
    world.ask(at, 'PUT', `/collections/${name}/snapshots/recover`, { body });

  test('gets the file of another peer by its URL: its shards come with it', async () => {
    const world = await filled(1);
    const [holder = 0] = holdersOf(world, 0);
    const stranger = (holder + 1) % 3;
    const { name, checksum } = await made(world, holder, '/collections/a/snapshots');
    const location = `http://p${holder}:6333/collections/a/snapshots/${name}`;
    expect(await recover(world, stranger, 'a', { location, checksum })).toMatchObject({
      status: 200,
      result: true,
    });
    await world.rest(5_000);
    expect(holdersOf(world, 0)).toContain(stranger);
    expect(await world.numbers(stranger, 'a')).toEqual(numbersTo(30));
  });

  test('refuses what it can not get, in these words', async () => {
    const world = await filled(1);
    const location = 'http://p0:6333/collections/a/snapshots/nope';
    expect(await recover(world, 1, 'a', { location })).toMatchObject({
      status: 400,
      error: `Wrong input: Failed to download tar from ${location}: status - 404 Not Found`,
    });
    expect(await recover(world, 1, 'a', { location: 'file:///qdrant/snapshots/a/nope' })).toMatchObject({
      status: 400,
      error: 'Bad request: Snapshot file "/qdrant/snapshots/a/nope" does not exist',
    });
    expect(await recover(world, 1, 'a', { location: 'ftp://x/y' })).toMatchObject({
      status: 400,
      error: saying('scheme ftp is not supported'),
    });
    const { name, checksum } = await made(world, 0, '/collections/a/snapshots');
    expect(
      await recover(world, 0, 'a', { location: `file:///qdrant/snapshots/a/${name}`, checksum: 'f00' }),
    ).toMatchObject({
      status: 400,
      error: `Wrong input: Snapshot checksum mismatch: expected f00, got ${checksum}`,
    });
  });
});

test('a snapshot of all peers, each uploaded to its own in turn, restores everything', async () => {
  const world = await filled(2);
  const files = new Map<number, Uint8Array>();
  for (const at of [0, 1, 2]) files.set(at, await taken(world, at, '/collections/a/snapshots'));
  await world.upsert(0, 'a', numbersTo(60));
  for (const [at, file] of files) {
    await upload(world, at, '/collections/a/snapshots/upload?priority=snapshot', file);
    await world.rest(2_000);
    await world.until(() => world.isHealed(0, 1, 2));
  }
  for (const at of [0, 1, 2]) expect(await world.numbers(at, 'a')).toEqual(numbersTo(30));
  expect([0, 1].map((shard) => holdersOf(world, shard).length)).toEqual([2, 2]);
});
