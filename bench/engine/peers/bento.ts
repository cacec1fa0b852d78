import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../runtime/cache-folder.ts';
import { type Assignment, BATCH_SIZE, type Peer } from '../jobs.ts';
import { ORDER_COLUMNS, PAID, SELECTED, STAMP } from '../order.ts';

const source = join(import.meta.dirname, 'bento');
const goMod = readFileSync(join(source, 'go.mod'), 'utf8');

/** Within the range in which it is at its best (docs/benchmarks.md). */
const KAFKA_BATCH = { count: 5_000, period: '50ms' };
const ROWS = { count: BATCH_SIZE, period: '50ms' };
const IN_FLIGHT = 8;

const program = () =>
  join(cacheFolder(), `bento-${createHash('sha256').update(goMod).update(main()).digest('hex').slice(0, 12)}`);
const main = () => readFileSync(join(source, 'main.go'));

export const bento: Peer = {
  name: 'Bento',
  async prepare() {
    if (!existsSync(program())) await build();
    return `Bento ${/bento (v\S+)/.exec(goMod)?.[1] ?? '?'}`;
  },
  command(assignment) {
    const config = join(assignment.folder, 'bento.json');
    writeFileSync(config, JSON.stringify(configOf(assignment)));
    return [program(), '-c', config];
  },
};

async function build(): Promise<void> {
  mkdirSync(cacheFolder(), { recursive: true });
  console.error('Building Bento from Go modules (once; some minutes) ...');
  const part = `${program()}.${process.pid}`;
  await promisify(execFile)('go', ['build', '-trimpath', '-buildvcs=false', '-o', part, '.'], {
    cwd: source,
    env: { ...process.env, CGO_ENABLED: '0' },
  });
  renameSync(part, program());
}

const configOf = (assignment: Assignment) => ({
  http: { address: `127.0.0.1:${assignment.port}` },
  logger: { level: 'WARN' },
  input: inputOf(assignment),
  pipeline: { processors: assignment.job.isTransforming ? [{ mapping: TRANSFORMATIONS }] : [] },
  output: outputOf(assignment),
});

/** Without a shape of its own for each step: one mapping is the cheapest it can do. */
const TRANSFORMATIONS = `root = if this.status != "${PAID}" { deleted() } else { {
${SELECTED.map((name) => `  "${name}": ${maskedOf(name)},`).join('\n')}
  "${STAMP}": now()
} }`;

function maskedOf(name: (typeof SELECTED)[number]): string {
  if (name === 'card') return '"***"';
  return name === 'customer' ? 'this.customer.assign({"email": "***"})' : `this.${name}`;
}

function inputOf({ job, broker, postgres, input, id }: Assignment) {
  if (job.from === 'kafka') {
    return {
      kafka_franz: {
        seed_brokers: [broker],
        topics: [input],
        consumer_group: id,
        checkpoint_limit: 100_000,
        batching: job.to === 'kafka' ? KAFKA_BATCH : ROWS,
      },
    };
  }
  const select = { driver: 'postgres', dsn: dsnOf(postgres), table: input, columns: ['*'], suffix: 'ORDER BY id' };
  return { sql_select: select };
}

function outputOf({ job, broker, postgres, output }: Assignment) {
  if (job.to === 'kafka') {
    return {
      kafka_franz: {
        seed_brokers: [broker],
        topic: output,
        max_in_flight: IN_FLIGHT,
        ...(job.from === 'kafka' ? { key: '${! meta("kafka_key") }' } : { batching: KAFKA_BATCH }),
      },
    };
  }
  const columns = Object.keys(ORDER_COLUMNS);
  const values = Object.entries(ORDER_COLUMNS).map(
    ([name, type]) => `this.${name}${type === 'jsonb' ? '.string()' : ''}`,
  );
  const updates = columns.filter((name) => name !== 'id').map((name) => `${name} = EXCLUDED.${name}`);
  return {
    sql_insert: {
      driver: 'postgres',
      dsn: dsnOf(postgres),
      table: output,
      columns,
      args_mapping: `root = [${values.join()}]`,
      suffix: job.isUpsert ? `ON CONFLICT (id) DO UPDATE SET ${updates.join()}` : 'ON CONFLICT DO NOTHING',
      max_in_flight: IN_FLIGHT,
    },
  };
}

/** Its driver insists on TLS unless told otherwise. */
const dsnOf = (postgres: URL) => `${postgres.href}?sslmode=disable`;
