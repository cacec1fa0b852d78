import { beforeAll, describe, expect, inject, test } from 'vitest';
import { message } from '../../../test/postgres/messages.ts';
import { never, reasons, sinkOf, write } from '../../../test/trino/rig.ts';
import { sqlOf } from '../../../test/trino/sql.ts';
import type { Message } from '../../message.ts';
import { Payload } from '../../payload.ts';

const { url: serverURL, memory, iceberg } = inject('trino');
const sql = sqlOf(serverURL);
const inMemory = { serverURL, catalog: memory, schema: 'default' };
const inLake = { serverURL, catalog: iceberg, schema: 'sinks' };
const deleted = (body: unknown) => message(body, { operation: 'delete' });

beforeAll(async () => {
  await sql(`CREATE SCHEMA IF NOT EXISTS ${iceberg}.sinks`);
});

describe('values arrive as they were written, to the last digit', () => {
  const columns = {
    id: 'bigint',
    ti: 'tinyint',
    si: 'smallint',
    i: 'integer',
    d: 'decimal(38, 10)',
    d0: 'decimal(20, 0)',
    r: 'real',
    f: 'double',
    b: 'boolean',
    s: 'varchar',
    s3: 'varchar(3)',
    c: 'char(4)',
    bin: 'varbinary',
    u: 'uuid',
    day: 'date',
    t: 'time(6)',
    ts: 'timestamp(9)',
    tz: 'timestamp(6) with time zone',
    j: 'json',
    ip: 'ipaddress',
    a: 'array(decimal(10, 2))',
    m: 'map(varchar, bigint)',
    w: 'row(x bigint, y array(date))',
  };
  const rows = [
    `{"id":9007199254740993,"ti":-128,"si":32767,"i":-2147483648,"d":1234567890123456789012345678.0123456789,"d0":18446744073709551615,"r":1.5,"f":1.7976931348623157e308,"b":true,"s":"it's \\"é\\" 😀 \\u0000 \\n \\\\","s3":"😀éz","c":"ab","bin":"AP8=","u":"12151fd2-7586-11e9-8f9e-2a86e4085a59","day":"2024-02-29","t":"23:59:59.999999","ts":"2026-01-31T08:00:00.123456789","tz":"2026-01-31T08:00:00.123456+02:00","j":{"a":[1,null]},"ip":"10.0.0.1","a":[0.10,null,-12345678.99],"m":{"k":9007199254740993},"w":{"x":9007199254740993,"y":["2026-01-31"]}}`,
    `{"id":"-9223372036854775808","d":"0.0000000001","f":"NaN","s":0.10,"ts":1767225600,"tz":1767225600123,"a":[],"m":{},"w":{"X":null}}`,
    `{"id":0,"d":1e3,"d0":5.0,"f":"-Infinity","s":{"k":1.50},"ts":"2026-01-31","tz":"2026-01-31 08:00:00Z","w":{}}`,
    `{"id":1,"s":null,"a":null}`,
  ];

  test('in every type there is', async () => {
    const definitions = Object.entries(columns).map(([name, type]) => `${name} ${type}`);
    await sql(`CREATE TABLE memory.default.exact (${definitions.join(', ')})`);
    const { failures } = await write(
      inMemory,
      { table: 'exact' },
      rows.map((row) => message(row)),
    );
    expect(reasons(failures)).toEqual([]);
    const nulls = (count: number) => Array.from({ length: count }, () => null);
    const printed = await sql('SELECT * FROM memory.default.exact ORDER BY id');
    expect(printed).toEqual([
      `[-9223372036854775808,null,null,null,"0.0000000001",null,null,"NaN",null,"0.10",null,null,null,null,null,null,"2026-01-01 00:00:00.000000000","2026-01-01 00:00:00.123000 UTC",null,null,[],{},[null,null]]`,
      `[0,null,null,null,"1000.0000000000","5",null,"-Infinity",null,"{\\"k\\":1.50}",null,null,null,null,null,null,"2026-01-31 00:00:00.000000000","2026-01-31 08:00:00.000000 UTC",null,null,null,null,[null,null]]`,
      `[1,${nulls(22).map(String).join(',')}]`,
      `[9007199254740993,-128,32767,-2147483648,"1234567890123456789012345678.0123456789","18446744073709551615",1.5,1.7976931348623157E308,true,"it's \\"é\\" 😀 \\u0000 \\n \\\\","😀éz","ab  ","AP8=","12151fd2-7586-11e9-8f9e-2a86e4085a59","2024-02-29","23:59:59.999999","2026-01-31 08:00:00.123456789","2026-01-31 06:00:00.123456 UTC","{\\"a\\":[1,null]}","10.0.0.1",["0.10",null,"-12345678.99"],{"k":9007199254740993},[9007199254740993,["2026-01-31"]]]`,
    ]);
  });
});

test('a batch larger than a statement may be is cut, and all of it arrives', async () => {
  await sql('CREATE TABLE memory.default.large (id bigint, s varchar)');
  const batch = Array.from({ length: 3_000 }, (_, id) => message({ id, s: `${id} ${"'".repeat(300)}` }));
  const { failures } = await write(inMemory, { table: 'large' }, batch);
  expect(failures).toEqual([]);
  expect(await sql('SELECT count(DISTINCT id), count(*), min(length(s)) FROM memory.default.large')).toEqual([
    '[3000,3000,302]',
  ]);
});

test('only what does not fit comes back, with the reason, and everything else is written', async () => {
  await sql('CREATE TABLE memory.default.poison (id bigint, n decimal(4, 2), d date, s varchar(3), ip ipaddress)');
  const poison: [string | Buffer | null, string][] = [
    [
      '{"id":9223372036854775808}',
      'invalid_data: column "id" of table memory.default.poison: it has 9223372036854775808, which is no bigint',
    ],
    [
      '{"id":1,"n":1.555}',
      'invalid_data: column "n" of table memory.default.poison: it has 1.555, which is no decimal(4,2)',
    ],
    [
      '{"id":1,"d":"2026-02-30"}',
      'invalid_data: column "d" of table memory.default.poison: it has "2026-02-30", which is no date',
    ],
    [
      '{"id":1,"s":"four"}',
      'invalid_data: column "s" of table memory.default.poison: it has 4 characters, and varchar(3) holds 3',
    ],
    ['{"id":1,"ip":"nowhere"}', 'invalid_data: Cannot cast value to IPADDRESS: nowhere (INVALID_CAST_ARGUMENT)'],
    ['{"id":1', 'invalid_data: its payload is no JSON object'],
    ['{"id":tru}', 'invalid_data: its payload is no JSON'],
    ['[1]', 'invalid_data: its payload is no JSON object'],
    ['{"other":1}', 'invalid_data: none of its keys is a column of table memory.default.poison'],
    [null, 'invalid_data: it has no payload'],
  ];
  const batch: Message[] = [];
  for (const [at, [body]] of poison.entries()) {
    batch.push(message({ id: 100 + at, ip: '10.0.0.1' }));
    batch.push(body === null ? { ...message(''), payload: null } : message(body));
  }
  const { failures } = await write(inMemory, { table: 'poison' }, batch);
  const byMessage = new Map(failures.map((failure) => [failure.message, `${failure.type}: ${failure.because}`]));
  expect(failures).toHaveLength(poison.length);
  expect(poison.map((_, at) => byMessage.get(batch[at * 2 + 1] ?? message('')))).toEqual(
    poison.map(([, reason]) => reason),
  );
  expect(failures.every(({ isRetryable }) => !isRetryable)).toBe(true);
  expect(await sql('SELECT count(*), count(DISTINCT id) FROM memory.default.poison')).toEqual(['[10,10]']);
});

test('a column that may not be NULL refuses its row alone', async () => {
  await sql('CREATE TABLE iceberg.sinks.strict (id bigint NOT NULL, v varchar)');
  const batch = [message({ id: 1, v: 'a' }), message({ v: 'b' }), message({ id: 3, v: 'c' })];
  const { failures } = await write(inLake, { table: 'strict' }, batch);
  expect(failures).toMatchObject([{ message: batch[1], type: 'constraint_violation', isRetryable: false }]);
  expect(await sql('SELECT id FROM iceberg.sinks.strict ORDER BY id')).toEqual(['[1]', '[3]']);
});

describe('upsert', () => {
  const upsert = { upsertMode: true, conflictKey: 'id' };

  test('the last message about a row wins, what it does not tell of stays, and deletes remove the row', async () => {
    await sql('CREATE TABLE iceberg.sinks.merged (id bigint, v varchar, w varchar)');
    const first = [message({ id: 1, v: 'a', w: 'x' }), message({ id: 2, v: 'b' }), message({ id: '1', v: 'c' })];
    const second = [
      message({ id: 2, w: 'y' }),
      deleted({ id: 1 }),
      message({ id: 3, v: 'd' }),
      deleted({ id: 3, v: 'd' }),
      message({ id: 3, v: 'e' }),
    ];
    const { failures } = await write(inLake, { table: 'merged', ...upsert }, first, second);
    expect(reasons(failures)).toEqual([]);
    expect(await sql('SELECT * FROM iceberg.sinks.merged ORDER BY id')).toEqual(['[2,"b","y"]', '[3,"e",null]']);
  });

  test('reading twice does no harm, also with a key of several columns', async () => {
    await sql('CREATE TABLE iceberg.sinks.twice (tenant varchar, at timestamp(6) with time zone, n decimal(10, 2))');
    const batch = Array.from({ length: 50 }, (_, n) =>
      message({ tenant: `t${n % 5}`, at: `2026-01-01T00:00:${String(n).padStart(2, '0')}.5Z`, n: n + 0.25 }),
    );
    const config = { table: 'twice', upsertMode: true, conflictKey: 'tenant, at' };
    expect((await write(inLake, config, batch, batch)).failures).toEqual([]);
    expect(await sql('SELECT count(*), sum(n) FROM iceberg.sinks.twice')).toEqual(['[50,"1237.50"]']);
  });

  test('a message without its key is refused, and so is a row in the middle of one statement', async () => {
    await sql('CREATE TABLE iceberg.sinks.keyed (id bigint, v bigint)');
    const batch = [message({ id: 1, v: 1 }), message({ v: 2 }), message({ id: 3, v: 'x' }), message({ id: 4, v: 4 })];
    const { failures } = await write(inLake, { table: 'keyed', ...upsert }, batch);
    expect(reasons(failures)).toEqual([
      'invalid_data: it has no value for "id", which identifies its row in table iceberg.sinks.keyed',
      'invalid_data: column "v" of table iceberg.sinks.keyed: it has "x", which is no bigint',
    ]);
    expect(await sql('SELECT id FROM iceberg.sinks.keyed ORDER BY id')).toEqual(['[1]', '[4]']);
  });

  test('a catalog that can not merge says so, without the values', async () => {
    await sql('CREATE TABLE memory.default.appendonly (id bigint, v varchar)');
    await expect(
      write(inMemory, { table: 'appendonly', ...upsert }, [message({ id: 1, v: 'secret' })]),
    ).rejects.toThrow(/^This connector does not support modifying table rows \(NOT_SUPPORTED\)$/);
  });
});

describe('autoCreateTable', () => {
  test('makes a table of what the first batch has, and adds columns as they come', async () => {
    const body = `{"id":1,"userName":"x","n":0.10,"big":18446744073709551615,"f":1e5,"ok":true,"at":"2026-01-31T08:00:00.123456Z","tags":["a"],"nothing":null}`;
    const { failures, lines } = await write(
      inLake,
      { table: 'created', autoCreateTable: true },
      [message(body)],
      [message({ id: 2, userName: 'y', nothing: 7, extra: 'new' })],
    );
    expect(reasons(failures)).toEqual([]);
    expect(await sql('DESCRIBE iceberg.sinks.created')).toEqual(
      [
        ['id', 'bigint'],
        ['username', 'varchar'],
        ['n', 'decimal(38,18)'],
        ['big', 'decimal(38,18)'],
        ['f', 'double'],
        ['ok', 'boolean'],
        ['at', 'timestamp(6) with time zone'],
        ['tags', 'varchar'],
        ['nothing', 'bigint'],
        ['extra', 'varchar'],
      ].map(([name, type]) => JSON.stringify([name, type, '', ''])),
    );
    expect(await sql('SELECT * FROM iceberg.sinks.created ORDER BY id')).toEqual([
      '[1,"x","0.100000000000000000","18446744073709551615.000000000000000000",100000.0,true,"2026-01-31 08:00:00.123456 UTC","[\\"a\\"]",null,null]',
      '[2,"y",null,null,null,null,null,null,7,"new"]',
    ]);
    expect(lines.map((line) => line.message)).toEqual(['created the table', 'added columns']);
  });

  test('makes a table to merge into', async () => {
    const config = { table: 'createdkey', autoCreateTable: true, upsertMode: true, conflictKey: 'id' };
    const { failures } = await write(inLake, config, [message({ id: 'a', v: 1 }), message({ id: 'a', v: 2 })]);
    expect(reasons(failures)).toEqual([]);
    expect(await sql('SELECT * FROM iceberg.sinks.createdkey')).toEqual(['["a",2]']);
    const keyless = await write(inLake, { ...config, table: 'nokey' }, [message({ v: 1 })]);
    expect(reasons(keyless.failures)).toEqual([
      `invalid_data: table iceberg.sinks.nokey can't be created: no message has a value for its key "id"`,
    ]);
  });

  test('leaves out what can not be a column, and writes the rest', async () => {
    const odd = [message({ id: 1 }), message({ '': 1, id: 2 }), message({ '': 3 })];
    const { failures } = await write(inLake, { table: 'odd', autoCreateTable: true }, odd);
    expect(failures.map((failure) => failure.message)).toEqual([odd[2]]);
    expect(await sql('SELECT * FROM iceberg.sinks.odd ORDER BY id')).toEqual(['[1]', '[2]']);
  });

  test('without it a missing table fails at once', async () => {
    await expect(sinkOf(inLake, { table: 'missing' }).sink.connect(never)).rejects.toThrow(
      'there is no table iceberg.sinks.missing: create it, or set autoCreateTable',
    );
  });
});

describe('rawMode', () => {
  test('writes body and metadata as they are, whatever they are', async () => {
    const batch = [
      message('{"b": 1.50,  "a":1}', { topic: 't', offset: 9007199254740993n }),
      message('no JSON at all'),
      message('{"value":{"x":1},"_metadata":{"from":"there"}}'),
      { ...message(''), payload: Payload.ofBytes(Buffer.from([0xff, 0xfe])) },
    ];
    const { failures } = await write(inLake, { table: 'raw', rawMode: true, autoCreateTable: true }, batch);
    expect(failures).toMatchObject([{ message: batch[3], because: 'its payload is no text (UTF-8)' }]);
    expect(await sql('SELECT data, _metadata FROM iceberg.sinks.raw ORDER BY data')).toEqual([
      '["no JSON at all","{}"]',
      '["{\\"b\\": 1.50,  \\"a\\":1}","{\\"topic\\":\\"t\\",\\"offset\\":9007199254740993}"]',
      '["{\\"x\\":1}","{\\"from\\":\\"there\\"}"]',
    ]);
  });

  test('gives each key of the metadata a column if told so', async () => {
    const config = {
      table: 'flat',
      rawMode: true,
      autoCreateTable: true,
      flattenMetadataColumns: true,
      flattenMetadataColumnsPrefix: 'kafka_',
      upsertMode: true,
      conflictKey: 'id',
    };
    const at = { topic: 't', timestamp: 1767225600123 };
    const { failures } = await write(
      inLake,
      config,
      [message({ id: 1, v: 1 }, at)],
      [message({ id: 1, v: 2 }, { topic: 'u' })],
    );
    expect(reasons(failures)).toEqual([]);
    expect(await sql('SELECT id, data, kafka_topic, kafka_timestamp FROM iceberg.sinks.flat')).toEqual([
      '[1,"{\\"id\\":1,\\"v\\":2}","u","2026-01-01 00:00:00.123000 UTC"]',
    ]);
  });

  test('a table of nothing but data takes whole bodies, as older programs have made them', async () => {
    await sql('CREATE TABLE memory.default.dataonly (data varchar)');
    await write(inMemory, { table: 'dataonly' }, [message('{"a": 1}')]);
    expect(await sql('SELECT * FROM memory.default.dataonly')).toEqual(['["{\\"a\\": 1}"]']);
  });
});

test('a table that is changed while it is written to is looked at anew', async () => {
  await sql('CREATE TABLE iceberg.sinks.changing (id bigint, old varchar)');
  const { sink, lines } = sinkOf(inLake, { table: 'changing' });
  await sink.connect(never);
  expect(await sink.write([message({ id: 1, old: 'a' })], never)).toEqual([]);
  await sql('ALTER TABLE iceberg.sinks.changing RENAME COLUMN old TO new');
  expect(await sink.write([message({ id: 2, old: 'b', new: 'c' })], never)).toEqual([]);
  expect(await sql('SELECT * FROM iceberg.sinks.changing ORDER BY id')).toEqual(['[1,"a"]', '[2,"c"]']);
  expect(lines.map(({ fields }) => fields)).toMatchObject([{ keys: ['new'] }, { keys: ['old'] }]);
});

test('an aborted write ends the query on the server', async () => {
  await sql('CREATE TABLE memory.default.aborted (id bigint)');
  const { sink } = sinkOf(inMemory, { table: 'aborted' });
  const stop = new AbortController();
  await sink.connect(stop.signal);
  const writing = sink.write(
    Array.from({ length: 1_000 }, (_, id) => message({ id })),
    stop.signal,
  );
  stop.abort(new Error('enough'));
  await expect(writing).rejects.toThrow('enough');
  const running = await sql(
    `SELECT count(*) FROM system.runtime.queries WHERE source = 'polder' AND state IN ('QUEUED', 'RUNNING')`,
  );
  expect(running).toEqual(['[0]']);
});
