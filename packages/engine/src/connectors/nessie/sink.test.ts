import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  column,
  connectedSink,
  memoryLog,
  message,
  readAll,
  sinkConfig,
  sourceConfig,
  textsOf,
} from '../../../test/nessie/fixture.ts';
import { type Call, type Fault, Lakehouse } from '../../../test/nessie/lakehouse.ts';

const ORDERS = 'shop.orders';
const COLUMNS = [column(1, 'id', 'long', true), column(2, 'name', 'string')];
const signal = AbortSignal.timeout(60_000);

let lake: Lakehouse;
beforeEach(async () => {
  lake = await Lakehouse.start();
});
afterEach(() => lake.stop());

const rows = async () => textsOf(await readAll(sourceConfig(lake), signal));
const files = (folder: string) => [...lake.files.keys()].filter((key) => key.startsWith(`${ORDERS}/${folder}/`)).length;
const isCommit = ({ method, path }: Call) => method === 'POST' && path.endsWith('/tables/orders');
const order = (id: number) => message({ id, name: `order ${id}` });

/** The first requests that the test is true of get these faults, one each. */
function fail(isMeant: (call: Call) => boolean, ...faults: readonly Fault[]): void {
  const left = [...faults];
  lake.faultOf = (call) => (isMeant(call) ? left.shift() : undefined);
}

test('a batch is one snapshot, and each snapshot has all that was there before', async () => {
  lake.createTable(ORDERS, COLUMNS);
  const sink = await connectedSink(sinkConfig(lake), signal);
  expect(await sink.write([order(1), order(2)], signal)).toEqual([]);
  expect(await sink.write([order(3)], signal)).toEqual([]);
  expect(lake.snapshotsOf(ORDERS)).toMatchObject([
    { 'sequence-number': 1, summary: { operation: 'append', 'added-records': '2', 'total-records': '2' } },
    { 'sequence-number': 2, summary: { operation: 'append', 'added-records': '1', 'total-records': '3' } },
  ]);
  expect(await rows()).toEqual([1, 2, 3].map((id) => `{"id":${id},"name":"order ${id}"}`));
});

test('a message that does not fit fails alone, and nothing is committed for nobody', async () => {
  lake.createTable(ORDERS, COLUMNS);
  const sink = await connectedSink(sinkConfig(lake), signal);
  const bad = [message({ id: 'secret' }), message('no json'), message({ name: 'without id' }), message({ other: 1 })];
  const failures = await sink.write([order(1), ...bad, order(2)], signal);
  expect(failures.map(({ because, type, isRetryable }) => [because, type, isRetryable])).toEqual([
    ['column "id": the value is no long', 'invalid_data', false],
    ['its payload is no JSON object', 'invalid_data', false],
    ['column "id" is required and has no value', 'invalid_data', false],
    ['none of its keys is a column of table shop.orders', 'invalid_data', false],
  ]);
  expect(failures.map((failure) => failure.message)).toEqual(bad);
  expect(await rows()).toHaveLength(2);
  expect(await sink.write(bad, signal)).toHaveLength(4);
  expect(lake.snapshotsOf(ORDERS)).toHaveLength(1);
});

test('a missing table is an error, unless it may be created: then with the columns of the first batch', async () => {
  await expect(connectedSink(sinkConfig(lake), signal)).rejects.toThrow(
    'there is no table shop.orders in branch main: create it, or set autoCreateTable',
  );
  const sink = await connectedSink(sinkConfig(lake, { autoCreateTable: true, namespace: 'eu.shop' }), signal);
  await sink.write(
    [message('{"id":1,"price":0.10,"at":"2026-01-31T08:00:00Z","tags":["a"],"none":null,"f":1e3,"ok":true}')],
    signal,
  );
  expect([...lake.namespaces]).toEqual(['eu', 'eu.shop']);
  expect(lake.schemaOf('eu.shop.orders')).toMatchObject({
    fields: [
      { name: 'id', type: 'long', required: false },
      { name: 'price', type: 'decimal(38, 18)' },
      { name: 'at', type: 'timestamptz' },
      { name: 'tags', type: 'string' },
      { name: 'f', type: 'double' },
      { name: 'ok', type: 'boolean' },
    ],
  });
  await sink.write([message({ id: 2, later: 'yes' })], signal);
  const found = textsOf(await readAll(sourceConfig(lake, { namespace: 'eu.shop' }), signal));
  expect(found).toEqual([
    '{"id":1,"price":0.100000000000000000,"at":"2026-01-31T08:00:00.000000Z","tags":"[\\"a\\"]","f":1000,"ok":true,"later":null}',
    '{"id":2,"price":null,"at":null,"tags":null,"f":null,"ok":null,"later":"yes"}',
  ]);
});

test('keys without a column are left out with one warning', async () => {
  lake.createTable(ORDERS, COLUMNS);
  const log = memoryLog();
  const sink = await connectedSink(sinkConfig(lake), signal, log);
  await sink.write([message({ id: 1, extra: 'secret' }), message({ id: 2, extra: 1, empty: null })], signal);
  await sink.write([message({ id: 3, extra: 1 })], signal);
  expect(log.lines).toEqual([
    'these keys have no column and are left out: add the columns {"table":"shop.orders","keys":["extra"]}',
  ]);
});

test('in raw mode the body goes into data and the metadata beside it', async () => {
  const sink = await connectedSink(sinkConfig(lake, { autoCreateTable: true, rawMode: true }), signal);
  const wrapped = message({ value: { b: 2 }, _metadata: { topic: 'inner' } });
  const binary = { ...message(''), payload: message('').payload };
  await sink.write([message('{"a":1.0}', { topic: 't', offset: 7n }), message('no json'), wrapped, binary], signal);
  expect(await rows()).toEqual([
    '{"data":"{\\"a\\":1.0}","_metadata":"{\\"topic\\":\\"t\\",\\"offset\\":7}"}',
    '{"data":"no json","_metadata":"{}"}',
    '{"data":"{\\"b\\":2}","_metadata":"{\\"topic\\":\\"inner\\"}"}',
    '{"data":"","_metadata":"{}"}',
  ]);
  lake.createTable('shop.plain', COLUMNS);
  await expect(connectedSink(sinkConfig(lake, { table: 'plain', rawMode: true }), signal)).rejects.toThrow(
    'table shop.plain has no column "data" of type string, which rawMode needs',
  );
});

test('flat metadata has a column for each key of the first batch', async () => {
  const config = {
    autoCreateTable: true,
    rawMode: true,
    flattenMetadataColumns: true,
    flattenMetadataColumnsPrefix: 'k_',
  };
  const sink = await connectedSink(sinkConfig(lake, config), signal);
  await sink.write([message({ a: 1 }, { topic: 't', partition: 3, timestamp: 1_700_000_000_000 })], signal);
  await sink.write([message({ a: 2 }, { topic: 'u', later: true })], signal);
  expect(await rows()).toEqual([
    '{"data":"{\\"a\\":1}","k_topic":"t","k_partition":3,"k_timestamp":"2023-11-14T22:13:20.000000Z"}',
    '{"data":"{\\"a\\":2}","k_topic":"u","k_partition":null,"k_timestamp":null}',
  ]);
});

test('a table of one column data takes whole bodies', async () => {
  lake.createTable(ORDERS, [column(1, 'data', 'string')]);
  const sink = await connectedSink(sinkConfig(lake), signal);
  expect(await sink.write([message({ id: 1 })], signal)).toEqual([]);
  expect(await rows()).toEqual(['{"data":"{\\"id\\":1}"}']);
});

test('rows of a partitioned table are in files of their partitions', async () => {
  const spec = [{ 'source-id': 1, 'field-id': 1000, name: 'id_bucket', transform: 'bucket[2]' }];
  lake.createTable(ORDERS, COLUMNS, spec);
  const sink = await connectedSink(sinkConfig(lake), signal);
  await sink.write([1, 2, 3, 4, 5, 6].map(order), signal);
  expect(files('data')).toBe(2);
  expect((await rows()).toSorted()).toEqual([1, 2, 3, 4, 5, 6].map((id) => `{"id":${id},"name":"order ${id}"}`));
});

test('a commit that another one was faster than is made on top of it, with the files that are there', async () => {
  lake.createTable(ORDERS, COLUMNS);
  const [ours, theirs] = [await connectedSink(sinkConfig(lake), signal), await connectedSink(sinkConfig(lake), signal)];
  let isFirst = true;
  lake.faultOf = (call) => {
    if (!isCommit(call) || !isFirst) return undefined;
    isFirst = false;
    return { before: 409 };
  };
  await ours.write([order(1)], signal);
  await Promise.all([ours.write([order(2)], signal), theirs.write([order(3)], signal)]);
  await Promise.all([ours.write([order(4)], signal), theirs.write([order(5)], signal)]);
  expect((await rows()).toSorted()).toEqual([1, 2, 3, 4, 5].map((id) => `{"id":${id},"name":"order ${id}"}`));
  expect(lake.snapshotsOf(ORDERS)).toHaveLength(5);
  expect(files('data')).toBe(5);
  // Lists that no snapshot refers to are gone.
  expect(files('metadata')).toBe(10);
});

test('a storm of conflicts ends in a failure that may be tried again, and then goes on where it was', async () => {
  lake.createTable(ORDERS, COLUMNS);
  const sink = await connectedSink(sinkConfig(lake), signal);
  lake.faultOf = (call) => (isCommit(call) ? { before: 409 } : undefined);
  const batch = [order(1)];
  await expect(sink.write(batch, signal)).rejects.toMatchObject({ type: 'transient', isRetryable: true, status: 409 });
  lake.faultOf = () => undefined;
  expect(await sink.write(batch, signal)).toEqual([]);
  expect(await rows()).toHaveLength(1);
  expect(files('data')).toBe(1);
});

test.each<[string, Fault]>([
  ['an answer of a server in trouble', { after: 503 }],
  ['an answer of a gateway', { after: 504 }],
  ['an answer that was lost', 'lost'],
])('what was committed is not committed again after %s', async (_, fault) => {
  lake.createTable(ORDERS, COLUMNS);
  const sink = await connectedSink(sinkConfig(lake), signal);
  fail(isCommit, fault);
  expect(await sink.write([order(1)], signal)).toEqual([]);
  expect(await rows()).toHaveLength(1);
  expect(lake.snapshotsOf(ORDERS)).toHaveLength(1);
});

test('what was committed is found although others have committed since', async () => {
  lake.createTable(ORDERS, COLUMNS);
  const [ours, theirs] = [await connectedSink(sinkConfig(lake), signal), await connectedSink(sinkConfig(lake), signal)];
  // While our commit ends without an answer and Nessie can't be asked, others commit.
  let isDown = false;
  lake.faultOf = (call) => {
    if (isDown) return { before: 503 };
    if (!isCommit(call)) return undefined;
    isDown = true;
    return { after: 503 };
  };
  const batch = [order(1), message({ id: 'x' })];
  await expect(ours.write(batch, signal)).rejects.toMatchObject({ isRetryable: true });
  lake.faultOf = () => undefined;
  for (const id of [2, 3, 4, 5, 6]) await theirs.write([order(id)], signal);
  expect(await ours.write(batch, signal)).toHaveLength(1);
  expect(await ours.write([order(7)], signal)).toEqual([]);
  expect((await rows()).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7].map((id) => `{"id":${id},"name":"order ${id}"}`));
});

test('what was not committed is committed when it is written again', async () => {
  lake.createTable(ORDERS, COLUMNS);
  const sink = await connectedSink(sinkConfig(lake), signal);
  lake.faultOf = (call) => (isCommit(call) ? { before: 500 } : undefined);
  const batch = [order(1)];
  await expect(sink.write(batch, signal)).rejects.toMatchObject({ type: 'transient', isRetryable: true });
  lake.faultOf = () => undefined;
  expect(await sink.write(batch, signal)).toEqual([]);
  expect(await rows()).toHaveLength(1);
});

test('a commit that comes late, after it was tried again, is the only one', async () => {
  lake.createTable(ORDERS, COLUMNS);
  const sink = await connectedSink(sinkConfig(lake), signal);
  fail(isCommit, 'late');
  expect(await sink.write([order(1)], signal)).toEqual([]);
  expect(await rows()).toHaveLength(1);
  expect(lake.snapshotsOf(ORDERS)).toHaveLength(1);
});

test('a commit that comes late, after it was given up, has its files', async () => {
  lake.createTable(ORDERS, COLUMNS);
  const sink = await connectedSink(sinkConfig(lake), signal);
  const [first, second] = [order(1), order(2)];
  let isDown = false;
  lake.faultOf = (call) => {
    if (isDown) return { before: 503 };
    isDown = isCommit(call);
    return isDown ? 'late' : undefined;
  };
  await expect(sink.write([first, second], signal)).rejects.toMatchObject({ isRetryable: true });
  lake.faultOf = () => undefined;
  expect(await sink.write([second], signal)).toEqual([]);
  expect(await rows()).toEqual([1, 2, 2].map((id) => `{"id":${id},"name":"order ${id}"}`));
});

test('of an open write, what has gone to another reader is not written, and what was committed is not written twice', async () => {
  lake.createTable(ORDERS, COLUMNS);
  const sink = await connectedSink(sinkConfig(lake), signal);
  const [first, second] = [order(1), order(2)];
  for (const fault of [{ before: 500 }, { after: 500 }]) {
    let isDown = false;
    lake.faultOf = (call) => {
      if (isDown) return { before: 503 };
      isDown = isCommit(call);
      return isDown ? fault : undefined;
    };
    await expect(sink.write([first, second], signal)).rejects.toMatchObject({ isRetryable: true });
    lake.faultOf = () => undefined;
    expect(await sink.write([second], signal)).toEqual([]);
  }
  expect(await rows()).toEqual([2, 1, 2].map((id) => `{"id":${id},"name":"order ${id}"}`));
});

test('the files of a commit that was refused for good are removed', async () => {
  lake.createTable(ORDERS, COLUMNS);
  const sink = await connectedSink(sinkConfig(lake), signal);
  fail(isCommit, { before: 400 });
  await expect(sink.write([order(1)], signal)).rejects.toMatchObject({ isRetryable: false, status: 400 });
  expect([...lake.files.keys()]).toEqual([]);
});

test('the files of a batch that could not be stored are removed', async () => {
  lake.createTable(ORDERS, COLUMNS);
  const sink = await connectedSink(sinkConfig(lake), signal);
  fail(({ method, path }) => method === 'PUT' && path.endsWith('-m0.avro'), { before: 503 });
  await expect(sink.write([order(1)], signal)).rejects.toMatchObject({ type: 'transient', isRetryable: true });
  expect([...lake.files.keys()]).toEqual([]);
});

test('a table that was replaced meanwhile does not get the rows of the other one', async () => {
  lake.createTable(ORDERS, COLUMNS);
  const sink = await connectedSink(sinkConfig(lake), signal);
  let isDone = false;
  lake.faultOf = ({ path }) => {
    if (!path.endsWith('.parquet') || isDone) return undefined;
    isDone = true;
    lake.dropTable(ORDERS);
    lake.createTable(ORDERS, [column(1, 'other', 'string'), column(2, 'id', 'long')]);
    return undefined;
  };
  const batch = [order(1)];
  await expect(sink.write(batch, signal)).rejects.toThrow('was dropped while rows were written to it');
  expect(await sink.write(batch, signal)).toEqual([]);
  expect(await rows()).toEqual(['{"other":null,"id":1}']);
});

test('the token goes with every request to Nessie, and an expired one says so without being shown', async () => {
  lake.createTable(ORDERS, COLUMNS);
  const sink = await connectedSink(sinkConfig(lake, { bearerToken: 'the-token' }), signal);
  await sink.write([order(1)], signal);
  const nessie = lake.calls.filter(({ path }) => !path.startsWith('/s3/'));
  expect(new Set(nessie.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer the-token']));
  lake.faultOf = ({ path }) => (path.startsWith('/s3/') ? undefined : { before: 401 });
  const failed = sink.write([order(2)], signal);
  await expect(failed).rejects.toMatchObject({ type: 'auth_error', isRetryable: false });
  await expect(failed).rejects.not.toThrow(/the-token|order/);
});

test('user and password go as basic authentication', async () => {
  lake.createTable(ORDERS, COLUMNS);
  await connectedSink(sinkConfig(lake, { basicAuth: { username: 'ann', password: 'p:w' } }), signal);
  expect(lake.calls[0]?.authorization).toBe(`Basic ${Buffer.from('ann:p:w').toString('base64')}`);
});

test('credentials for the storage that Nessie lends are used where none are configured', async () => {
  lake.createTable(ORDERS, COLUMNS);
  lake.lent = { 's3.access-key-id': 'lent-key', 's3.secret-access-key': 's', 's3.session-token': 't' };
  const { accessKey: _, secretAccessKey: __, ...config } = sinkConfig(lake);
  const sink = await connectedSink(config, signal);
  await sink.write([order(1)], signal);
  const stored = lake.calls.find(({ path }) => path.startsWith('/s3/'));
  expect(stored?.authorization).toContain('Credential=lent-key/');
  lake.lent = {};
  await expect(connectedSink(config, signal)).rejects.toThrow(
    'there are no credentials for the object storage of table shop.orders',
  );
});

test('an abort ends a write soon, and the next one finds out what became of it', async () => {
  lake.createTable(ORDERS, COLUMNS);
  const sink = await connectedSink(sinkConfig(lake), signal);
  const stop = new AbortController();
  lake.faultOf = (call) => {
    if (!isCommit(call)) return undefined;
    stop.abort(new Error('stopped'));
    return 'lost';
  };
  const batch = [order(1)];
  await expect(sink.write(batch, stop.signal)).rejects.toThrow('stopped');
  lake.faultOf = () => undefined;
  expect(await sink.write(batch, signal)).toEqual([]);
  expect(await rows()).toHaveLength(1);
});

test('closed is closed', async () => {
  lake.createTable(ORDERS, COLUMNS);
  const sink = await connectedSink(sinkConfig(lake), signal);
  await sink.close();
  await sink.close();
  await expect(sink.write([order(1)], signal)).rejects.toThrow('the sink is closed');
});
