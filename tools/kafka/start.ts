/**
 * A real Kafka on loopback, for suites that need the truth: one broker that is its own controller (KRaft), with a listener
 * for each way of connecting. It is thrown away afterwards.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createAuthority, issue } from '@polder/kube/certificates';
import { freePorts } from '../free-ports.ts';
import { bring, keep, type Server, startServer } from '../server.ts';

const run = promisify(execFile);

const READY_WITHIN = 180_000;
const VALID_MS = 24 * 3600 * 1000;

/** How to reach the broker; plain data, so that it can be handed to another process. */
export interface KafkaAddresses {
  /** `host:port` of the listeners: nothing, user and password, user and password through TLS. */
  readonly plaintext: string;
  readonly saslPlaintext: string;
  readonly saslSsl: string;
  /** The one user of the two SASL listeners: PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512. */
  readonly username: string;
  readonly password: string;
  /** The certificate (PEM) of the authority that signed the broker's. */
  readonly authority: string;
  /** The certificate of an authority that signed nothing here. */
  readonly stranger: string;
}

export interface Kafka {
  readonly addresses: KafkaAddresses;
  /** Ends the broker at once, as a crash would; what it stored stays. */
  kill(): Promise<void>;
  /** Starts the broker again on the same ports, after `kill` or instead of it, and waits until it serves. */
  restart(): Promise<void>;
  /** Every offset that a group has ever committed for a topic, in order, by partition. */
  commits(group: string, topic: string): Promise<ReadonlyMap<number, readonly number[]>>;
  stop(): Promise<void>;
}

/** `dir` holds data, certificates and logs; it is made if missing, and removed by `stop`. */
export async function startKafka({ dir }: { readonly dir: string }): Promise<Kafka> {
  const libs = await buildKafka();
  mkdirSync(dir, { recursive: true });
  const [plaintext = 0, saslPlaintext = 0, saslSsl = 0, controller = 0] = await freePorts(4);
  const ports = { plaintext, saslPlaintext, saslSsl, controller };
  const credentials = { username: 'polder', password: `secret-${randomBytes(6).toString('hex')}` };
  const term = { validMs: VALID_MS, now: Date.now() };
  const authority = await createAuthority({ name: 'kafka', ...term });
  const stranger = await createAuthority({ name: 'stranger', ...term });
  const serving = await issue(authority, {
    name: 'broker',
    use: 'server',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    ...term,
  });
  const keystore = join(dir, 'broker.pem');
  writeFileSync(keystore, `${serving.key}\n${serving.certificate}`, { mode: 0o600 });
  const properties = join(dir, 'server.properties');
  writeFileSync(properties, propertiesOf({ ...ports, ...credentials, keystore, data: join(dir, 'data') }), {
    mode: 0o600,
  });
  const logging = join(dir, 'log4j2.xml');
  writeFileSync(logging, LOGGING);
  const java = ['-Xms256m', '-Xmx512m', `-Dlog4j2.configurationFile=${logging}`, '-cp', `${libs}/*`];
  const user = `[name=${credentials.username},password=${credentials.password}]`;
  const scram = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => ['--add-scram', `${mechanism}=${user}`]);
  // It may begin with a dash.
  const clusterId = randomBytes(16).toString('base64url');
  await run('java', [
    ...java,
    'kafka.tools.StorageTool',
    'format',
    `--cluster-id=${clusterId}`,
    '-c',
    properties,
    ...scram,
  ]);

  let broker: Server | undefined;
  const kill = async () => {
    await broker?.kill();
    broker = undefined;
  };
  const restart = async () => {
    await kill();
    broker = await startBroker([...java, 'kafka.Kafka', properties], join(dir, 'broker.log'));
  };
  await restart();
  return {
    addresses: {
      plaintext: `127.0.0.1:${plaintext}`,
      saslPlaintext: `127.0.0.1:${saslPlaintext}`,
      saslSsl: `127.0.0.1:${saslSsl}`,
      ...credentials,
      authority: authority.certificate,
      stranger: stranger.certificate,
    },
    kill,
    restart,
    async commits(group, topic) {
      // Our client does not read topics of Kafka itself; the broker's own tool reads their files.
      const files = globSync(join(dir, 'data', '__consumer_offsets-*', '*.log'))
        .toSorted()
        .join();
      const dump = ['org.apache.kafka.tools.DumpLogSegments', '--offsets-decoder', '--files', files];
      const { stdout } = await run('java', [...java, ...dump], { maxBuffer: 1 << 28 });
      return commitsIn(stdout, group, topic);
    },
    async stop() {
      await kill();
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Brings what is not in the user's cache yet; resolves with the folder of the jars. */
export const buildKafka = () => bring('Kafka', join(import.meta.dirname, 'build.sh'));

interface Settings {
  readonly plaintext: number;
  readonly saslPlaintext: number;
  readonly saslSsl: number;
  readonly controller: number;
  readonly username: string;
  readonly password: string;
  /** The broker's key and certificates in one file. */
  readonly keystore: string;
  readonly data: string;
}

function propertiesOf(settings: Settings): string {
  const { plaintext, saslPlaintext, saslSsl, controller, username, password, keystore, data } = settings;
  const listeners = [
    `PLAINTEXT://127.0.0.1:${plaintext}`,
    `SASL_PLAINTEXT://127.0.0.1:${saslPlaintext}`,
    `SASL_SSL://127.0.0.1:${saslSsl}`,
  ];
  const plain = `org.apache.kafka.common.security.plain.PlainLoginModule required user_${username}="${password}";`;
  const scram = 'org.apache.kafka.common.security.scram.ScramLoginModule required;';
  const properties: Record<string, string | number> = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${controller}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: [...listeners, `CONTROLLER://127.0.0.1:${controller}`].join(),
    'advertised.listeners': listeners.join(),
    'listener.security.protocol.map':
      'PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT',
    'inter.broker.listener.name': 'PLAINTEXT',
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': keystore,
    'log.dirs': data,
    'num.partitions': 1,
    'offsets.topic.num.partitions': 4,
    'offsets.topic.replication.factor': 1,
    'transaction.state.log.num.partitions': 4,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    'group.initial.rebalance.delay.ms': 0,
  };
  for (const listener of ['sasl_plaintext', 'sasl_ssl']) {
    properties[`listener.name.${listener}.plain.sasl.jaas.config`] = plain;
    properties[`listener.name.${listener}.scram-sha-256.sasl.jaas.config`] = scram;
    properties[`listener.name.${listener}.scram-sha-512.sasl.jaas.config`] = scram;
  }
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

const LOGGING = `<?xml version="1.0" encoding="UTF-8"?>
<Configuration status="WARN">
  <Appenders><Console name="out"><PatternLayout pattern="%d %p %m (%c)%n"/></Console></Appenders>
  <Loggers><Root level="INFO"><AppenderRef ref="out"/></Root></Loggers>
</Configuration>
`;

const COMMIT = /key: (\{.*\}) payload: (\{.*\})$/;

function commitsIn(dump: string, group: string, topic: string): Map<number, number[]> {
  const commits = new Map<number, number[]>();
  for (const line of dump.split('\n')) {
    const [, key, payload] = COMMIT.exec(line) ?? [];
    if (key === undefined || payload === undefined) continue;
    const { data: of }: { data: { group?: string; topic?: string; partition?: number } } = JSON.parse(key);
    const { data: at }: { data: { offset?: number } } = JSON.parse(payload);
    if (of.group !== group || of.topic !== topic || of.partition === undefined || at.offset === undefined) continue;
    commits.set(of.partition, [...(commits.get(of.partition) ?? []), at.offset]);
  }
  return commits;
}

/** Its log says so. */
const startBroker = (args: readonly string[], logFile: string): Promise<Server> =>
  startServer({
    name: 'Kafka',
    program: 'java',
    args,
    logFile,
    readyWithinMs: READY_WITHIN,
    isReady: () => readFileSync(logFile, 'utf8').includes('Kafka Server started'),
  });

if (import.meta.main) {
  const kafka = await startKafka({ dir: join(tmpdir(), `polder-kafka-${process.pid}`) });
  keep(kafka.addresses, () => kafka.stop());
}
