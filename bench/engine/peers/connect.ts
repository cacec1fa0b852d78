import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../runtime/cache-folder.ts';
import type { Assignment, Peer } from '../jobs.ts';

const pom = join(import.meta.dirname, 'connect', 'pom.xml');
const VERSIONS = { 'connect-runtime': 'Kafka Connect', 'debezium-connector-postgres': 'Debezium' };
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies';

const libs = () =>
  join(cacheFolder(), `connect-${createHash('sha256').update(readFileSync(pom)).digest('hex').slice(0, 12)}`);

/** One worker by itself, with the connectors that Maven Central has: MirrorMaker's, and Debezium's for PostgreSQL. */
export const connect: Peer = {
  name: 'Kafka Connect',
  async prepare() {
    if (!existsSync(libs())) await bring();
    const text = readFileSync(pom, 'utf8');
    const versionOf = (artifact: string) =>
      new RegExp(`<artifactId>${artifact}</artifactId>\\s*<version>(.*?)</version>`).exec(text)?.[1] ?? '?';
    return Object.entries(VERSIONS)
      .map(([artifact, name]) => `${name} ${versionOf(artifact)}`)
      .join(', ');
  },
  command(assignment) {
    const connector = connectorOf(assignment);
    if (connector === undefined) return undefined;
    const { folder } = assignment;
    const files = { worker: workerOf(assignment), connector: { name: assignment.id, 'tasks.max': 1, ...connector } };
    const paths = Object.entries(files).map(([name, properties]) => {
      const path = join(folder, `${name}.properties`);
      writeFileSync(path, propertiesOf(properties));
      return path;
    });
    // As its start script sizes the heap.
    return [
      'java',
      '-Xms256M',
      '-Xmx2G',
      '-cp',
      `${libs()}/*`,
      'org.apache.kafka.connect.cli.ConnectStandalone',
      ...paths,
    ];
  },
};

async function bring(): Promise<void> {
  console.error('Bringing Kafka Connect from Maven Central (once; about a minute) ...');
  const part = `${libs()}.${process.pid}`;
  await promisify(execFile)('mvn', [
    '-q',
    '-B',
    '-f',
    pom,
    COPY,
    '-DincludeScope=runtime',
    `-DoutputDirectory=${part}`,
  ]);
  renameSync(part, libs());
}

type Properties = Readonly<Record<string, string | number | boolean>>;

const propertiesOf = (properties: Properties) =>
  Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

const AS_BYTES = 'org.apache.kafka.connect.converters.ByteArrayConverter';
const AS_JSON = 'org.apache.kafka.connect.json.JsonConverter';

const workerOf = ({ broker, folder, port }: Assignment): Properties => ({
  'bootstrap.servers': broker,
  'key.converter': AS_BYTES,
  'value.converter': AS_BYTES,
  'offset.storage.file.filename': join(folder, 'offsets'),
  listeners: `http://127.0.0.1:${port}`,
  'connector.client.config.override.policy': 'All',
});

/**
 * It has no filter that looks at values; and its one sink for databases in Maven Central takes flat records that come with
 * their schema, while these are documents with objects in them.
 */
function connectorOf(assignment: Assignment): Properties | undefined {
  const { job } = assignment;
  if (job.isTransforming || job.to === 'postgresql') return undefined;
  return job.from === 'postgresql' ? fromTable(assignment) : mirror(assignment);
}

/** Its own defaults (no compression, batches of 16 KB) are slower. */
const PRODUCER: Properties = {
  'producer.override.compression.type': 'lz4',
  'producer.override.linger.ms': 5,
  'producer.override.batch.size': 500_000,
};

const mirror = ({ broker, input, output }: Assignment): Properties => ({
  'connector.class': 'org.apache.kafka.connect.mirror.MirrorSourceConnector',
  'source.cluster.alias': 'in',
  'target.cluster.alias': 'out',
  'source.cluster.bootstrap.servers': broker,
  'target.cluster.bootstrap.servers': broker,
  topics: input,
  'replication.factor': 1,
  'offset-syncs.topic.replication.factor': 1,
  'sync.topic.configs.enabled': false,
  'sync.topic.acls.enabled': false,
  'refresh.topics.enabled': false,
  'replication.policy.class': 'org.apache.kafka.connect.mirror.IdentityReplicationPolicy',
  transforms: 'name',
  'transforms.name.type': 'org.apache.kafka.connect.transforms.RegexRouter',
  'transforms.name.regex': '.*',
  'transforms.name.replacement': output,
  'consumer.override.auto.offset.reset': 'earliest',
  'consumer.override.max.poll.records': 5_000,
  ...PRODUCER,
});

/** A snapshot of the table, rows as they are, and then the end. */
const fromTable = ({ postgres, input, output, id }: Assignment): Properties => ({
  'connector.class': 'io.debezium.connector.postgresql.PostgresConnector',
  'plugin.name': 'pgoutput',
  'database.hostname': postgres.hostname,
  'database.port': postgres.port,
  'database.user': postgres.username,
  'database.password': 'none',
  'database.dbname': postgres.pathname.slice(1),
  'topic.prefix': id,
  'slot.name': id,
  'table.include.list': `public.${input}`,
  'snapshot.mode': 'initial_only',
  'snapshot.fetch.size': 10_000,
  'max.batch.size': 10_000,
  'max.queue.size': 20_000,
  transforms: 'row,name',
  'transforms.row.type': 'io.debezium.transforms.ExtractNewRecordState',
  'transforms.name.type': 'org.apache.kafka.connect.transforms.RegexRouter',
  'transforms.name.regex': '.*',
  'transforms.name.replacement': output,
  'key.converter': AS_JSON,
  'key.converter.schemas.enable': false,
  'value.converter': AS_JSON,
  'value.converter.schemas.enable': false,
  ...PRODUCER,
});
