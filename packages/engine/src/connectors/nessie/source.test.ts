import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  column,
  connectedSink,
  hasty,
  memoryCheckpoints,
  memoryLog,
  message,
  readAll,
  sinkConfig,
  sourceConfig,
  textsOf,
} from '../../../test/nessie/fixture.ts';
import { Lakehouse } from '../../../test/nessie/lakehouse.ts';
import { NessieSource } from './source.ts';

const ORDERS = 'shop.orders';
const signal = AbortSignal.timeout(60_000);

let lake: Lakehouse;
beforeEach(async () => {
  lake = await Lakehouse.start();
  lake.createTable(ORDERS, [column(1, 'id', 'long', true)]);
});
afterEach(() => lake.stop());

/** A snapshot of these rows. */
async function append(...ids: readonly number[]): Promise<string> {
  const sink = await connectedSink(sinkConfig(lake), signal);
  await sink.write(
    ids.map((id) => message({ id })),
    signal,
  );
  await sink.close();
  return lastSnapshot();
}

const lastSnapshot = () => JSON.stringify(lake.snapshotsOf(ORDERS).at(-1)?.['snapshot-id']);
const incremental = (startSnapshotID?: string) =>
  sourceConfig(lake, { incrementalBySnapshot: true, ...(startSnapshotID !== undefined && { startSnapshotID }) });
const idsIn = (texts: readonly string[]) => texts.map((text) => Number(/\d+/.exec(text)?.[0]));
const read = async (...args: Parameters<typeof readAll>) => idsIn(textsOf(await readAll(...args)));

test('the whole table is read, with where each row is from', async () => {
  await append(1, 2);
  const snapshot = await append(3);
  const messages = await readAll(sourceConfig(lake), signal);
  expect(idsIn(textsOf(messages))).toEqual([1, 2, 3]);
  expect(messages[0]?.metadata).toEqual({
    namespace: 'shop',
    table: 'orders',
    snapshot_id: snapshot,
    snapshot_sequence: 2,
  });
  expect(messages.map(({ origin }) => [origin.partition, origin.sequence])).toEqual([
    [ORDERS, 0],
    [ORDERS, 1],
    [ORDERS, 2],
  ]);
});

test('an empty table has no rows, and a missing one is an error', async () => {
  expect(await read(sourceConfig(lake), signal)).toEqual([]);
  expect(await read(incremental(), signal)).toEqual([]);
  await expect(readAll(sourceConfig(lake, { table: 'nope' }), signal)).rejects.toThrow(
    'there is no table shop.nope in branch main',
  );
});

test('an address without a catalog is not taken for one without the table', async () => {
  lake.faultOf = () => ({ before: 404 });
  await expect(readAll(sourceConfig(lake), signal)).rejects.toThrow('the catalog refused to load the table: 404');
});

test('the first run reads all there is, each later one what snapshots have added since', async () => {
  const checkpoints = memoryCheckpoints();
  await append(1, 2);
  await append(3);
  expect(await read(incremental(), signal, { checkpoints })).toEqual([1, 2, 3]);
  expect(await read(incremental(), signal, { checkpoints })).toEqual([]);
  for (const id of [4, 5, 6, 7, 8]) await append(id);
  const last = lastSnapshot();
  const messages = await readAll(incremental(), signal, { checkpoints });
  expect(idsIn(textsOf(messages))).toEqual([4, 5, 6, 7, 8]);
  expect(messages.map(({ metadata }) => metadata['snapshot_sequence'])).toEqual([3, 4, 5, 6, 7]);
  expect(checkpoints.saved.get('nessie')).toEqual({
    lastAckedSnapshotID: last,
    lastAckedSnapshotSequence: 7,
    branch: 'main',
    namespace: 'shop',
    table: 'orders',
  });
});

test('a snapshot of which not every row was committed is read again as a whole, and none before it', async () => {
  const checkpoints = memoryCheckpoints();
  await append(1);
  await append(2, 3, 4);
  await readAll(incremental(), signal, { checkpoints });
  await append(5, 6);
  await append(7, 8);
  const source = new NessieSource(incremental(), {
    clock: hasty,
    random: Math.random,
    fetch,
    log: memoryLog(),
    checkpoints,
    isOneOff: true,
  });
  await source.connect(signal);
  for await (const batch of source.read(signal)) {
    // The last row of the one snapshot, and the first of the next, are written; then comes a crash.
    const committed = batch.find(({ payload }) => payload?.text === '{"id":7}') ?? batch.at(-1);
    if (committed) await source.commit([committed.origin]);
  }
  expect(await read(incremental(), signal, { checkpoints })).toEqual([7, 8]);
});

test('rows that were read and not committed come again', async () => {
  const checkpoints = memoryCheckpoints();
  await append(1);
  expect(await read(incremental(), signal, { checkpoints, isCrashing: true })).toEqual([1]);
  expect(await read(incremental(), signal, { checkpoints })).toEqual([1]);
});

test('without a checkpoint reading begins behind startSnapshotID', async () => {
  await append(1);
  const start = await append(2);
  await append(3);
  expect(await read(incremental(start), signal)).toEqual([3]);
  const log = memoryLog();
  expect(await read(incremental('12345'), signal, { log })).toEqual([1, 2, 3]);
  expect(log.lines).toEqual([expect.stringContaining('startSnapshotID is not in the history of the branch')]);
});

test('where the lineage is broken it goes on from startSnapshotID or reads the whole table, and says so', async () => {
  const checkpoints = memoryCheckpoints();
  const start = await append(1);
  await append(2);
  await readAll(incremental(), signal, { checkpoints });
  lake.forgetCommits(1);
  await append(3);
  const log = memoryLog();
  expect(
    await read(incremental(), signal, { checkpoints: { ...checkpoints, save: async () => undefined }, log }),
  ).toEqual([1, 3]);
  expect(log.lines).toEqual([
    expect.stringContaining('is gone from the history of the branch: the whole table is read again'),
  ]);
  const other = memoryLog();
  expect(await read(incremental(start), signal, { checkpoints, log: other })).toEqual([3]);
  expect(other.lines).toEqual([expect.stringContaining('reading on from startSnapshotID')]);
});

test('a table that was dropped and made anew is read from its start', async () => {
  const checkpoints = memoryCheckpoints();
  await append(1);
  await readAll(incremental(), signal, { checkpoints });
  lake.dropTable(ORDERS);
  lake.createTable(ORDERS, [column(1, 'id', 'long', true)]);
  await append(2);
  expect(await read(incremental(), signal, { checkpoints })).toEqual([2]);
});

test('a checkpoint of another branch is not used', async () => {
  const checkpoints = memoryCheckpoints();
  await append(1);
  await readAll(incremental(), signal, { checkpoints });
  const log = memoryLog();
  expect(await read({ ...incremental(), branch: 'dev' }, signal, { checkpoints, log })).toEqual([1]);
  expect(log.lines).toEqual([expect.stringContaining('the checkpoint is about another table or branch')]);
});

test('without snapshotCheckpoints nothing is remembered', async () => {
  const checkpoints = memoryCheckpoints();
  await append(1);
  const config = { ...incremental(), snapshotCheckpoints: false };
  expect(await read(config, signal, { checkpoints })).toEqual([1]);
  expect(checkpoints.saved.size).toBe(0);
  expect(await read(config, signal, { checkpoints })).toEqual([1]);
});

test('a compaction adds nothing, a deletion is refused with what to do', async () => {
  const checkpoints = memoryCheckpoints();
  await append(1);
  await readAll(incremental(), signal, { checkpoints });
  const summary = (operation: string) => ({ summary: { operation } });
  await append(1);
  lake.amendSnapshot(ORDERS, (snapshot) => ({ ...snapshot, ...summary('replace') }));
  await append(2);
  expect(await read(incremental(), signal, { checkpoints })).toEqual([2]);
  const id = await append(3);
  lake.amendSnapshot(ORDERS, (snapshot) => ({ ...snapshot, ...summary('overwrite') }));
  const refused = `snapshot ${id} of table shop.orders is of the operation overwrite: it changed or deleted rows, which incrementalBySnapshot can't tell; to go on behind it, reset the checkpoint and set startSnapshotID to ${id}`;
  await expect(readAll(incremental(), signal, { checkpoints })).rejects.toThrow(refused);
  await append(4);
  expect(await read(incremental(id), signal)).toEqual([4]);
});

test('what breaks on the way is asked for again, and no row comes twice for it', async () => {
  for (const ids of [[1, 2], [3], [4, 5]]) await append(...ids);
  let count = 0;
  // Every third request fails, one way or the other.
  lake.faultOf = () => [undefined, undefined, { before: 503 }, undefined, undefined, 'lost' as const][count++ % 6];
  const log = memoryLog();
  const source = new NessieSource(incremental(), {
    clock: hasty,
    random: Math.random,
    fetch,
    log,
    checkpoints: memoryCheckpoints(),
    isOneOff: true,
  });
  await source.connect(signal);
  const texts: string[] = [];
  for await (const batch of source.read(signal)) texts.push(...textsOf(batch));
  expect(idsIn(texts)).toEqual([1, 2, 3, 4, 5]);
  expect(log.lines.length).toBeGreaterThan(3);
  expect(log.lines.join()).not.toContain('the-secret');
});

test('lent credentials that have expired are lent anew', async () => {
  await append(1);
  const keys: string[] = [];
  let loads = 0;
  lake.faultOf = ({ path, authorization }) => {
    if (!path.startsWith('/s3/')) {
      loads++;
      lake.lent = { 's3.access-key-id': `lent-${loads}`, 's3.secret-access-key': 's' };
      return undefined;
    }
    const key = /Credential=([^/]+)/.exec(authorization ?? '')?.[1] ?? '';
    keys.push(key);
    return key === 'lent-2' ? { before: 500 } : undefined;
  };
  const { accessKey: _, secretAccessKey: __, ...config } = sourceConfig(lake);
  expect(await read(config, signal)).toEqual([1]);
  expect(keys.slice(0, 2)).toEqual(['lent-2', 'lent-3']);
});

test('it waits for more until it is stopped, and then ends', async () => {
  await append(1);
  const stop = new AbortController();
  const source = new NessieSource(incremental(), {
    clock: hasty,
    random: Math.random,
    fetch,
    log: memoryLog(),
    checkpoints: memoryCheckpoints(),
  });
  await source.connect(signal);
  const seen: number[] = [];
  for await (const batch of source.read(AbortSignal.any([signal, stop.signal]))) {
    seen.push(...idsIn(textsOf(batch)));
    if (seen.length < 3) await append(seen.length + 1);
    else stop.abort();
  }
  expect(seen).toEqual([1, 2, 3]);
});
