/**
 * Processors that are killed again and again, while replicas come and go and the broker dies: counted where they write.
 * Everything happens before the first test, to all flows at once; the tests look at what is left.
 */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random, seeds } from '@polder/embedded/simulation';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Kafka, startKafka } from '../../../../tools/kafka/start.ts';
import { createTopic, lagOf, produceRaw, readAll } from '../../../../tools/kafka/topics.ts';
import { type PostgresServer, startPostgres } from '../../../../tools/postgres/start.ts';
import { counted, Deployment, partitionsOf, startProcessor } from '../processors.ts';
import { type Started, Workplace } from '../program.ts';
import { runsOf } from './runs.ts';

const COUNT = 200_000;
const KILLS = 20;
const PARTITIONS = 6;
/** Of the table that is read while it changes. */
const ROWS = 500;
/** After so many kills of each flow a second replica comes and goes, and after so many of one of them the broker dies. */
const JOINS_AFTER = Math.round(0.4 * KILLS);
const BROKER_DIES_AFTER = Math.round(0.6 * KILLS);
/** So many come anew before each kill. */
const PORTION = COUNT / KILLS;
const SENT = 'dataflow_messages_sent_total';

const [seed = 1] = seeds(1);
const random = new Random(seed);

let kafka: Kafka;
let postgres: PostgresServer;
let broker: string;
let copies: string;
let versions: string;
const place = new Workplace();
const deployments: Deployment[] = [];
/** Versions of rows that nobody changed before they were read. */
const rested: Version[] = [];
let flows: Readonly<Record<'upsert' | 'append' | 'copy', NumbersFlow>>;
let endings: readonly Ending[];

function deployed(start: () => Started): Deployment {
  const deployment = new Deployment(start);
  deployments.push(deployment);
  return deployment;
}

interface Version {
  readonly id: number;
  readonly version: number;
}

interface Ending {
  readonly name: string;
  /** Of its last run. */
  readonly code: unknown;
}

/** Numbers on their way from a topic of their own. */
interface NumbersFlow {
  /** Also its consumer group. */
  readonly name: string;
  readonly numbers: string;
  readonly start: () => Started;
}

async function flowTo(name: string, sink: object): Promise<NumbersFlow> {
  const numbers = await createTopic(broker, PARTITIONS);
  const source = { type: 'kafka', config: { brokers: [broker], topic: numbers, consumerGroup: name } };
  return { name, numbers, start: () => startProcessor(place, { source, sink }, { name }) };
}

const table = (name: string, more: object = {}) => ({
  type: 'postgresql',
  config: { connectionString: postgres.url, table: name, batchSize: 500, batchFlushIntervalSeconds: 1, ...more },
});

const topic = (name: string) => ({ type: 'kafka', config: { brokers: [broker], topic: name } });

async function until(what: string, isSo: () => boolean | Promise<boolean>, seconds = 240): Promise<void> {
  const deadline = performance.now() + seconds * 1_000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`not within ${seconds} s: ${what} (seed ${seed})`);
    await sleep(10);
  }
}

/** Waits until the present one has written so many, or has died by itself. */
async function hasSent(deployment: Deployment, count: number): Promise<void> {
  const { current } = deployment;
  await until(
    `${count} messages are written`,
    async () => deployment.current !== current || (await counted(current, SENT)) >= count,
  );
}

/** A second one joins, writes something, and leaves as it should. */
async function rebalance(first: Deployment, start: () => Started): Promise<void> {
  const second = deployed(start);
  const isShared = () => [first, second].every(({ current }) => partitionsOf(current) === PARTITIONS / 2);
  await until('the replicas share the partitions', isShared);
  expect(await second.stop()).toBe(0);
}

let lastUse: Promise<unknown> = Promise.resolve();

/**
 * One after the other, and the death of the broker is one of them: a number that is sent again, because nobody knows whether it
 * arrived, would be there twice.
 */
function usingTheBroker<T>(work: () => Promise<T>): Promise<T> {
  const use = lastUse.then(work);
  lastUse = use.catch(() => undefined);
  return use;
}

async function send(numbers: string, from: number): Promise<void> {
  const portion = Array.from({ length: PORTION }, (_, i) => from + i);
  for (let at = 0; at < PORTION; at += 2_000) {
    // One key for all of a partition: copied, they are in one partition again, in the order in which they were written.
    const records = portion.slice(at, at + 2_000).map((n) => ({
      topic: numbers,
      partition: n % PARTITIONS,
      key: Buffer.from(String(n % PARTITIONS)),
      value: Buffer.from(`{"n":${n}}`),
    }));
    await usingTheBroker(() => produceRaw(broker, records));
  }
}

/** Kills it at moments that are drawn: while it starts, while it joins, and after it has written so and so much. */
async function torment({ name, numbers, start }: NumbersFlow): Promise<Ending> {
  const drawn = random.fork(name);
  const deployment = deployed(start);
  for (let kill = 1; kill <= KILLS; kill++) {
    const sending = send(numbers, (kill - 1) * PORTION);
    if (drawn.chance(0.25)) await sleep(drawn.between(0, 3_000));
    else await hasSent(deployment, drawn.integer(0, PORTION - 1));
    await sleep(drawn.between(0, 30));
    await deployment.kill();
    await sending;
    if (kill === JOINS_AFTER) await rebalance(deployment, start);
    if (kill === BROKER_DIES_AFTER && name === 'copy') await usingTheBroker(() => kafka.restart());
  }
  const lag = () => usingTheBroker(() => lagOf(broker, name, numbers));
  await until(`${name} has committed everything`, async () => (await lag()) === 0);
  return { name, code: await deployment.stop() };
}

/** Rows are inserted and changed, some of them several times in a row, while the processor that reads them dies twice in each round. */
async function changeRows(): Promise<Ending> {
  const name = 'rows';
  const drawn = random.fork(name);
  const source = { connectionString: postgres.url, table: 'items', pollInterval: 1 };
  const spec = {
    source: { type: 'postgresql', config: source },
    sink: topic(versions),
    checkpointSaveInterval: '100ms',
  };
  const checkpoint = join(place.folder, 'checkpoint.json');
  const deployment = deployed(() => startProcessor(place, spec, { name, args: ['--checkpoint', checkpoint] }));
  for (let round = 1; round <= KILLS / 2; round++) {
    for (let kill = 1; kill <= 2; kill++) {
      await postgres.sql(
        `INSERT INTO items SELECT coalesce((SELECT max(id) FROM items), 0) + n, 1 FROM generate_series(1, ${ROWS}) n`,
      );
      for (let change = drawn.integer(1, 3); change > 0; change--)
        await postgres.sql('UPDATE items SET version = version + 1, updated_at = now() WHERE id % 3 = $1', [
          drawn.integer(0, 2),
        ]);
      await sleep(drawn.between(0, 3_000));
      await deployment.kill();
    }
    for (const { id, version } of await postgres.sql('SELECT id::int, version FROM items'))
      rested.push({ id: Number(id), version: Number(version) });
    await until('the rows are read up to the last one', () => isReadUpTo(checkpoint));
  }
  return { name, code: await deployment.stop() };
}

async function isReadUpTo(checkpoint: string): Promise<boolean> {
  const written: { postgresql?: { lastReadChangeTime: string } } = JSON.parse(textOf(checkpoint) ?? '{}');
  const last = written.postgresql?.lastReadChangeTime ?? '-infinity';
  const [answer] = await postgres.sql('SELECT max(updated_at) <= $1::timestamptz AS is_so FROM items', [last]);
  return answer?.['is_so'] === true;
}

/** Undefined: there is no such file yet. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

beforeAll(async () => {
  console.log(`seed ${seed}`);
  [kafka, postgres] = await Promise.all([
    startKafka({ dir: mkdtempSync(join(tmpdir(), 'polder-kafka-')) }),
    startPostgres(),
  ]);
  broker = kafka.addresses.plaintext;
  copies = await createTopic(broker, PARTITIONS);
  versions = await createTopic(broker, PARTITIONS);
  await postgres.sql('CREATE TABLE upserted (n bigint PRIMARY KEY)');
  await postgres.sql('CREATE TABLE appended (n bigint, place bigserial)');
  await postgres.sql(
    'CREATE TABLE items (id bigint PRIMARY KEY, version int NOT NULL, updated_at timestamptz NOT NULL DEFAULT now())',
  );

  flows = {
    upsert: await flowTo('upsert', table('upserted', { upsertMode: true })),
    append: await flowTo('append', table('appended')),
    copy: await flowTo('copy', topic(copies)),
  };
  endings = await Promise.all([torment(flows.upsert), torment(flows.append), torment(flows.copy), changeRows()]);
}, 900_000);

afterAll(async () => {
  for (const deployment of deployments) deployment.abandon();
  await place[Symbol.asyncDispose]();
  await Promise.all([kafka.stop(), postgres.stop()]);
});

function numberIn(value: Buffer | null): number {
  const { n }: { n: number } = JSON.parse(String(value));
  return n;
}

/** What came again came from a committed position on, without a gap, and at most once for each time that somebody died or moved. */
async function expectRereadsOnly({ name, numbers }: NumbersFlow, arrived: readonly number[]): Promise<void> {
  const sent = await readAll(broker, numbers);
  const origins = new Map(sent.map(({ partition, offset, value }) => [numberIn(value), { partition, offset }]));
  const commits = await kafka.commits(name, numbers);
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const offsets = arrived.flatMap((n) => {
      const origin = origins.get(n);
      return origin?.partition === partition ? [Number(origin.offset)] : [];
    });
    const runs = runsOf(offsets);
    const committed = commits.get(partition) ?? [];
    expect(committed).toEqual(committed.toSorted((a, b) => a - b));
    const starts = new Set([0, ...committed]);
    expect(runs.filter(({ from }) => !starts.has(from))).toEqual([]);
    // The second replica came and went, and the broker died once.
    expect(runs.length).toBeLessThanOrEqual(1 + KILLS + 3);
  }
}

describe(`a processor that is killed ${KILLS} times`, () => {
  test('ends well when it is told to, with everything committed', () => {
    expect(endings.map(({ code }) => code)).toEqual(endings.map(() => 0));
  });

  test('loses nothing and repeats nothing where it upserts', async () => {
    expect(await postgres.sql('SELECT count(*)::int, min(n)::int, max(n)::int FROM upserted')).toEqual([
      { count: COUNT, min: 0, max: COUNT - 1 },
    ]);
  });

  test('loses nothing where it appends, and writes again only what was not committed', async () => {
    const arrived = (await postgres.sql('SELECT n::int FROM appended ORDER BY place')).map(({ n }) => Number(n));
    expect(new Set(arrived).size).toBe(COUNT);
    await expectRereadsOnly(flows.append, arrived);
  });

  test('loses nothing from topic to topic, and writes again only what was not committed', async () => {
    const arrived = (await readAll(broker, copies)).map(({ value }) => numberIn(value));
    expect(new Set(arrived).size).toBe(COUNT);
    await expectRereadsOnly(flows.copy, arrived);
  });

  test('brings every version of a row that was not replaced at once, in order, and the last one last', async () => {
    const arrived = (await readAll(broker, versions)).map(({ value }) => {
      const { id, version }: Version = JSON.parse(String(value));
      return { id, version };
    });
    const seen = new Set(arrived.map(({ id, version }) => `${id}/${version}`));
    expect(rested.filter(({ id, version }) => !seen.has(`${id}/${version}`))).toEqual([]);
    const newest = new Map<number, number>();
    const last = new Map<number, number>();
    for (const { id, version } of arrived) {
      // A version may come twice, but not after its successor.
      expect(version).toBeGreaterThanOrEqual(newest.get(id) ?? 0);
      newest.set(id, version);
      last.set(id, version);
    }
    const stored = await postgres.sql('SELECT id::int, version FROM items');
    expect(stored.filter(({ id, version }) => last.get(Number(id)) !== version)).toEqual([]);
  });
});
