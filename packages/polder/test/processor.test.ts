import { existsSync, rmSync, symlinkSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../../../tools/postgres/start.ts';
import { asked, ended, startProcessor, stopped } from './processors.ts';
import { type Started, Workplace } from './program.ts';

let postgres: PostgresServer;
let place: Workplace;
beforeAll(async () => {
  postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres.stop());
beforeEach(() => {
  place = new Workplace();
});
afterEach(async () => {
  await place[Symbol.asyncDispose]();
  await postgres.sql('DROP TABLE IF EXISTS orders, paid, foreign_orders, failed');
});

const to = (table: string, more: object = {}) => ({
  type: 'postgresql',
  config: { connectionString: postgres.url, table, batchSize: 10, batchFlushIntervalSeconds: 1, ...more },
});

const flow = (more: object = {}) => ({
  source: { type: 'postgresql', config: { connectionString: postgres.url, table: 'orders', pollInterval: 1 } },
  sink: to('paid', { upsertMode: true, conflictKey: 'id', autoCreateTable: true }),
  checkpointSaveInterval: '100ms',
  ...more,
});

const started = (spec: object, ...args: readonly string[]): Started => startProcessor(place, spec, { args });

const PATIENCE = { timeout: 20_000, interval: 50 };
const rowsOf = async (table: string) =>
  (await postgres.sql(`SELECT to_regclass('${table}') AS there`))[0]?.['there'] === null
    ? []
    : postgres.sql(`SELECT * FROM ${table} ORDER BY 1`);
const becomes = async (table: string, count: number) =>
  await expect.poll(async () => (await rowsOf(table)).length, PATIENCE).toBe(count);

const orders = (from: number, to: number) =>
  postgres.sql(`INSERT INTO orders SELECT n, 'NL', n % 2 = 0, n * 0.10, now() FROM generate_series(${from}, ${to}) n`);

// A machine that is busy with other things may take seconds to start a process, and some tests start several.
describe('polder processor', { timeout: 90_000 }, () => {
  beforeEach(() =>
    postgres.sql(
      'CREATE TABLE orders (id bigint PRIMARY KEY, country text, paid boolean, total numeric, updated_at timestamptz)',
    ),
  );

  test('moves what is there and what comes, by every route, and goes on after a stop where it was', async () => {
    const route = { condition: "country == 'DE'", sink: to('foreign_orders', { autoCreateTable: true }) };
    const spec = flow({
      transformations: [
        { type: 'filter', config: { condition: 'paid' } },
        { type: 'router', config: { routes: [route] } },
      ],
    });
    await orders(1, 100);
    await postgres.sql("UPDATE orders SET country = 'DE' WHERE id <= 10");
    const first = started(spec, '--checkpoint', `${place.folder}/checkpoint.json`);
    await becomes('paid', 45);
    await becomes('foreign_orders', 5);
    expect(await asked(first, '/readyz')).toEqual({ status: 200, text: 'ok' });
    expect(await asked(first, '/livez')).toEqual({ status: 200, text: 'ok' });
    const { text } = await asked(first, '/metrics');
    const labels = 'namespace="default",name="orders"';
    expect(text).toContain(`dataflow_messages_received_total{${labels},source_type="postgresql"} 100\n`);
    expect(text).toContain(`dataflow_messages_sent_total{${labels},sink_type="postgresql",route="default"} 45\n`);
    expect(text).toContain(
      `dataflow_messages_sent_total{${labels},sink_type="postgresql",route="country == 'DE'"} 5\n`,
    );
    first.child.kill('SIGTERM');
    expect(await ended(first)).toMatchObject({ code: 0, err: '' });

    await orders(101, 120);
    const second = started(spec, '--checkpoint', `${place.folder}/checkpoint.json`);
    await becomes('paid', 55);
    second.child.kill('SIGTERM');
    expect(await second.exit).toBe(0);
    // Read again would be written again: this table takes a row as often as it comes.
    expect(await rowsOf('foreign_orders')).toHaveLength(5);
    expect((await rowsOf('paid'))[0]).toMatchObject({ total: '1.20' });
  });

  test('a row that can not be written goes to the error sink, with the reason, and the rest arrives', async () => {
    await postgres.sql('CREATE TABLE paid (id bigint PRIMARY KEY, total numeric CHECK (total < 5))');
    await orders(1, 60);
    const spec = flow({
      transformations: [{ type: 'select', config: { fields: ['id', 'total'] } }],
      errors: to('failed', { rawMode: true, autoCreateTable: true }),
    });
    const { child, exit } = started(spec, '--checkpoint', `${place.folder}/checkpoint.json`);
    await becomes('failed', 11);
    await becomes('paid', 49);
    child.kill('SIGTERM');
    expect(await exit).toBe(0);
    const failed = await rowsOf('failed');
    expect(failed.map(({ data }) => data)).toContainEqual(
      expect.objectContaining({ original_message: { id: 60, total: 6 } }),
    );
  });

  test('values of secrets.json are put where they belong, and appear nowhere', async () => {
    await orders(1, 2);
    const secret = postgres.url.replace('postgres@', 'postgres:s3cr3t@');
    const ref = { connectionStringSecretRef: { name: 'db', key: 'url' } };
    const { connectionString: _, ...config } = to('paid', {
      upsertMode: true,
      conflictKey: 'id',
      autoCreateTable: true,
    }).config;
    place.write('secrets.json', JSON.stringify({ '/sink/postgresql/connectionString': secret }));
    const running = started(flow({ sink: { type: 'postgresql', postgresql: { ...config, ...ref } } }));
    await becomes('paid', 2);
    running.child.kill('SIGTERM');
    const { code, out, err } = await ended(running);
    expect(code).toBe(0);
    expect(out + err).not.toContain('s3cr3t');
  });

  test('a table that is missing is named', async () => {
    const { code, err } = await ended(started(flow({ sink: to('paid') })));
    expect(err).toBe('polder: failed to connect to sink: there is no table paid: create it, or set autoCreateTable\n');
    expect(code).toBe(1);
  });

  describe('on a disk that is full', () => {
    const checkpoint = () => `${place.folder}/checkpoint.json`;
    const NEXT = '.next';
    beforeEach(async () => {
      await orders(1, 20);
      symlinkSync('/dev/full', checkpoint() + NEXT);
    });

    test('it goes on, says why it remembers nothing, and remembers as soon as there is room', async () => {
      const running = started(flow(), '--checkpoint', checkpoint());
      await becomes('paid', 20);
      await running.says(/could not commit; trying again/);
      expect(running.said.out).toMatch(/cannot write the checkpoint .*checkpoint\.json: ENOSPC/);
      expect(await asked(running, '/readyz')).toMatchObject({ status: 200 });
      rmSync(checkpoint() + NEXT);
      await expect.poll(() => existsSync(checkpoint()), PATIENCE).toBe(true);
      expect(await stopped(running)).toBe(0);
    });

    test('it ends within its grace period with one line that says so, and the next run reads everything again', async () => {
      const running = started(flow({ terminationGracePeriodSeconds: 2 }), '--checkpoint', checkpoint());
      await becomes('paid', 20);
      running.child.kill('SIGTERM');
      const { code, err } = await ended(running);
      expect(err).toMatch(/^polder: failed to commit: cannot write the checkpoint [^\n]*ENOSPC[^\n]*\n$/);
      expect(code).toBe(1);
      rmSync(checkpoint() + NEXT);
      await postgres.sql('TRUNCATE paid');
      const next = started(flow(), '--checkpoint', checkpoint());
      await becomes('paid', 20);
      expect(await stopped(next)).toBe(0);
    });
  });

  test('the second Ctrl-C ends it at once', async () => {
    await postgres.sql('CREATE TABLE paid (id bigint PRIMARY KEY)');
    await orders(1, 20);
    await postgres.sql('BEGIN; LOCK TABLE paid IN SHARE MODE');
    const running = started(flow());
    await running.says(/starting/);
    const isWaiting = async () => {
      const [answer] = await postgres.sql(
        "SELECT count(*)::int FROM pg_locks WHERE NOT granted AND relation = 'paid'::regclass",
      );
      return answer?.['count'];
    };
    await expect.poll(isWaiting, PATIENCE).toBe(1);
    running.child.kill('SIGINT');
    await expect.poll(async () => (await asked(running, '/readyz')).status, PATIENCE).toBe(503);
    running.child.kill('SIGINT');
    expect(await ended(running)).toMatchObject({ code: 130, err: '' });
    await postgres.sql('ROLLBACK');
  });

  test.each([
    ['a spec that is not there', () => undefined, /^polder: cannot read .*spec\.json: there is no such file\n$/],
    ['a spec that is no JSON', () => '{"source": "s3cr3t', /^polder: .*spec\.json is no valid JSON\n$/],
    [
      'an unknown type',
      () => JSON.stringify(flow({ sink: { type: 'postgres', config: {} } })),
      /^polder: the spec .*spec\.json is invalid: spec\.sink\.type: .*"postgres".*\n$/,
    ],
    [
      'a source that can not be reached',
      () =>
        JSON.stringify(
          flow({
            source: {
              type: 'postgresql',
              config: { connectionString: 'postgres://u:s3cr3t@127.0.0.1:1/db', table: 'orders' },
            },
          }),
        ),
      /^polder: failed to connect to source: .*127\.0\.0\.1:1.*\n$/,
    ],
  ])('%s ends it with one line that says so', async (_, text, line) => {
    const given = text();
    const path = given === undefined ? `${place.folder}/spec.json` : place.write('spec.json', given);
    const args = ['processor', '--spec-path', path, '--metrics-bind-address', '127.0.0.1:0'];
    const { code, err, out } = await place.result(...args);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(line) });
    expect(out + err).not.toContain('s3cr3t');
  });
});
