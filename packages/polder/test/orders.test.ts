import { join } from 'node:path';
import { DataFlow } from '@polder/dataflow';
import { type Client, Pod } from '@polder/kube';
import pg from 'pg';
import { expect, test } from 'vitest';
import { CHECKOUT, Workplace } from './program.ts';

const PATIENCE = { timeout: 100_000, interval: 250 };

/** The database as a user of the cluster finds it. */
async function connected(client: Client): Promise<pg.Client> {
  const { items } = await client.list(Pod, { namespace: 'default', labelSelector: 'app=shop-database' });
  const host = items[0]?.status?.podIP ?? '';
  const database = new pg.Client({ host, port: 5_432, user: 'shop', password: 'not-a-secret', database: 'shop' });
  await database.connect();
  return database;
}

test('make up: orders flow into two tables, and what a table refuses into the error sink', {
  timeout: 150_000,
}, async () => {
  await using place = new Workplace();
  const up = place.polder('up', '-f', join(CHECKOUT, 'examples/orders'));
  await expect.poll(() => up.said.out, PATIENCE).toContain('everything is ready');
  const client = await place.connect();
  const database = await connected(client);
  const rows = async (query: string) => (await database.query<Record<string, unknown>>(query)).rows;
  try {
    await expect
      .poll(
        () =>
          rows('SELECT (SELECT count(*) FROM orders_nl) > 1 AS nl, (SELECT count(*) FROM orders_abroad) > 1 AS abroad'),
        PATIENCE,
      )
      .toEqual([{ nl: true, abroad: true }]);
    expect(await rows("SELECT * FROM orders_nl WHERE country <> 'NL' OR card !~ '^\\*+$'")).toEqual([]);
    expect(await rows("SELECT * FROM orders_abroad WHERE country = 'NL' OR card !~ '^\\*+$'")).toEqual([]);
    await expect
      .poll(
        () => rows("SELECT data -> 'original_message' ->> 'total' AS total FROM payments_refused LIMIT 1"),
        PATIENCE,
      )
      .toEqual([{ total: '950.00' }]);
    const payments = async () => (await client.get(DataFlow, { namespace: 'default', name: 'payments' })).status;
    await expect.poll(payments, PATIENCE).toMatchObject({ phase: 'Running' });
    await expect.poll(async () => Number((await payments())?.errorCount), PATIENCE).toBeGreaterThan(0);
  } finally {
    await database.end();
  }
  up.child.kill('SIGINT');
  expect(await up.exit).toBe(0);
});
