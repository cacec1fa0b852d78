import { beforeAll, expect, inject, test } from 'vitest';
import { freePorts } from '../../../../../tools/free-ports.ts';
import { message } from '../../../test/postgres/messages.ts';
import { ids, memoryStore, never, readAll, sourceOf, texts, write } from '../../../test/trino/rig.ts';
import { sqlOf } from '../../../test/trino/sql.ts';
import type { Message } from '../../message.ts';

const { url: serverURL, memory, iceberg } = inject('trino');
const sql = sqlOf(serverURL);
const inMemory = { serverURL, catalog: memory, schema: 'default' };
const inLake = { serverURL, catalog: iceberg, schema: 'sources' };

beforeAll(async () => {
  await sql(`CREATE SCHEMA IF NOT EXISTS ${iceberg}.sources`);
});

test('rows come as JSON with every digit, and say where they are from', async () => {
  await sql(`CREATE TABLE memory.default.exact_source AS SELECT
    BIGINT '9007199254740993' AS id, DECIMAL '0.10' AS d, DOUBLE '1e300' AS f, nan() AS nan, TRUE AS b,
    'it''s "é" 😀' AS s, CAST('ab' AS char(3)) AS c, X'00ff' AS bin, DATE '2026-01-31' AS day, TIME '01:02:03.123456' AS t,
    TIMESTAMP '2026-01-31 08:00:00.123456789' AS ts, TIMESTAMP '2026-01-31 08:00:00.123456 UTC' AS tz,
    TIMESTAMP '2026-01-31 08:00:00 +02:00' AS tzo, json_parse('{"a":[1,12345678901234567890]}') AS j,
    ARRAY[DECIMAL '1.50', NULL] AS a, MAP(ARRAY['k'], ARRAY[TIMESTAMP '2026-01-31 08:00:00.5']) AS m,
    CAST(ROW(1, ARRAY[ROW('z')]) AS row("X" bigint, y array(row(z varchar)))) AS r, CAST(NULL AS varchar) AS nothing`);
  const messages = await readAll(inMemory, { table: 'exact_source' });
  expect(texts(messages)).toEqual([
    '{"id":9007199254740993,"d":0.10,"f":1.0E300,"nan":"NaN","b":true,"s":"it\'s \\"é\\" 😀","c":"ab ","bin":"AP8=","day":"2026-01-31","t":"01:02:03.123456",' +
      '"ts":"2026-01-31T08:00:00.123456789","tz":"2026-01-31T08:00:00.123456Z","tzo":"2026-01-31T08:00:00+02:00","j":{"a":[1,12345678901234567890]},' +
      '"a":[1.50,null],"m":{"k":"2026-01-31T08:00:00.5"},"r":{"X":1,"y":[{"z":"z"}]},"nothing":null}',
  ]);
  expect(messages[0]?.metadata).toEqual({
    catalog: 'memory',
    schema: 'default',
    table: 'exact_source',
    id: '9007199254740993',
  });
});

test('what was read can be written, and is the same again', async () => {
  await sql('CREATE TABLE memory.default.exact_copy AS SELECT * FROM memory.default.exact_source WITH NO DATA');
  const messages = await readAll(inMemory, { table: 'exact_source' });
  const { failures } = await write(inMemory, { table: 'exact_copy' }, messages);
  expect(failures).toEqual([]);
  // What had an offset is the same moment in UTC.
  const all = (table: string) => sql(`SELECT * FROM (SELECT *, tzo AT TIME ZONE 'UTC' FROM memory.default.${table})`);
  const [original, copy] = [await all('exact_source'), await all('exact_copy')];
  const withoutOffset = (rows: string[]) => rows.map((row) => row.replace('08:00:00 +02:00', '06:00:00 UTC'));
  expect(withoutOffset(copy)).toEqual(withoutOffset(original));
});

test('after a restart reading goes on behind the last committed row, whatever the type of the key', async () => {
  const keys: Record<string, string[]> = {
    bigint: ['-1', '2', '9007199254740993', '9007199254740994'],
    'decimal(38,20)': ['0.1', '0.10000000000000000001', '1', '2'],
    double: ['-1e300', '0.30000000000000004', '1', '1e300'],
    varchar: ["'7'''", '007', '7', 'ä'],
    date: ['2024-02-29', '2026-01-01', '2026-01-02', '2026-01-03'],
    'timestamp(6)': [1, 2, 3, 4].map((n) => `2026-01-01 00:00:00.00000${n}`),
  };
  const types = Object.entries(keys);
  const cast = (value: string, type: string) => `CAST('${value.replaceAll("'", "''")}' AS ${type})`;
  const rows = [0, 1, 2, 3].map((row) => types.map(([type, values]) => cast(values[row] ?? '', type)).join());
  await sql(`CREATE TABLE memory.default.keys AS SELECT *, TIMESTAMP '2026-01-01 00:00:00.123456 UTC' AS at
    FROM (VALUES ${rows.map((row) => `(${row})`).join()}) AS v(${types.map((_, at) => `k${at}`).join()})`);
  for (const [at, [type]] of types.entries()) {
    const checkpoints = memoryStore();
    const config = { table: 'keys', orderByColumn: `k${at}`, changeTrackingColumn: 'at' };
    const first = await readAll(inMemory, config, checkpoints, 2);
    expect({ type, count: first.length }).toEqual({ type, count: 4 });
    const rest = await readAll(inMemory, config, checkpoints);
    expect({ type, rest: texts(rest) }).toEqual({ type, rest: texts(first).slice(2) });
  }
});

test('rows of the same key are never parted: none is missed, whatever the portions and wherever it stopped', async () => {
  await sql(`CREATE TABLE memory.default.ties AS
    SELECT n / 5 AS id, n AS v, TIMESTAMP '2026-01-01 00:00:00' + INTERVAL '1' SECOND * (n / 10) AS at FROM UNNEST(sequence(0, 19)) AS s(n)`);
  const values = (messages: readonly Message[]) =>
    messages.map(({ payload }) => Number(/"v":(\d+)/.exec(payload?.text ?? '')?.[1])).toSorted((a, b) => a - b);
  const everything = Array.from({ length: 20 }, (_, n) => n);
  for (const commits of [1, 10, 14]) {
    const config = { table: 'ties', readBatchSize: 3, changeTrackingColumn: 'at' };
    const checkpoints = memoryStore();
    const first = await readAll(inMemory, config, checkpoints, commits);
    expect(values(first)).toEqual(everything);
    const rest = await readAll(inMemory, config, checkpoints);
    const handled = new Set([...values(first.slice(0, commits)), ...values(rest)]);
    expect({ commits, missed: everything.filter((v) => !handled.has(v)) }).toEqual({ commits, missed: [] });
    // Nor is more read again than rows of one key.
    expect(rest).toHaveLength(20 - Math.floor(commits / 5) * 5);
  }
});

test('nothing is committed that was not asked for, and the checkpoint has the names that have always been used', async () => {
  await sql(
    `CREATE TABLE memory.default.kept AS SELECT * FROM (VALUES (1, TIMESTAMP '2026-01-01 00:00:00.123456 Europe/Amsterdam')) AS v(id, at)`,
  );
  const checkpoints = memoryStore();
  await readAll(inMemory, { table: 'kept', changeTrackingColumn: 'at' }, checkpoints, 0);
  expect(checkpoints.saved).toBeUndefined();
  await readAll(inMemory, { table: 'kept', changeTrackingColumn: 'at' }, checkpoints, 1);
  expect(checkpoints.saved).toBe('{"lastReadChangeTime":"2025-12-31T23:00:00.123456Z","lastReadOrderByValue":1}');
  expect(await readAll(inMemory, { table: 'kept' }, memoryStore({ lastReadID: 1 }))).toEqual([]);
});

test('a query is read as it is at each poll, or on from where it was if a column tells changes', async () => {
  await sql('CREATE TABLE memory.default.q AS SELECT * FROM (VALUES (1, 1), (2, 2), (3, 3)) AS v(id, v)');
  const query = 'SELECT id AS "theKey", v FROM q WHERE v > 1';
  const { source } = sourceOf(inMemory, { query: `${query} ORDER BY id DESC; `, pollInterval: 0.1 });
  const stop = new AbortController();
  await source.connect(stop.signal);
  const again: Message[] = [];
  for await (const batch of source.read(stop.signal)) {
    again.push(...batch);
    if (again.length >= 4) stop.abort();
  }
  const once = ['{"theKey":3,"v":3}', '{"theKey":2,"v":2}'];
  expect(texts(again).slice(0, 4)).toEqual([...once, ...once]);
  expect(again[0]?.metadata).toEqual({ catalog: 'memory', schema: 'default' });
  const tracked = { query: `${query} -- not the first`, changeTrackingColumn: 'v', orderByColumn: 'thekey' };
  const checkpoints = memoryStore();
  expect(ids(await readAll(inMemory, tracked, checkpoints, 1))).toEqual([2, 3]);
  expect(ids(await readAll(inMemory, tracked, checkpoints))).toEqual([3]);
});

test('rows that are added and changed while it reads arrive', async () => {
  await sql('CREATE TABLE iceberg.sources.live (id bigint, v bigint)');
  await sql('INSERT INTO iceberg.sources.live VALUES (1, 1)');
  const { source } = sourceOf(inLake, { table: 'live', changeTrackingColumn: 'v', pollInterval: 0.1 });
  const stop = new AbortController();
  await source.connect(stop.signal);
  const seen: unknown[] = [];
  for await (const batch of source.read(stop.signal)) {
    seen.push(...texts(batch));
    if (seen.length === 1) await sql('INSERT INTO iceberg.sources.live VALUES (2, 2)');
    if (seen.length === 2) await sql('UPDATE iceberg.sources.live SET v = 3 WHERE id = 1');
    if (seen.length === 3) stop.abort();
  }
  expect(seen).toEqual(['{"id":1,"v":1}', '{"id":2,"v":2}', '{"id":1,"v":3}']);
});

test('a large table comes in many parts, and the query ends when nobody wants the rest', async () => {
  await sql(`CREATE TABLE memory.default.large_source AS
    SELECT n AS id, format('%0200d', n) AS s FROM UNNEST(sequence(1, 2000)) AS a(i) CROSS JOIN UNNEST(sequence(i * 10, i * 10 + 9)) AS b(n)`);
  const messages = await readAll(inMemory, { table: 'large_source' });
  expect(messages).toHaveLength(20_000);
  expect(messages.every(({ metadata }, at) => metadata['id'] === at + 10)).toBe(true);
  const { source } = sourceOf(inMemory, { table: 'large_source' });
  await source.connect(never);
  for await (const batch of source.read(never)) {
    expect(batch.length).toBeLessThan(20_000);
    break;
  }
  const open = await sql(
    `SELECT count(*) FROM system.runtime.queries WHERE source = 'polder' AND state NOT IN ('FINISHED', 'FAILED')`,
  );
  expect(open).toEqual(['[0]']);
});

test('rows without a key are not read, and that is said', async () => {
  await sql('CREATE TABLE memory.default.nulls AS SELECT * FROM (VALUES (1, 1), (2, NULL), (NULL, 3)) AS v(id, at)');
  const { source, lines } = sourceOf(inMemory, { table: 'nulls', changeTrackingColumn: 'at' }, { isOneOff: true });
  await source.connect(never);
  const messages: Message[] = [];
  for await (const batch of source.read(never)) messages.push(...batch);
  expect(ids(messages)).toEqual([1]);
  expect(lines).toMatchObject([{ level: 'warn', fields: { columns: ['at', 'id'] } }]);
});

test('a server that is not there, a table that is not there, a column that is not there: each fails at once', async () => {
  const attempt = (place: typeof inMemory, config: object) => sourceOf(place, config).source.connect(never);
  const [port = 0] = await freePorts(1);
  await expect(attempt({ ...inMemory, serverURL: `http://127.0.0.1:${port}` }, { table: 't' })).rejects.toMatchObject({
    message: `Trino at 127.0.0.1:${port} can't be reached (ECONNREFUSED)`,
    type: 'connection_error',
  });
  await expect(attempt(inMemory, { table: 'missing' })).rejects.toThrow(
    `Table 'memory.default.missing' does not exist (TABLE_NOT_FOUND)`,
  );
  await expect(attempt(inMemory, { query: 'SELECT * FROM missing' })).rejects.toThrow(
    `Table 'memory.default.missing' does not exist (TABLE_NOT_FOUND)`,
  );
  await expect(attempt(inMemory, { query: 'SELEC 1' })).rejects.toThrow(/mismatched input 'SELEC'.* \(SYNTAX_ERROR\)$/);
  await expect(attempt(inMemory, { table: 'q', orderByColumn: 'nope' })).rejects.toThrow(
    'table memory.default.q has no column "nope": name one that it has in orderByColumn',
  );
  await expect(readAll(inMemory, { table: 'q' }, memoryStore({ lastReadOrderByValue: 'no number' }))).rejects.toThrow(
    'the checkpoint has no integer for column "id": it is of another table; reset it',
  );
});

test('what autoCreateTable made of a message is read back: decimals with the places of their column, lists as JSON', async () => {
  const body = '{"id":1,"n":0.10,"tags":["a"]}';
  await write(inLake, { table: 'there', autoCreateTable: true }, [message(body)]);
  expect(texts(await readAll(inLake, { table: 'there' }))).toEqual([
    '{"id":1,"n":0.100000000000000000,"tags":"[\\"a\\"]"}',
  ]);
});
