import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../../../../../tools/postgres/start.ts';
import { realClock } from '../../../test/postgres/clock.ts';
import { memoryLog } from '../../../test/postgres/logs.ts';
import type { CheckpointStore } from '../../connector.ts';
import type { Message } from '../../message.ts';
import type { PostgresSourceConfig } from './config.ts';
import { PostgresSource } from './source.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(() => server.stop());

type Config = Omit<PostgresSourceConfig, 'connectionString'>;

/** Keeps checkpoints as a file would: as text. */
function memoryStore(checkpoint?: unknown): CheckpointStore & { saved: string | undefined } {
  return {
    saved: checkpoint === undefined ? undefined : JSON.stringify(checkpoint),
    load() {
      return Promise.resolve(this.saved === undefined ? undefined : JSON.parse(this.saved));
    },
    save(_key, value) {
      this.saved = JSON.stringify(value);
      return Promise.resolve();
    },
  };
}

function sourceOf(config: Config, options: { checkpoints?: CheckpointStore; isOneOff?: boolean } = {}) {
  const { log, lines } = memoryLog();
  const { checkpoints = memoryStore(), isOneOff = false } = options;
  const source = new PostgresSource(
    { connectionString: server.url, pollInterval: 0.05, ...config },
    { checkpoints, clock: realClock, random: () => 0, log, isOneOff },
  );
  return { source, lines };
}

/** Everything there is, read once; `commits` decides how much of it is committed. */
async function readAll(
  config: Config,
  checkpoints?: CheckpointStore,
  commits = Number.MAX_SAFE_INTEGER,
): Promise<Message[]> {
  const { source } = sourceOf(config, { isOneOff: true, ...(checkpoints && { checkpoints }) });
  const stop = new AbortController();
  await source.connect(stop.signal);
  const messages: Message[] = [];
  for await (const batch of source.read(stop.signal)) messages.push(...batch);
  const committed = messages.slice(0, commits).at(-1);
  if (committed) await source.commit([committed.origin]);
  await source.close();
  return messages;
}

/** Reads on until `isEnough`, with what else happens meanwhile. */
async function readUntil(
  config: Config,
  isEnough: (messages: readonly Message[]) => boolean,
  meanwhile: () => Promise<unknown> = () => Promise.resolve(),
): Promise<{ messages: Message[]; lines: ReturnType<typeof memoryLog>['lines'] }> {
  const { source, lines } = sourceOf(config);
  const stop = new AbortController();
  await source.connect(stop.signal);
  const happened = meanwhile();
  const messages: Message[] = [];
  for await (const batch of source.read(stop.signal)) {
    messages.push(...batch);
    if (isEnough(messages)) stop.abort();
  }
  await happened;
  await source.close();
  return { messages, lines };
}

const texts = (messages: readonly Message[]) => messages.map(({ payload }) => payload?.text);
const ids = (messages: readonly Message[]) => messages.map(({ metadata }) => metadata['id']);

test('rows come as JSON with every digit, in the order of their changes, and say what they are', async () => {
  await server.sql(`
    CREATE TABLE exact (id bigint PRIMARY KEY, n numeric, j jsonb, s text, created_at timestamptz, updated_at timestamptz NOT NULL);
    INSERT INTO exact VALUES
      (9007199254740993, 0.10, '{"k": 1.50}', 'x', '2026-01-01T00:00:00.000001Z', '2026-01-01T00:00:00.000002Z'),
      (2, NULL, 'null', NULL, '2026-01-01T00:00:00.000001Z', '2026-01-01T00:00:00.000001Z')`);
  const messages = await readAll({ table: 'public.exact' });
  expect(texts(messages)).toEqual([
    '{"id":2,"n":null,"j":null,"s":null,"created_at":"2026-01-01T00:00:00.000001+00:00","updated_at":"2026-01-01T00:00:00.000001+00:00"}',
    '{"id":9007199254740993,"n":0.10,"j":{"k": 1.50},"s":"x","created_at":"2026-01-01T00:00:00.000001+00:00","updated_at":"2026-01-01T00:00:00.000002+00:00"}',
  ]);
  expect(messages.map(({ metadata }) => metadata)).toEqual([
    { table: 'public.exact', id: 2, operation: 'insert' },
    { table: 'public.exact', id: '9007199254740993', operation: 'update' },
  ]);
});

test('after a restart reading goes on behind the last committed row, also among rows of the same microsecond', async () => {
  const keys = {
    bigint: ['1', '2', '9007199254740993', '9007199254740994', '9223372036854775807'],
    numeric: ['0.1', '0.10000000000000000001', '1', '2', '3'],
    text: ['007', '7', 'a', 'ä', 'b'],
    uuid: [1, 2, 3, 4, 5].map((n) => `00000000-0000-0000-0000-00000000000${n}`),
    'character(5)': ['a', 'ab', 'abc', 'abcd', 'abcde'],
  };
  for (const [type, values] of Object.entries(keys)) {
    await server.sql(
      `DROP TABLE IF EXISTS ties; CREATE TABLE ties (id ${type} PRIMARY KEY, updated_at timestamptz DEFAULT '2026-01-01T00:00:00.123456Z')`,
    );
    await server.sql(`INSERT INTO ties SELECT unnest($1::text[])::${type}`, [values]);
    const checkpoints = memoryStore();
    const config = { table: 'ties', readBatchSize: 2 };
    const first = await readAll(config, checkpoints, 2);
    expect(first).toHaveLength(5);
    const rest = await readAll(config, checkpoints);
    expect({ type, rest: texts(rest) }).toEqual({ type, rest: texts(first).slice(2) });
    expect(await readAll(config, checkpoints)).toEqual([]);
  }
});

test('a row can be told by its table and its key', async () => {
  await server.sql('CREATE TABLE told (id int PRIMARY KEY); INSERT INTO told VALUES (7)');
  const { source } = sourceOf({ table: 'told' }, { isOneOff: true });
  const { signal } = new AbortController();
  await source.connect(signal);
  const told: string[] = [];
  for await (const batch of source.read(signal)) told.push(...batch.map(({ origin }) => source.describe(origin)));
  await source.close();
  expect(told).toEqual(['told, id 7']);
});

test('nothing is committed that was not asked for', async () => {
  await server.sql('CREATE TABLE kept (id int PRIMARY KEY); INSERT INTO kept VALUES (1), (2)');
  const checkpoints = memoryStore();
  await readAll({ table: 'kept' }, checkpoints, 0);
  expect(checkpoints.saved).toBeUndefined();
  await readAll({ table: 'kept' }, checkpoints, 1);
  expect(checkpoints.saved).toBe('{"lastReadChangeTime":"1","lastReadOrderByValue":1}');
});

test('a table without updated_at is read by its key alone, whatever that is called', async () => {
  await server.sql(`CREATE TABLE keyed (code text PRIMARY KEY, v int); INSERT INTO keyed VALUES ('b', 2), ('a', 1)`);
  const messages = await readAll({ table: 'keyed' });
  expect(messages.map(({ metadata }) => metadata)).toEqual([
    { table: 'keyed', id: 'a', operation: 'insert' },
    { table: 'keyed', id: 'b', operation: 'insert' },
  ]);
  await server.sql('CREATE TABLE keyless (v int)');
  await expect(readAll({ table: 'keyless' })).rejects.toThrow(
    'table keyless has no column "id": name one that it has in',
  );
});

test('checkpoints that know the key alone are read on from there', async () => {
  await server.sql(`
    CREATE TABLE legacy (id int PRIMARY KEY, updated_at timestamptz NOT NULL DEFAULT now());
    INSERT INTO legacy SELECT generate_series(1, 5)`);
  expect(ids(await readAll({ table: 'legacy' }, memoryStore({ lastReadID: 3 })))).toEqual([4, 5]);
});

test('a query is read anew at each poll, or on from where it was if a column tells changes', async () => {
  await server.sql('CREATE TABLE q (id int PRIMARY KEY, v int); INSERT INTO q VALUES (1, 1), (2, 2), (3, 3)');
  const query = 'SELECT id AS "key", v FROM q WHERE v > 1; -- not the first';
  const again = await readUntil(
    { query: query.replace(/;.*/, ' ORDER BY id DESC') },
    (messages) => messages.length >= 4,
  );
  expect(texts(again.messages).slice(0, 4)).toEqual([
    '{"key":3,"v":3}',
    '{"key":2,"v":2}',
    '{"key":3,"v":3}',
    '{"key":2,"v":2}',
  ]);
  expect(again.messages[0]?.metadata).toEqual({});
  const checkpoints = memoryStore();
  const tracked = { query: query.replace(';', ''), changeTrackingColumn: 'v', orderByColumn: 'key' };
  expect(ids(await readAll(tracked, checkpoints, 1))).toEqual([2, 3]);
  expect(ids(await readAll(tracked, checkpoints))).toEqual([3]);
});

test('rows that are inserted and updated while it reads all arrive, those that are committed late too', async () => {
  await server.sql(`
    CREATE TABLE live (id int PRIMARY KEY, v int NOT NULL, updated_at timestamptz NOT NULL DEFAULT now());
    CREATE INDEX ON live (updated_at, id)`);
  const wanted = new Set<string>();
  const writer = async (from: number) => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    for (let id = from; id < from + 30; id++) {
      await client.query('BEGIN');
      await client.query('INSERT INTO live VALUES ($1, 0)', [id]);
      wanted.add(`${id}:0`);
      // The stamp is as old as the transaction when others see the row; a later one has passed it meanwhile.
      if (id % 3 === 0) await client.query('SELECT pg_sleep(0.15)');
      await client.query('COMMIT');
      if (id % 2 === 0) {
        await client.query('UPDATE live SET v = 1, updated_at = now() WHERE id = $1', [id]);
        wanted.add(`${id}:1`);
        wanted.delete(`${id}:0`); // may be overtaken by the update between two polls
      }
    }
    await client.end();
  };
  let isDone = false;
  const seen = (messages: readonly Message[]) =>
    new Set(
      messages.map(({ payload }) =>
        /"id":(\d+),"v":(\d)/
          .exec(payload?.text ?? '')
          ?.slice(1)
          .join(':'),
      ),
    );
  const { messages } = await readUntil(
    { table: 'live', readBatchSize: 7 },
    (messages) => isDone && [...wanted].every((row) => seen(messages).has(row)),
    async () => {
      await Promise.all([writer(0), writer(1000), writer(2000)]);
      isDone = true;
    },
  );
  expect([...wanted].filter((row) => !seen(messages).has(row))).toEqual([]);
});

test('a connection that is ended while it reads is made again, and no row is missed or told twice', async () => {
  await server.sql(
    `CREATE TABLE broken (id int PRIMARY KEY, s text); INSERT INTO broken SELECT n, repeat('x', 1000) FROM generate_series(1, 5000) n`,
  );
  const { source, lines } = sourceOf({ table: 'broken' });
  const stop = new AbortController();
  await source.connect(stop.signal);
  const messages: Message[] = [];
  let cuts = 0;
  for await (const batch of source.read(stop.signal)) {
    messages.push(...batch);
    if (cuts++ < 2)
      await server.sql(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%"broken"%' AND pid <> pg_backend_pid()`,
      );
    if (messages.length >= 5000) stop.abort();
  }
  await source.close();
  expect(ids(messages)).toEqual(Array.from({ length: 5000 }, (_, n) => n + 1));
  expect(lines.filter(({ level }) => level === 'warn').length).toBeGreaterThan(0);
});

test('a large table passes in portions of bounded size', async () => {
  await server.sql(
    `CREATE TABLE large (id int PRIMARY KEY, s text); INSERT INTO large SELECT n, repeat('x', 200000) FROM generate_series(1, 300) n`,
  );
  const { source } = sourceOf({ table: 'large' }, { isOneOff: true });
  const stop = new AbortController();
  await source.connect(stop.signal);
  const sizes: number[] = [];
  for await (const batch of source.read(stop.signal)) sizes.push(batch.length);
  await source.close();
  expect(sizes.slice(1).every((size) => size <= 42)).toBe(true);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(300);
});

test('rows without a value in the tracking column are not read, and that is said', async () => {
  await server.sql(`
    CREATE TABLE nulls (id int PRIMARY KEY, updated_at timestamptz);
    INSERT INTO nulls VALUES (1, NULL), (2, '2026-01-01')`);
  const { messages, lines } = await readUntil({ table: 'nulls' }, (messages) => messages.length > 0);
  expect(ids(messages)).toEqual([2]);
  expect(lines).toMatchObject([{ level: 'warn', fields: { column: 'updated_at' } }]);
});

test('autoCreateTable makes a table to read from', async () => {
  expect(await readAll({ table: 'fresh', autoCreateTable: true })).toEqual([]);
  await server.sql('INSERT INTO fresh DEFAULT VALUES');
  expect(await readAll({ table: 'fresh', autoCreateTable: true })).toMatchObject([
    { metadata: { id: 1, operation: 'insert' } },
  ]);
});

test('a server that is not there, a table that is not there, a password that is wrong: each fails at once', async () => {
  const signal = new AbortController().signal;
  const attempt = (connectionString: string, table: string) =>
    new PostgresSource(
      { connectionString, table },
      { checkpoints: memoryStore(), clock: realClock, random: () => 0, log: memoryLog().log },
    ).connect(signal);
  await expect(attempt('postgres://u:secret@127.0.0.1:1/db', 't')).rejects.toMatchObject({ type: 'connection_error' });
  await expect(attempt(server.url, 'missing')).rejects.toThrow('relation "missing" does not exist');
  await expect(attempt(server.url.replace('postgres@', 'nobody:secret@'), 't')).rejects.toMatchObject({
    type: 'auth_error',
  });
});
