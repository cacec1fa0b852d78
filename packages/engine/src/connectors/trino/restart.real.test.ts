import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTrino, type Trino } from '../../../../../tools/trino/start.ts';
import { message } from '../../../test/postgres/messages.ts';
import { ids, never, type Place, sinkOf, sourceOf } from '../../../test/trino/rig.ts';
import { type Sql, sqlOf } from '../../../test/trino/sql.ts';
import type { Sink } from '../../connector.ts';
import type { Message } from '../../message.ts';

const WITHIN = 300_000;

let trino: Trino;
let sql: Sql;
let place: Place;
beforeAll(async () => {
  trino = await startTrino({ dir: mkdtempSync(join(tmpdir(), 'polder-trino-restart-')) });
  sql = sqlOf(trino.addresses.url);
  place = { serverURL: trino.addresses.url, catalog: trino.addresses.iceberg, schema: 'restarts' };
  await sql('CREATE SCHEMA iceberg.restarts');
}, WITHIN);
afterAll(() => trino?.stop());

/** Until all of it is written, as a pipeline would. */
async function writeUntilDone(sink: Sink, batch: readonly Message[]): Promise<number> {
  let attempts = 0;
  for (let pending = batch; pending.length > 0; ) {
    attempts++;
    try {
      const failures = await sink.write(pending, never);
      expect(failures.filter(({ isRetryable }) => !isRetryable)).toEqual([]);
      pending = failures.map((failure) => failure.message);
    } catch (error) {
      expect(error).toMatchObject({ isRetryable: true });
      await sleep(200);
    }
  }
  return attempts;
}

test(
  'a server that is killed while it is read from loses no row, and tells none twice',
  async () => {
    await sql(`CREATE TABLE iceberg.restarts.source AS
      SELECT n AS id, format('%0300d', n) AS s FROM UNNEST(sequence(1, 200)) AS a(i) CROSS JOIN UNNEST(sequence(i * 100, i * 100 + 99)) AS b(n)`);
    const { source, lines } = sourceOf(place, { table: 'source' });
    const stop = new AbortController();
    await source.connect(stop.signal);
    const messages: Message[] = [];
    for await (const batch of source.read(stop.signal)) {
      // The first portion is on its way; the others are gone with the server.
      if (messages.length === 0) {
        await trino.kill();
        void trino.restart();
      }
      messages.push(...batch);
      if (messages.length >= 20_000) stop.abort();
    }
    expect(ids(messages)).toEqual(Array.from({ length: 20_000 }, (_, n) => n + 100));
    expect(lines.filter(({ level }) => level === 'warn').length).toBeGreaterThan(0);
    expect(lines.map((line) => line.message).join()).toMatch(/has lost the query|can't be reached|SERVER_STARTING_UP/);
  },
  WITHIN,
);

test(
  'a server that is killed while it is written to has every row in the end, and none twice if they are merged',
  async () => {
    await sql('CREATE TABLE iceberg.restarts.appended (id bigint, s varchar)');
    await sql('CREATE TABLE iceberg.restarts.merged (id bigint, s varchar)');
    const batchOf = (from: number) =>
      Array.from({ length: 500 }, (_, n) => message({ id: from + n, s: 'x'.repeat(50) }));
    const appending = sinkOf(place, { table: 'appended' }).sink;
    const merging = sinkOf(place, { table: 'merged', upsertMode: true, conflictKey: 'id' }).sink;
    await appending.connect(never);
    await merging.connect(never);
    let attempts = 0;
    for (let from = 0; from < 5_000; from += 500) {
      if (from === 1_500) void sleep(Math.random() * 400).then(() => trino.restart());
      const written = await Promise.all([
        writeUntilDone(appending, batchOf(from)),
        writeUntilDone(merging, batchOf(from)),
      ]);
      attempts += Math.max(...written);
    }
    expect(attempts).toBeGreaterThan(10);
    const [appended = ''] = await sql(
      'SELECT count(DISTINCT id), count(*) - count(DISTINCT id) FROM iceberg.restarts.appended',
    );
    // Only a statement whose answer got lost can have been carried out twice.
    expect(['[5000,0]', '[5000,500]']).toContain(appended);
    expect(await sql('SELECT count(*), count(DISTINCT id) FROM iceberg.restarts.merged')).toEqual(['[5000,5000]']);
  },
  WITHIN,
);
