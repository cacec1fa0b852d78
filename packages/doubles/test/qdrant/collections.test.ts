/** The REST API of collections, its answers word by word. */
import { beforeEach, describe, expect, test } from 'vitest';
import { type Json, objectAt } from '../../qdrant/src/json.ts';
import { World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await World.of(1);
});

const put = (path: string, body: Json) => world.ask(0, 'PUT', path, { body });
const patch = (name: string, body: Json) => world.ask(0, 'PATCH', `/collections/${name}`, { body });
const aliases = (...actions: readonly Json[]) => world.ask(0, 'POST', '/collections/aliases', { body: { actions } });
const alias = (collection_name: string, alias_name: string) => ({ create_alias: { collection_name, alias_name } });
const saying = (text: string) => expect.stringContaining(text);

describe('an answer', () => {
  test('has result, status and time; an error has no result', async () => {
    expect((await world.create(0, 'a')).json).toEqual({ result: true, status: 'ok', time: expect.any(Number) });
    expect((await world.ask(0, 'GET', '/collections/nope')).json).toEqual({
      status: { error: "Not found: Collection `nope` doesn't exist!" },
      time: expect.any(Number),
    });
  });

  test('to a path or method that does not exist is an empty 404', async () => {
    for (const [method, path] of [
      ['GET', '/nope'],
      ['POST', '/collections'],
      ['PATCH', '/cluster'],
    ] as const) {
      const { status, text, headers } = await world.ask(0, method, path);
      expect({ status, text, headers }).toEqual({ status: 404, text: '', headers: {} });
    }
    expect(await world.ask(0, 'GET', '/collections/')).toMatchObject({ status: 200 });
  });

  test('names the collection that is missing, whatever is asked of it', async () => {
    const missing = { status: 404, error: "Not found: Collection `nope` doesn't exist!" };
    expect(await patch('nope', {})).toMatchObject(missing);
    expect(await world.ask(0, 'GET', '/collections/nope/cluster')).toMatchObject(missing);
    expect(await world.operate(0, 'nope', { drop_replica: { shard_id: 0, peer_id: 1 } })).toMatchObject(missing);
    expect(await put('/collections/nope/index', { field_name: 'f', field_schema: 'bool' })).toMatchObject(missing);
    expect(await world.ask(0, 'POST', '/collections/nope/snapshots')).toMatchObject(missing);
  });

  test('to a bad timeout depends on how bad it is', async () => {
    const text = 'Deserialize error in query parameters: invalid digit found in string';
    for (const timeout of ['1.5', 'abc']) {
      expect(await put(`/collections/a?timeout=${timeout}`, {})).toMatchObject({ status: 400, error: text });
    }
    expect(await put('/collections/a?timeout=0', {})).toMatchObject({
      status: 422,
      error: 'Validation error in query parameters: [timeout: value 0 invalid, must be 1 or larger]',
    });
  });
});

describe('creating a collection', () => {
  test('fills in what the body leaves open, and ignores what nobody knows', async () => {
    expect(await put('/collections/a', { vectors: { size: 4, distance: 'Dot' }, bogus: 1 })).toMatchObject({
      status: 200,
    });
    expect(await world.get(0, '/collections/a')).toMatchObject({
      status: 'green',
      optimizer_status: 'ok',
      points_count: 0,
      update_queue: { length: 0 },
      config: {
        params: {
          vectors: { size: 4, distance: 'Dot' },
          shard_number: 1,
          replication_factor: 1,
          write_consistency_factor: 1,
        },
        hnsw_config: { m: 16 },
        optimizer_config: { max_segment_size: null, prevent_unoptimized: false },
        wal_config: { wal_retain_closed: 1 },
        quantization_config: null,
      },
      payload_schema: {},
    });
    expect(await put('/collections/empty', {})).toMatchObject({ status: 200 });
  });

  test('heeds the replication that the configuration of the server asks for', async () => {
    const configured = new World();
    const collections = { replicationFactor: 2, writeConsistencyFactor: 2 };
    for (const at of [0, 1, 2]) await configured.start(at, { collections });
    await configured.rest();
    await configured.create(0, 'a');
    expect(await configured.get(0, '/collections/a')).toMatchObject({
      config: { params: { shard_number: 3, replication_factor: 2, write_consistency_factor: 2 } },
    });
    expect(configured.holders(0, 'a', 0)).toHaveLength(2);
  });

  test('that exists is a 409', async () => {
    await world.create(0, 'a');
    expect(await world.create(0, 'a')).toMatchObject({
      status: 409,
      error: 'Wrong input: Collection `a` already exists!',
    });
  });

  test.each([
    [422, { shard_number: 0 }, 'Validation error in JSON body: [shard_number: value 0 invalid, must be 1 or larger]'],
    [
      422,
      { replication_factor: 0 },
      'Validation error in JSON body: [replication_factor: value 0 invalid, must be 1 or larger]',
    ],
    [400, { vectors: { size: 0, distance: 'Dot' } }, 'untagged enum VectorsConfig'],
    [400, { vectors: { size: 4, distance: 'Far' } }, 'untagged enum VectorsConfig'],
    [400, { shard_number: 'two' }, 'Format error in JSON body'],
  ])('is a %i for %o', async (status, body, text) => {
    expect(await put('/collections/a', body)).toMatchObject({ status, error: saying(text) });
  });

  test('with a body that is no JSON is a 400', async () => {
    const asked = world.ask(0, 'PUT', '/collections/a', { bytes: Buffer.from('{') });
    expect(await asked).toMatchObject({ status: 400, error: saying('Format error in JSON body: ') });
  });

  test('checks its name', async () => {
    expect(await put('/collections/a%2Fb', {})).toMatchObject({
      status: 422,
      error: 'Validation error in path parameters: [collection_name: collection name cannot contain "/" char]',
    });
    expect(await put(`/collections/${'x'.repeat(256)}`, {})).toMatchObject({ status: 422 });
    for (const name of ['with%20space', 'a.b+C', '%C3%A9', 'constructor']) {
      expect(await put(`/collections/${name}`, {})).toMatchObject({ status: 200 });
    }
    expect(await world.get(0, '/collections')).toEqual({
      collections: [{ name: 'a.b+C' }, { name: 'constructor' }, { name: 'with space' }, { name: 'é' }],
    });
  });
});

describe('patching a collection', () => {
  beforeEach(() => world.create(0, 'a', { metadata: { a: 1, b: 2 } }));
  const config = async () => (await world.get(0, '/collections/a'))['config'];

  test('changes what can be changed', async () => {
    const asked = await patch('a', {
      params: { replication_factor: 3, write_consistency_factor: 2 },
      hnsw_config: { m: 32 },
      optimizers_config: { indexing_threshold: 1 },
      quantization_config: { scalar: { type: 'int8' } },
      strict_mode_config: { enabled: true },
      metadata: { a: null, c: 3 },
      vectors: { '': { on_disk: true } },
    });
    expect(asked).toMatchObject({ status: 200, result: true });
    expect(await config()).toMatchObject({
      params: {
        replication_factor: 3,
        write_consistency_factor: 2,
        vectors: { size: 4, distance: 'Dot', on_disk: true },
      },
      hnsw_config: { m: 32, ef_construct: 100 },
      optimizer_config: { indexing_threshold: 1 },
      quantization_config: { scalar: { type: 'int8' } },
      strict_mode_config: { enabled: true },
    });
    expect(await config()).toHaveProperty('metadata', { b: 2, c: 3 });
    await patch('a', { quantization_config: 'Disabled' });
    expect(await config()).toHaveProperty('quantization_config', null);
  });

  test.each([
    { replication_factor: 3 },
    { shard_number: 9, bogus: 1 },
    { params: { shard_number: 9 } },
    { vectors: { '': { size: 8, distance: 'Euclid' } } },
    {},
  ])('ignores %o without a word', async (body) => {
    const before = await config();
    expect(await patch('a', body)).toMatchObject({ status: 200, result: true });
    expect(await config()).toEqual(before);
  });

  test('refuses a vector that is not there, no replication, and no body', async () => {
    expect(await patch('a', { vectors: { nope: { on_disk: true } } })).toMatchObject({
      status: 400,
      error: 'Wrong input: Not existing vector name error: nope',
    });
    expect(await patch('a', { params: { replication_factor: 0 } })).toMatchObject({ status: 400 });
    expect(await world.ask(0, 'PATCH', '/collections/a')).toMatchObject({ status: 400 });
  });
});

describe('deleting a collection', () => {
  test('that is missing succeeds with false, also by an alias', async () => {
    await world.create(0, 'a');
    await aliases(alias('a', 'x'));
    expect(await world.ask(0, 'DELETE', '/collections/nope')).toMatchObject({ status: 200, result: false });
    expect(await world.ask(0, 'DELETE', '/collections/x')).toMatchObject({ status: 200, result: false });
    expect(await world.ask(0, 'DELETE', '/collections/a')).toMatchObject({ status: 200, result: true });
    expect(await world.get(0, '/aliases')).toEqual({ aliases: [] });
  });

  test('deletes its points: one of the same name starts empty', async () => {
    await world.create(0, 'a');
    await world.upsert(0, 'a', [1, 2]);
    await world.ask(0, 'DELETE', '/collections/a');
    await world.create(0, 'a');
    expect(await world.numbers(0, 'a')).toEqual([]);
  });
});

describe('aliases', () => {
  beforeEach(async () => {
    await world.create(0, 'a');
    await world.create(0, 'b');
  });

  test('are carried out one by one: an error leaves those before it in force', async () => {
    expect(await aliases(alias('a', 'first'), alias('nope', 'second'), alias('a', 'third'))).toMatchObject({
      status: 404,
    });
    expect(await world.get(0, '/aliases')).toEqual({ aliases: [{ alias_name: 'first', collection_name: 'a' }] });
  });

  test('move, and stand for their collection where it is asked for', async () => {
    await aliases(alias('a', 'x'));
    await aliases(alias('b', 'x'));
    expect(await world.get(0, '/collections/b/aliases')).toEqual({
      aliases: [{ alias_name: 'x', collection_name: 'b' }],
    });
    expect(await world.get(0, '/collections/x/exists')).toEqual({ exists: true });
    expect(await world.get(0, '/collections/x/cluster')).toMatchObject({ shard_count: 1 });
    expect(await world.get(0, '/collections/x/aliases')).toEqual({ aliases: [] });
  });

  test('and collections do not share names', async () => {
    await aliases(alias('a', 'x'));
    expect(await aliases(alias('a', 'b'))).toMatchObject({
      status: 409,
      error: 'Wrong input: Collection `b` already exists!',
    });
    expect(await world.create(0, 'x')).toMatchObject({
      status: 400,
      error: "Wrong input: Can't create collection with name x. Alias with the same name already exists",
    });
  });

  test('that are missing can be deleted, and not renamed', async () => {
    expect(await aliases({ delete_alias: { alias_name: 'nope' } })).toMatchObject({ status: 200, result: true });
    expect(await aliases({ rename_alias: { old_alias_name: 'nope', new_alias_name: 'y' } })).toMatchObject({
      status: 404,
      error: 'Not found: Alias nope does not exists!',
    });
    expect(await aliases()).toMatchObject({ status: 200 });
  });
});

test('a payload index is put, changed, and deleted though it is not there', async () => {
  await world.create(0, 'a');
  for (const field_schema of ['keyword', 'integer', 'float', 'geo', 'text', 'bool', 'datetime', 'uuid']) {
    const asked = await put('/collections/a/index?wait=true', { field_name: field_schema, field_schema });
    expect(asked).toMatchObject({ status: 200, result: { status: 'completed' } });
  }
  await put('/collections/a/index', { field_name: 'text', field_schema: { type: 'text', lowercase: true } });
  expect(await world.get(0, '/collections/a')).toMatchObject({
    payload_schema: {
      bool: { data_type: 'bool', points: 0 },
      text: { data_type: 'text', params: { lowercase: true } },
    },
  });
  expect(await put('/collections/a/index', { field_name: 'f', field_schema: 'number' })).toMatchObject({ status: 400 });
  expect(await world.ask(0, 'DELETE', '/collections/a/index/nope')).toMatchObject({ status: 200 });
});

/** Just these members, within an object that may have others. */
const noMore = (members: object) =>
  expect.toSatisfy((value: object) => JSON.stringify(value) === JSON.stringify(members), JSON.stringify(members));

test('a named vector is added with what it has for good, and taken away', async () => {
  await put('/collections/a', { vectors: { one: { size: 4, distance: 'Dot' } } });
  expect(await put('/collections/a/vectors/two', { dense: { size: 8, distance: 'Dot' } })).toMatchObject({
    status: 200,
  });
  expect(await world.get(0, '/collections/a')).toMatchObject({ config: { params: { vectors: { two: { size: 8 } } } } });
  expect(await put('/collections/a/vectors/three', { size: 8 })).toMatchObject({ status: 400 });
  const more = { modifier: 'idf', datatype: 'uint8', index: { on_disk: true } };
  expect(await put('/collections/a/vectors/words', { sparse: more })).toMatchObject({ status: 200 });
  expect(await put('/collections/a/vectors/big', { dense: { size: 8, distance: 'Dot', on_disk: true } })).toMatchObject(
    {
      status: 200,
    },
  );
  expect(objectAt(await world.get(0, '/collections/a'), 'config')).toMatchObject({
    params: {
      vectors: { one: { size: 4 }, two: { size: 8 }, big: noMore({ size: 8, distance: 'Dot' }) },
      sparse_vectors: { words: noMore({ modifier: 'idf', index: { datatype: 'uint8' } }) },
    },
  });
  expect(await world.ask(0, 'DELETE', '/collections/a/vectors/nope')).toMatchObject({ status: 200 });
});

describe('keys', () => {
  const [apiKey, readOnlyApiKey, altApiKey] = ['full', 'look', 'next'];
  beforeEach(async () => {
    world = new World();
    await world.start(0, { apiKey, readOnlyApiKey, altApiKey });
  });
  const asking = (method: string, path: string, headers: Record<string, string>, bytes = Buffer.from('{}')) =>
    world.ask(0, method, path, { headers, bytes });

  test('are asked for with a bare text that has no type', async () => {
    for (const path of ['/collections', '/nope', '/metrics']) {
      expect(await asking('GET', path, {})).toMatchObject({
        status: 401,
        headers: {},
        text: 'Must provide an API key or an Authorization bearer token',
      });
    }
    expect(await asking('GET', '/collections', { authorization: 'full' })).toMatchObject({
      text: saying('Must provide'),
    });
    for (const headers of [{ 'api-key': 'wrong' }, { 'api-key': '' }, { authorization: 'Bearer wrong' }]) {
      expect(await asking('GET', '/collections', headers)).toMatchObject({
        status: 401,
        text: 'Invalid API key or JWT',
      });
    }
  });

  test('are not needed for what says that the server lives', async () => {
    for (const path of ['/', '/healthz', '/livez', '/readyz']) {
      expect(await asking('GET', path, {})).toMatchObject({ status: 200 });
    }
  });

  test('may be the key, the next one, or one that only reads', async () => {
    for (const headers of [{ 'api-key': 'full' }, { authorization: 'Bearer full' }, { 'api-key': 'next' }]) {
      expect(
        await asking('PUT', `/collections/${Object.values(headers).join()}`.replace(' ', '-'), headers),
      ).toMatchObject({ status: 200 });
    }
    const look = { 'api-key': 'look' };
    expect(await asking('GET', '/metrics', look)).toMatchObject({ status: 200 });
    expect(await asking('GET', '/cluster/telemetry', look)).toMatchObject({ status: 200 });
    const forbidden = { status: 403, error: 'Forbidden: Global manage access is required' };
    expect(await asking('PUT', '/collections/b', look)).toMatchObject(forbidden);
    expect(await asking('DELETE', '/cluster/peer/1', look)).toMatchObject(forbidden);
    expect(await asking('PUT', '/collections/b', look, Buffer.from('{'))).toMatchObject({ status: 400 });
  });
});
