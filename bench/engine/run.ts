/**
 * `node bench/engine/run.ts`: pipelines of our processor beside those of Bento and Kafka Connect, on one real Kafka and one
 * real PostgreSQL. The client has a core of its own; the servers and this program share the others. Prints a Markdown table
 * for each job; see docs/benchmarks.md.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { startKafka } from '../../tools/kafka/start.ts';
import { startPostgres } from '../../tools/postgres/start.ts';
import { medianOf } from '../runtime/figure.ts';
import { type Row, tableOf } from '../runtime/table.ts';
import { JOBS, type Job, type Peer } from './jobs.ts';
import { type Measured, measure } from './measure.ts';
import { bento } from './peers/bento.ts';
import { connect } from './peers/connect.ts';
import { ours } from './peers/ours.ts';
import { type Content, idsOf, paidAmong, Tables, Topics } from './places.ts';

const USAGE = `node bench/engine/run.ts [--messages N] [--rounds N] [--only NAME] [--job NAME]

  --messages N  messages of each job (300000)
  --rounds N    rounds; the tables show medians (3)
  --only NAME   only clients whose name contains NAME
  --job NAME    only jobs whose name contains NAME`;

const TARGET_RSS_MB = 200;
/** Our CPU time for a message: so much of Bento's at most. */
const targetShare = (job: Job) => (job.isTransforming || job.from !== job.to ? 0.5 : 1);

interface Options {
  readonly messages: number;
  readonly rounds: number;
  readonly only: string;
  readonly job: string;
}

async function main({ messages, rounds, only, job: jobName }: Options): Promise<void> {
  const peers = [ours, bento, connect].filter(({ name }) => name.includes(only));
  const jobs = JOBS.filter(({ name }) => name.includes(jobName));
  const versions: string[] = [];
  for (const peer of peers) versions.push(await peer.prepare());
  const core = availableParallelism() - 1;
  // Whatever is started from here on, servers first of all, leaves the last core to the client.
  await promisify(execFile)('taskset', ['-a', '-p', '-c', `0-${Math.max(0, core - 1)}`, String(process.pid)]);
  const folder = mkdtempSync(join(tmpdir(), 'polder-bench-'));
  const kafka = await startKafka({ dir: join(folder, 'kafka') });
  const postgres = await startPostgres({ settings: ['wal_level=logical'] });
  const topics = new Topics(kafka.addresses.plaintext);
  const tables = new Tables(postgres);
  try {
    say(`writing ${messages} messages, three times`);
    for (const content of ['new', 'rewritten'] as const) {
      await topics.create(topicOf(content));
      await topics.fill(topicOf(content), content, messages);
    }
    await tables.create(TABLE, messages);
    await tables.fill(TABLE, messages);
    const world = { broker: kafka.addresses.plaintext, postgres: new URL(postgres.url), messages, folder, core };

    const measured = new Map(jobs.map((job) => [job, new Map<Peer, Measured[]>(peers.map((peer) => [peer, []]))]));
    const load = loadavg()[0] ?? 0;
    for (let round = 1; round <= rounds; round++) {
      for (const [job, byPeer] of measured) {
        // Who comes first finds other things in the caches of the servers than who comes last.
        for (const [peer, results] of round % 2 === 1 ? byPeer : [...byPeer].toReversed()) {
          const output = `out_${JOBS.indexOf(job)}_${peers.indexOf(peer)}_${round}`;
          const place = job.to === 'kafka' ? await topics.create(output) : await tables.create(output, messages);
          const content = job.isUpsert ? 'rewritten' : 'new';
          const input = job.from === 'kafka' ? topicOf(content) : TABLE;
          const result = await measure(peer, {
            ...world,
            job,
            input,
            output,
            place,
            expected: expectedOf(job, messages, content),
          });
          say(`round ${round} of ${rounds}: ${job.name}: ${peer.name}: ${shortly(result)}`);
          results.push(result);
          await place.remove();
        }
      }
    }
    const bytes = JSON.stringify((await postgres.sql(`SELECT row_to_json(${TABLE}) FROM ${TABLE} LIMIT 1`))[0]).length;
    console.log(
      `\n${messages} messages of ${bytes} bytes; median of ${rounds}. Load average before: ${load.toFixed(1)}.`,
    );
    console.log(`${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), ${versions.join(', ')}.`);
    for (const [job, byPeer] of measured) console.log(`\n### ${job.name}\n\n${tableFor(job, byPeer)}`);
  } finally {
    await topics.close();
    await postgres.stop();
    await kafka.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const TABLE = 'orders';
const topicOf = (content: Content) => `orders-${content}`;

function expectedOf(job: Job, messages: number, content: Content): number {
  if (job.isTransforming) return paidAmong(messages);
  return job.isUpsert ? new Set(idsOf(content, messages)).size : messages;
}

function tableFor(job: Job, byPeer: ReadonlyMap<Peer, readonly Measured[]>): string {
  const figures = (field: keyof Measured) =>
    [...byPeer.values()].map((results) => medianOf(results.map((result) => result[field])));
  const [, bentos] = figures('cpuMicroseconds');
  const target = typeof bentos === 'number' ? Math.floor(bentos * targetShare(job) * 10) / 10 : undefined;
  const rows: Row[] = [
    { what: 'messages/s', unit: '', digits: 0, better: 'more', figures: figures('messagesPerSecond') },
    { what: 'CPU for a message', unit: 'µs', digits: 1, better: 'less', figures: figures('cpuMicroseconds'), target },
    { what: 'peak RSS', unit: 'MB', digits: 0, better: 'less', figures: figures('peakRssMb'), target: TARGET_RSS_MB },
  ];
  const names = [...byPeer.keys()].map(({ name }) => name);
  return tableOf(names, rows);
}

function shortly({ messagesPerSecond, cpuMicroseconds, peakRssMb }: Measured): string {
  if (typeof messagesPerSecond !== 'number') return messagesPerSecond.missing;
  return `${messagesPerSecond.toFixed(0)}/s, ${Number(cpuMicroseconds).toFixed(1)} µs, ${Number(peakRssMb).toFixed(0)} MB`;
}

// Ended by a signal, a process skips its exit handlers, and with them the end of the servers it started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const say = (line: string) => console.error(`${Math.round(performance.now() / 1000)} s: ${line}`);

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '300000' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    job: { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) console.log(USAGE);
else await main({ ...values, messages: Number(values.messages), rounds: Number(values.rounds) });
