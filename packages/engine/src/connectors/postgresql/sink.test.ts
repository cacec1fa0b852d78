import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../../../../../tools/postgres/start.ts';
import { memoryLog } from '../../../test/postgres/logs.ts';
import { message } from '../../../test/postgres/messages.ts';
import { ExactNumber } from '../../json/index.ts';
import type { Failure, Message } from '../../message.ts';
import { Payload } from '../../payload.ts';
import type { PostgresSinkConfig } from './config.ts';
import { PostgresSink } from './sink.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(() => server.stop());

const never = new AbortController().signal;

/** The rows of a table as the server prints them, in the order of `by`. */
async function rows(table: string, by = 'id'): Promise<unknown[]> {
  const found = await server.sql(`SELECT to_json(t)::text AS row FROM ${table} t ORDER BY ${by}`);
  return found.map(({ row }) => row);
}

async function withSink<T>(
  config: Omit<PostgresSinkConfig, 'connectionString'>,
  work: (sink: PostgresSink, lines: ReturnType<typeof memoryLog>['lines']) => Promise<T>,
): Promise<T> {
  const { log, lines } = memoryLog();
  const sink = new PostgresSink({ connectionString: server.url, ...config }, log);
  try {
    await sink.connect(never);
    return await work(sink, lines);
  } finally {
    await sink.close();
  }
}

/** What became of each batch, one after the other. */
function write(
  config: Omit<PostgresSinkConfig, 'connectionString'>,
  ...batches: (readonly Message[])[]
): Promise<Failure[]> {
  return withSink(config, async (sink) => {
    const failures: Failure[] = [];
    for (const batch of batches) failures.push(...(await sink.write(batch, never)));
    return failures;
  });
}

const reasons = (failures: readonly Failure[]) => failures.map(({ because, type }) => `${type}: ${because}`);
const deleted = (body: unknown) => message(body, { operation: 'delete' });

test('keys go into the columns of their names; numbers, moments and nested values arrive as they were written', async () => {
  await server.sql(
    'CREATE TABLE exact (id bigint, n numeric, f float8, at timestamptz, tags jsonb, words text[], b boolean, s text)',
  );
  const failures = await write({ table: 'public.exact' }, [
    message(
      '{"id":9007199254740993,"n":0.10,"f":1e-7,"at":"2026-01-31T08:00:00.123456Z","tags":{"k":[1,2.50]},"words":["a","b"],"b":true,"s":"x\\ty"}',
    ),
    message('{"id":9007199254740994,"n":123456789012345678901234567890.5,"tags":null,"s":{"any":"thing"}}'),
  ]);
  expect(failures).toEqual([]);
  expect(await rows('exact')).toEqual([
    '{"id":9007199254740993,"n":0.10,"f":1e-07,"at":"2026-01-31T08:00:00.123456+00:00","tags":{"k": [1, 2.50]},"words":["a","b"],"b":true,"s":"x\\ty"}',
    '{"id":9007199254740994,"n":123456789012345678901234567890.5,"f":null,"at":null,"tags":null,"words":null,"b":null,"s":"{\\"any\\":\\"thing\\"}"}',
  ]);
});

test('a column that a message does not name has its default, also beside messages that name it', async () => {
  await server.sql(`CREATE TABLE defaults (id int, state text DEFAULT 'new', place serial)`);
  await write({ table: 'defaults' }, [message({ id: 1 }), message({ state: null, id: 2 }), message({ id: 3 })]);
  expect(await rows('defaults')).toEqual([
    '{"id":1,"state":"new","place":1}',
    '{"id":2,"state":null,"place":3}',
    '{"id":3,"state":"new","place":2}',
  ]);
});

test('written twice, a row with a key is there once and is no failure', async () => {
  await server.sql('CREATE TABLE once (id int PRIMARY KEY, v text)');
  const batch = [message({ id: 1, v: 'a' }), message({ id: 2, v: 'b' })];
  await withSink({ table: 'once' }, async (sink, lines) => {
    expect(await sink.write(batch, never)).toEqual([]);
    expect(lines).toEqual([]);
    expect(await sink.write(batch, never)).toEqual([]);
    expect(lines).toMatchObject([{ level: 'info', fields: { rows: 2 } }]);
  });
  expect(await rows('once')).toHaveLength(2);
});

test('keys without a column are left out with one warning; a message of nothing else is refused', async () => {
  await server.sql('CREATE TABLE narrow (id int)');
  await withSink({ table: 'narrow' }, async (sink, lines) => {
    expect(await sink.write([message({ id: 1, extra: 'x' })], never)).toEqual([]);
    const failures = await sink.write([message({ id: 2, extra: 'x' }), message({ extra: 1 })], never);
    expect(reasons(failures)).toEqual(['invalid_data: none of its keys is a column of table narrow']);
    expect(lines.filter(({ level }) => level === 'warn')).toMatchObject([{ fields: { keys: ['extra'] } }]);
  });
  expect(await rows('narrow')).toEqual(['{"id":1}', '{"id":2}']);
});

test("generated columns are the server's, identities take the value of the message", async () => {
  await server.sql(
    'CREATE TABLE gen (id int GENERATED ALWAYS AS IDENTITY, a int, twice int GENERATED ALWAYS AS (a * 2) STORED)',
  );
  expect(await write({ table: 'gen' }, [message({ id: 7, a: 2, twice: 99 }), message({ a: 3 })])).toEqual([]);
  expect(await rows('gen')).toEqual(['{"id":1,"a":3,"twice":6}', '{"id":7,"a":2,"twice":4}']);
});

test('upsert: the last message about a row wins, also within a batch; what it does not name stays', async () => {
  await server.sql('CREATE TABLE up (tenant text, id bigint, a text, b text, PRIMARY KEY (tenant, id))');
  const failures = await write(
    { table: 'up', upsertMode: true },
    [
      message({ tenant: 't', id: 1, a: 'old' }),
      message({ tenant: 't', id: 1, b: 'b1' }),
      message({ tenant: 't', id: 2, a: 'x' }),
      message({ tenant: 't', id: 1, a: 'new' }),
      message({ tenant: 't', id: '2', a: 'y' }),
    ],
    [message({ tenant: 't', id: 2, b: 'late' }), message({ id: 3 })],
  );
  expect(reasons(failures)).toEqual([
    'invalid_data: it has no value for "tenant", "id", which identifies its row in table up',
  ]);
  expect(await rows('up')).toEqual([
    '{"tenant":"t","id":1,"a":"new","b":"b1"}',
    '{"tenant":"t","id":2,"a":"y","b":"late"}',
  ]);
});

test('upsert by another key than the primary one, which must be unique', async () => {
  await server.sql('CREATE TABLE by_mail (id serial PRIMARY KEY, mail text, n int)');
  await expect(write({ table: 'by_mail', upsertMode: true, conflictKey: 'mail' })).rejects.toThrow(
    'upsertMode needs a unique index on (mail) of table by_mail',
  );
  await server.sql('CREATE UNIQUE INDEX ON by_mail (mail)');
  const batch = [message({ mail: 'a', n: 1 }), message({ mail: 'b', n: 1 })];
  await write({ table: 'by_mail', upsertMode: true, conflictKey: 'mail' }, batch, [message({ mail: 'a', n: 2 })]);
  expect(await rows('(SELECT mail, n FROM by_mail)', 'mail')).toEqual(['{"mail":"a","n":2}', '{"mail":"b","n":1}']);
});

test('ifNewer: an older version never replaces a newer one, across and within batches', async () => {
  await server.sql('CREATE TABLE newer (id int PRIMARY KEY, v timestamptz, a text)');
  const at = (second: number) => `2026-01-01T00:00:0${second}.000001Z`;
  const failures = await write(
    { table: 'newer', upsertMode: true, upsertStrategy: 'ifNewer', upsertVersionColumn: 'v' },
    [message({ id: 1, v: at(3), a: 'three' }), message({ id: 1, v: at(2), a: 'two' }), message({ id: 2, a: 'none' })],
    [message({ id: 1, v: at(3), a: 'three again' })],
    [message({ id: 1, v: at(1), a: 'one' })],
    [message({ id: 1, v: at(4), a: 'four' })],
    [deleted({ id: 1, v: at(3) })],
  );
  expect(reasons(failures)).toEqual([
    'invalid_data: it has no "v", which tells whether it is newer than its row in table newer',
  ]);
  expect(await rows('(SELECT id, a FROM newer)')).toEqual(['{"id":1,"a":"four"}']);
});

test('a delete removes its row, in its place among the other messages', async () => {
  await server.sql('CREATE TABLE del (id int PRIMARY KEY, a text)');
  const failures = await write({ table: 'del', upsertMode: true }, [
    message({ id: 1, a: 'x' }),
    message({ id: 2, a: 'x' }),
    message({ id: 3, a: 'x' }),
    deleted({ id: 1 }),
    deleted({ id: 2, a: 'x' }),
    message({ id: 2, a: 'back' }),
    deleted({ a: 'nobody' }),
  ]);
  expect(failures).toHaveLength(1);
  expect(await rows('del')).toEqual(['{"id":2,"a":"back"}', '{"id":3,"a":"x"}']);
});

test('whatever the batches, the table is as if the messages had been applied one by one', async () => {
  await server.sql('CREATE TABLE model (id int PRIMARY KEY, v int, a int, b int)');
  const operation = fc.record(
    { id: fc.nat(3), asText: fc.boolean(), isDelete: fc.boolean(), v: fc.nat(5), a: fc.nat(9), b: fc.nat(9) },
    { requiredKeys: ['id', 'asText', 'isDelete', 'v'] },
  );
  const batches = fc.array(fc.array(operation, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 });
  for (const isVersioned of [false, true]) {
    const strategy = isVersioned ? ({ upsertStrategy: 'ifNewer', upsertVersionColumn: 'v' } as const) : {};
    await withSink({ table: 'model', upsertMode: true, ...strategy }, async (sink) => {
      await fc.assert(
        fc.asyncProperty(batches, async (batches) => {
          await server.sql('TRUNCATE model');
          const model = new Map<number, { id: number; v: number; a: number | null; b: number | null }>();
          for (const batch of batches) {
            const messages = batch.map(({ id, asText, isDelete, ...rest }) => {
              const old = model.get(id);
              if (isDelete && old && (!isVersioned || rest.v >= old.v)) model.delete(id);
              if (!isDelete && (!old || !isVersioned || rest.v > old.v))
                model.set(id, { id, a: null, b: null, ...old, ...rest });
              const body = { id: asText ? String(id) : id, ...rest };
              return isDelete ? deleted(body) : message(body);
            });
            expect(await sink.write(messages, never)).toEqual([]);
          }
          const expected = [...model.values()].toSorted((x, y) => x.id - y.id);
          expect(await server.sql('SELECT id, v, a, b FROM model ORDER BY id')).toEqual(expected);
        }),
        { numRuns: 40 },
      );
    });
  }
}, 60_000);

test('softDeleteColumn: a deleted row is marked, keeps its mark, and loses it when it is written again', async () => {
  await server.sql('CREATE TABLE soft (id int PRIMARY KEY, a text, deleted_at timestamptz)');
  await withSink({ table: 'soft', upsertMode: true, softDeleteColumn: 'deleted_at' }, async (sink) => {
    await sink.write(
      [message({ id: 1, a: 'x' }), message({ id: 2, a: 'x' }), deleted({ id: 1 }), deleted({ id: 2 })],
      never,
    );
    const [first] = await server.sql('SELECT deleted_at FROM soft WHERE id = 1');
    expect(first?.['deleted_at']).toBeInstanceOf(Date);
    await sink.write([deleted({ id: 1 }), message({ id: 2, a: 'again' })], never);
    expect(await server.sql('SELECT deleted_at FROM soft ORDER BY id')).toEqual([first, { deleted_at: null }]);
  });
});

test('autoCreateTable makes columns of what the first batch says, and adds those that come later', async () => {
  const table = 'made."Odd ""Name"';
  await server.sql('CREATE SCHEMA made');
  await withSink({ table, autoCreateTable: true, upsertMode: true }, async (sink) => {
    const first = message(
      '{"id":1,"price":0.10,"ratio":1.5e3,"at":"2026-01-01T00:00:00Z","ok":true,"o":{},"s":"x","z":null}',
    );
    expect(await sink.write([first, message({ id: 2, price: 7 })], never)).toEqual([]);
    expect(await sink.write([message({ id: 1, z: [1], 'a"b': 'quoted' })], never)).toEqual([]);
  });
  const columns = await server.sql(
    `SELECT column_name || ' ' || data_type AS said FROM information_schema.columns WHERE table_schema = 'made' ORDER BY ordinal_position`,
  );
  expect(columns.map(({ said }) => said)).toEqual([
    'id bigint',
    'price numeric',
    'ratio double precision',
    'at timestamp with time zone',
    'ok boolean',
    'o jsonb',
    's text',
    'z jsonb',
    'a"b text',
  ]);
  expect(await rows(table)).toEqual([
    '{"id":1,"price":0.10,"ratio":1500,"at":"2026-01-01T00:00:00+00:00","ok":true,"o":{},"s":"x","z":[1],"a\\"b":"quoted"}',
    '{"id":2,"price":7,"ratio":null,"at":null,"ok":null,"o":null,"s":null,"z":null,"a\\"b":null}',
  ]);
});

test('a table that no message can bring about is a failure of those messages', async () => {
  const failures = await write({ table: 'nothing', autoCreateTable: true }, [
    message('[1]'),
    message('no json'),
    message({}),
  ]);
  expect(failures.map(({ type }) => type)).toEqual(['invalid_data', 'invalid_data', 'invalid_data']);
});

test('a table with a jsonb `data` takes whole bodies of any kind; JSON null is not SQL NULL', async () => {
  await server.sql(
    'CREATE TABLE bodies (id serial PRIMARY KEY, data jsonb NOT NULL, created_at timestamp DEFAULT now())',
  );
  const failures = await write({ table: 'bodies' }, [
    message('{"id":77,"n":0.10}'),
    message('null'),
    message('[1]'),
    message('nope'),
    { ...message('1'), payload: null },
  ]);
  expect(reasons(failures)).toEqual(['invalid_data: its payload is no JSON', 'invalid_data: it has no payload']);
  expect(await rows('(SELECT id, data FROM bodies)')).toEqual([
    expect.stringContaining('{"n": 0.10, "id": 77}'),
    expect.stringContaining('"data":null'),
    expect.stringContaining('"data":[1]'),
  ]);
  expect(await server.sql('SELECT 1 FROM bodies WHERE data IS NULL')).toEqual([]);
});

test('a table whose other columns must be given is written by columns, `data` being one of them', async () => {
  await server.sql('CREATE TABLE outbox (id int NOT NULL, kind text NOT NULL, data jsonb)');
  expect(await write({ table: 'outbox' }, [message({ id: 1, kind: 'k', data: { a: 1 } })])).toEqual([]);
  expect(await rows('outbox')).toEqual(['{"id":1,"kind":"k","data":{"a": 1}}']);
});

test('rawMode keeps body and metadata; a body that carries its own metadata is taken apart', async () => {
  await write({ table: 'raw', rawMode: true, autoCreateTable: true }, [
    message('{"a":0.10}', {
      topic: 't',
      offset: 12345678901234567890n,
      key: Buffer.from('k'),
      n: new ExactNumber('1.0'),
    }),
    message('{"value":{"b":1},"_metadata":{"from":"elsewhere"}}', { topic: 't' }),
  ]);
  expect(await rows('(SELECT id, data, _metadata FROM raw)')).toEqual([
    '{"id":1,"data":{"a": 0.10},"_metadata":{"n": 1.0, "key": "k", "topic": "t", "offset": 12345678901234567890}}',
    '{"id":2,"data":{"b": 1},"_metadata":{"from": "elsewhere"}}',
  ]);
});

test('rawMode with a conflict key keeps one body for each', async () => {
  await withSink(
    { table: 'raw_up', rawMode: true, autoCreateTable: true, upsertMode: true, conflictKey: 'order' },
    async (sink) => {
      await sink.write([message({ order: 'a', n: 1 }), message({ order: 'b', n: 1 })], never);
      await sink.write([message({ order: 'a', n: 2 }), deleted({ order: 'b' })], never);
    },
  );
  expect(await rows('(SELECT "order", data FROM raw_up)', '"order"')).toEqual([
    '{"order":"a","data":{"n": 2, "order": "a"}}',
  ]);
});

test('flattenMetadataColumns: a column for each key of the metadata of the first batch, later ones are left out', async () => {
  const config = {
    rawMode: true,
    autoCreateTable: true,
    flattenMetadataColumns: true,
    flattenMetadataColumnsPrefix: 'kafka_',
  };
  await withSink({ table: 'flat', ...config }, async (sink, lines) => {
    await sink.write([message('{"a":1}', { topic: 't', partition: 3, timestamp: 1_767_225_600_123 })], never);
    await sink.write([message('{"a":2}', { topic: 'u', late: true })], never);
    expect(lines.filter(({ level }) => level === 'warn')).toMatchObject([{ fields: { keys: ['kafka_late'] } }]);
  });
  expect(await rows('(SELECT id, data, kafka_topic, kafka_partition, kafka_timestamp FROM flat)')).toEqual([
    '{"id":1,"data":{"a": 1},"kafka_topic":"t","kafka_partition":3,"kafka_timestamp":"2026-01-01T00:00:00.123+00:00"}',
    '{"id":2,"data":{"a": 2},"kafka_topic":"u","kafka_partition":null,"kafka_timestamp":null}',
  ]);
});

test('whatever is wrong with some rows, all others are written and exactly those come back', async () => {
  await server.sql(`
    CREATE TABLE parents (id int PRIMARY KEY); INSERT INTO parents VALUES (1);
    CREATE TABLE poison (id int NOT NULL, n int CHECK (n < 100), s varchar(5), at timestamptz,
      parent int REFERENCES parents DEFERRABLE INITIALLY DEFERRED);
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.s = 'evil' THEN RAISE EXCEPTION 'no evil'; END IF; RETURN NEW; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON poison FOR EACH ROW EXECUTE FUNCTION refuse()`);
  const bad: Record<string, (id: number) => string | Buffer> = {
    'check constraint': (id) => `{"id":${id},"n":100}`,
    'foreign key, checked at the commit': (id) => `{"id":${id},"parent":2}`,
    'null in a key': () => '{"id":null,"n":1}',
    'no number': (id) => `{"id":${id},"n":"x"}`,
    'out of range': (id) => `{"id":${id},"n":9999999999}`,
    'too long': (id) => `{"id":${id},"s":"123456"}`,
    'no moment': (id) => `{"id":${id},"at":"2026-13-01"}`,
    'a NUL': (id) => `{"id":${id},"s":"a\\u0000"}`,
    'half a character': (id) => `{"id":${id},"s":"\\ud800"}`,
    'raised by a trigger': (id) => `{"id":${id},"s":"evil"}`,
    'broken JSON': (id) => `{"id":${id},"s":"x"`,
    'JSON broken within': (id) => `{"id":${id},"s":[1,,]}`,
    'no object': () => '42',
    'no UTF-8': (id) => Buffer.concat([Buffer.from(`{"id":${id},"s":"`), Buffer.from([0xff]), Buffer.from('"}')]),
    'a NUL byte': (id) => Buffer.from(`{"id":${id},"s":"\0"}`),
  };
  const kind = fc.option(fc.constantFrom(...Object.keys(bad)), { nil: undefined, freq: 6 });
  await withSink({ table: 'poison' }, async (sink) => {
    await fc.assert(
      fc.asyncProperty(fc.array(kind, { minLength: 1, maxLength: 40 }), async (kinds) => {
        await server.sql('TRUNCATE poison');
        const batch = kinds.map((kind, id) => {
          const body = (kind === undefined ? undefined : bad[kind]?.(id)) ?? `{"id":${id},"n":${id},"parent":1}`;
          return { ...message('1'), payload: typeof body === 'string' ? Payload.ofText(body) : Payload.ofBytes(body) };
        });
        const failures = await sink.write(batch, never);
        const failed = new Set(failures.map((failure) => failure.message));
        expect(batch.map((one, id) => (failed.has(one) ? kinds[id] : undefined))).toEqual(kinds);
        expect(failures).toHaveLength(failed.size);
        for (const { type, isRetryable } of failures) {
          expect(['invalid_data', 'constraint_violation']).toContain(type);
          expect(isRetryable).toBe(false);
        }
        const written = await server.sql('SELECT id FROM poison ORDER BY id');
        expect(written.map(({ id }) => id)).toEqual(kinds.flatMap((kind, id) => (kind === undefined ? [id] : [])));
      }),
      { numRuns: 25 },
    );
  });
}, 60_000);

test('each kind of refusal says what it is', async () => {
  await server.sql('CREATE TABLE kinds (id int PRIMARY KEY, s varchar(3) NOT NULL)');
  const failures = await write({ table: 'kinds' }, [
    message({ id: 1, s: 'ok' }),
    message({ id: 2, s: null }),
    message({ id: 3, s: 'long' }),
  ]);
  expect(reasons(failures)).toEqual([
    'constraint_violation: null value in column "s" of relation "kinds" violates not-null constraint (SQLSTATE 23502)',
    'invalid_data: value too long for type character varying(3) (SQLSTATE 22001)',
  ]);
});

test('a connection that is ended in the middle of a batch loses nothing: the batch is told to be unwritten and is written again', async () => {
  await server.sql('CREATE TABLE cut (id int PRIMARY KEY)');
  await withSink({ table: 'cut' }, async (sink) => {
    const batch = Array.from({ length: 100 }, (_, id) => message({ id }));
    await sink.write(batch.slice(0, 10), never);
    // Holds the table, so that the batch is under way for certain when its connection is ended.
    const holder = new pg.Client({ connectionString: server.url });
    await holder.connect();
    await holder.query('BEGIN; LOCK TABLE cut');
    const writing = sink.write(batch, never);
    const outcome = writing.catch((error: unknown) => error);
    const ended = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%"cut"%'`;
    await expect.poll(async () => (await server.sql(ended)).length).toBeGreaterThan(0);
    expect(await outcome).toMatchObject({ type: 'connection_error', isRetryable: true });
    await holder.end();
    expect(await rows('cut')).toHaveLength(10);
    expect(await sink.write(batch, never)).toEqual([]);
    expect(await rows('cut')).toHaveLength(100);
  });
});

test('a batch that waits for a lock is given up when told so', async () => {
  await server.sql('CREATE TABLE held (id int)');
  const holder = new pg.Client({ connectionString: server.url });
  await holder.connect();
  await holder.query('BEGIN; LOCK TABLE held');
  await withSink({ table: 'held' }, async (sink) => {
    const stop = new AbortController();
    const writing = sink.write([message({ id: 1 })], stop.signal);
    stop.abort(new Error('enough'));
    await expect(writing).rejects.toThrow('enough');
  });
  await holder.end();
});

test('a table that changes under the sink is looked at again', async () => {
  await server.sql('CREATE TABLE moving (id int PRIMARY KEY, a text, n int)');
  await withSink({ table: 'moving', upsertMode: true }, async (sink) => {
    await sink.write([message({ id: 1, a: 'x', n: 1 })], never);
    await server.sql('ALTER TABLE moving DROP COLUMN a, ALTER COLUMN n TYPE bigint, ADD COLUMN b text');
    expect(await sink.write([message({ id: 2, a: 'x', n: 2 })], never)).toEqual([]);
    expect(await sink.write([message({ id: 3, n: 9_999_999_999, b: 'new' })], never)).toEqual([]);
    await server.sql('DROP TABLE moving');
    await expect(sink.write([message({ id: 4 })], never)).rejects.toThrow('there is no table moving');
    await server.sql('CREATE TABLE moving (id text PRIMARY KEY)');
    expect(await sink.write([message({ id: 4 })], never)).toEqual([]);
    expect(await rows('moving')).toEqual(['{"id":"4"}']);
  });
});

test('a sink that was closed stays closed', async () => {
  await server.sql('CREATE TABLE shut (id int)');
  const sink = new PostgresSink({ connectionString: server.url, table: 'shut' }, memoryLog().log);
  await sink.connect(never);
  await sink.close();
  await sink.close();
  await expect(sink.write([message({ id: 1 })], never)).rejects.toThrow('connector is closed');
});

test('an empty batch is written, a row of many megabytes too', async () => {
  await server.sql('CREATE TABLE huge (id int, s text)');
  const body = 'x'.repeat(10_000_000);
  expect(await write({ table: 'huge' }, [], [message({ id: 1, s: body }), message({ id: 2, s: body })])).toEqual([]);
  expect(await server.sql('SELECT length(s) AS n FROM huge')).toEqual([{ n: 10_000_000 }, { n: 10_000_000 }]);
});

test('no error tells the password', async () => {
  const password = 'hunter2-s3cret';
  await server.sql(`CREATE ROLE ann LOGIN PASSWORD '${password}'`);
  const attempt = (url: string) => {
    const sink = new PostgresSink({ connectionString: url, table: 't' }, memoryLog().log);
    return sink.connect(never);
  };
  const own = server.url.replace('postgres@', `ann:${password}@`);
  const urls = [
    own,
    own.replace('/postgres', '/nowhere'),
    own.replace(/:\d+\//, ':1/'),
    own.replace('127.0.0.1', 'no.such.host.invalid'),
    `postgres://ann:${password}@[`,
    `host=h password=${password}`,
    `${own}?sslmode=require`,
    `${own}?sslmode=verify-ca`,
  ];
  for (const url of urls) {
    const error: unknown = await Promise.resolve()
      .then(() => attempt(url))
      .catch((error: unknown) => error);
    expect(error).toBeInstanceOf(Error);
    expect(JSON.stringify([String(error), error, error instanceof Error ? error.cause : undefined])).not.toContain(
      password,
    );
  }
});
