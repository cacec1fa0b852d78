import { createHash } from 'node:crypto';
import type { Fault } from '@polder/doubles/s3';
import { Simulation, type State, staysQuiet } from '@polder/embedded/simulation';
import { type Client, Event, Lease, Secret } from '@polder/kube';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type ClusterSpec, QdrantCollectionBackup } from '../src/kinds/index.ts';
import {
  applyBackup,
  applySecret,
  type BackupsWorld,
  type BackupsWorldOptions,
  BUCKET,
  backupIn,
  backupsWorld,
  completeIn,
  daily,
  isAtRest,
  keysIn,
  manifestAt,
  readyOf,
  snapshotsOnPeers,
} from './backup-world.ts';
import { aClusterOf, applyCluster, ask, fill, hasPeers, NUMBERS } from './world.ts';

// Hours pass in them, and machines differ.
vi.setConfig({ testTimeout: 300_000 });

let simulation: Simulation<BackupsWorld>;
afterEach(() => simulation.end());

const until = (what: string, isSo: (state: State) => boolean) => simulation.until(what, isSo, 3_600_000);
const world = () => simulation.world;
const status = () => backupIn(simulation.state)?.status;

async function during<T>(work: Promise<T>): Promise<T> {
  let isOver = false;
  work.finally(() => (isOver = true)).catch(() => {});
  await simulation.until('it is over', () => isOver, 300_000);
  return work;
}

interface Start extends BackupsWorldOptions {
  readonly spec?: Partial<ClusterSpec>;
  readonly peers?: number;
  readonly shards?: number;
}

/** One peer with a collection `points` of two shards, unless told otherwise; each shard has a copy on every peer. */
async function start({ spec, peers = 1, shards = 2, ...options }: Start = {}): Promise<Client> {
  simulation = await new Simulation({ seed: 1, world: backupsWorld(options) }).start();
  const { client } = simulation;
  await applyCluster(aClusterOf(peers, spec))(client);
  await until('its peers are there', hasPeers(peers));
  await during(fill(world().hosts, shards, peers));
  await during(
    ask(world().hosts, 'POST', '/collections/aliases', {
      actions: [{ create_alias: { collection_name: 'points', alias_name: 'dots' } }],
    }),
  );
  await applySecret()(client);
  return client;
}

const uri = (at: number) => `http://vectors-${at}.vectors-headless.default:6335`;

const hasBackups = (count: number) => (state: State) => isAtRest()(state) && completeIn(world()).length === count;

/** The set is whole: every file is what the manifest says of it, and no point is missing. */
function expectWhole(id: string | undefined): void {
  const manifest = manifestAt(world(), id ?? '');
  const numbers: unknown[] = [];
  for (const { file, bytes, sha256 } of manifest?.shards ?? []) {
    const object = world().storage.objectsIn(BUCKET).get(`${id}/${file}`);
    expect(object?.body.byteLength).toBe(bytes);
    expect(
      createHash('sha256')
        .update(object?.body ?? '')
        .digest('hex'),
    ).toBe(sha256);
    numbers.push(
      ...Buffer.from(object?.body ?? '')
        .toString('utf8')
        .matchAll(/"number":(\d+)/g)
        .map(([, number]) => Number(number)),
    );
  }
  expect(numbers.toSorted((a, b) => Number(a) - Number(b))).toEqual(NUMBERS);
}

test('a backup that is asked for now has every shard once, and a manifest', async () => {
  const client = await start({ peers: 2, shards: 4 });
  await applyBackup({ backupNow: true })(client);
  await until('it is there', hasBackups(1));
  const [id] = completeIn(world());
  expect(status()).toMatchObject({ phase: 'Idle', lastBackup: { generation: 1, id } });
  expectWhole(id);
  expect(keysIn(world())).toEqual(
    ['manifest.json', 0, 1, 2, 3].map((file) =>
      typeof file === 'string' ? `${id}/${file}` : `${id}/shard-${file}.snapshot`,
    ),
  );
  expect(manifestAt(world(), id ?? '')).toMatchObject({
    cluster: 'vectors',
    namespace: 'default',
    collection: 'points',
    qdrantVersion: '1.19.0',
    shardNumber: 4,
    replicationFactor: 2,
    aliases: ['dots'],
    config: { vectors: { size: 4, distance: 'Dot' }, shard_number: 4, optimizers_config: {} },
  });
  expect(snapshotsOnPeers(world())).toEqual([]);
  const note = `BackupCompleted Backup ${id} is complete: 4 shards, `;
  await until('it is told', (state) => eventsIn(state).some((one) => one.startsWith(note)));
});

const eventsIn = (state: State) =>
  state
    .list(Event)
    .flatMap(({ reason, message, involvedObject }) =>
      involvedObject?.name === 'daily' ? [`${reason} ${message}`] : [],
    );

test('it is taken once for each generation and request, and not again', async () => {
  const client = await start();
  await applyBackup({ backupNow: true }, 'daily', { request: 7 })(client);
  await until('it is there', hasBackups(1));
  await simulation.pass(3_600_000);
  expect(completeIn(world())).toHaveLength(1);
  await applyBackup({ backupNow: true }, 'daily', { request: 8 })(client);
  await until('there are two', hasBackups(2));
  expect(status()?.lastBackup).toMatchObject({ generation: 2, request: 8 });
  await applyBackup({ backupNow: false }, 'daily', { request: 9 })(client);
  await simulation.pass(3_600_000);
  expect(completeIn(world())).toHaveLength(2);
});

describe('by a schedule', () => {
  test('one is taken whenever it is due, and one makes up for all that were missed', async () => {
    const client = await start();
    await applyBackup({ backupSchedule: '*/20 * * * *' })(client);
    await until('it is known when', (state) => backupIn(state)?.status?.nextBackup === '2026-01-01T00:20:00Z');
    expect(completeIn(world())).toEqual([]);
    await simulation.pass(45 * 60_000);
    expect(completeIn(world())).toEqual(['vectors/points/2026-01-01-00-20', 'vectors/points/2026-01-01-00-40']);
    simulation.living('operator')?.kill();
    await simulation.pass(65 * 60_000);
    simulation.revive('operator');
    await until('one more', hasBackups(3));
    expectWhole(status()?.lastBackup?.id);
    expect(status()?.nextBackup).toBe('2026-01-01T02:00:00Z');
    await simulation.pass(60_000);
    expect(completeIn(world())).toHaveLength(3);
  });

  test('another line counts from now on, and a line that is none is told in the words of its parser', async () => {
    const client = await start();
    await applyBackup({ backupSchedule: '0 3 * * *' })(client);
    await until('it is known when', (state) => backupIn(state)?.status?.nextBackup !== undefined);
    await simulation.pass(60_000);
    await applyBackup({ backupSchedule: '@monthly' })(client);
    await until('it is another time', (state) => backupIn(state)?.status?.nextBackup === '2026-02-01T00:00:00Z');
    await applyBackup({ backupSchedule: 'every day' })(client);
    await until('it is refused', (state) => readyOf(state)?.reason === 'InvalidSpec');
    expect(readyOf(simulation.state)?.message).toContain('expected exactly 5 fields, found 2: [every day]');
    expect(completeIn(world())).toEqual([]);
  });

  test('one that fails is given up when the next is due', async () => {
    const client = await start();
    await applyBackup({ backupSchedule: '*/10 * * * *' })(client);
    await until('it is known when', isAtRest());
    world().storage.fault = ({ method }) =>
      method === 'PUT' ? { is: 'answer', status: 403, code: 'AccessDenied' } : undefined;
    await until('it fails', (state) => backupIn(state)?.status?.phase === 'Failed');
    expect(status()?.lastError).toContain('the storage says AccessDenied: check the keys in Secret bucket');
    await until(
      'another one has begun',
      (state) => backupIn(state)?.status?.current?.id === 'vectors/points/2026-01-01-00-20',
    );
    world().storage.fault = () => undefined;
    await until('it is there', hasBackups(1));
    expect(completeIn(world())).toEqual(['vectors/points/2026-01-01-00-20']);
    const reasons = eventsIn(simulation.state).map((event) => event.split(': ')[0]);
    expect(reasons).toContain('BackupFailed Gave up backup vectors/points/2026-01-01-00-10');
    expect(snapshotsOnPeers(world())).toEqual([]);
  });
});

test('as many are kept as are wanted, and what is not known to be ours is left alone', async () => {
  const client = await start();
  const { storage } = world();
  const put = (key: string, text: string, kept: Record<string, string> = {}) =>
    storage.put(BUCKET, key, Buffer.from(text), kept);
  const foreign = [
    'vectors/points/2024-01-21-23-38/vectors-0.snapshot',
    'vectors/points/2024-02-21-23-38/shard-0.snapshot',
    'vectors/points/2024-03-21-23-38/manifest.json',
    'vectors/points/2024-04-21-23-38/shard-0.snapshot',
    'vectors/points/2024-04-21-23-38/notes.txt',
    'vectors/points/readme.md',
    'vectors/pointsmore/2024-01-21-23-38/shard-0.snapshot',
  ];
  for (const key of foreign) put(key, key);
  put('vectors/points/2025-12-20-00-00/shard-0.snapshot', 'broken off', { 'x-amz-meta-namespace': 'default' });
  put('vectors/points/2025-12-21-00-00/shard-0.snapshot', 'of others', { 'x-amz-meta-namespace': 'elsewhere' });
  await applyBackup({ backupSchedule: '*/10 * * * *', retentionCount: 2 })(client);
  await simulation.pass(45 * 60_000);
  expect(completeIn(world()).filter((id) => id.includes('2026-'))).toEqual([
    'vectors/points/2026-01-01-00-30',
    'vectors/points/2026-01-01-00-40',
  ]);
  const left = keysIn(world()).filter((key) => !key.includes('2026-'));
  expect(left).toEqual([...foreign, 'vectors/points/2025-12-21-00-00/shard-0.snapshot'].toSorted());
  // Half a set must never look like a whole one: the manifest goes first.
  const removals = storage.requests.filter(
    ({ method, path }) => method === 'DELETE' && path.includes('2026-01-01-00-10'),
  );
  expect(removals.map(({ path }) => path.split('/').at(-1))).toEqual([
    'manifest.json',
    'shard-0.snapshot',
    'shard-1.snapshot',
  ]);
  await applyBackup({ backupSchedule: '@yearly', retentionCount: 1 })(client);
  await until(
    'one is left',
    (state) => isAtRest()(state) && completeIn(world()).filter((id) => id.includes('2026-')).length === 1,
  );
  expectWhole(status()?.lastBackup?.id);
});

test('whoever is killed at any write is followed by somebody who completes the backup and leaves nothing behind', async () => {
  let [left, moment, seen] = [Number.POSITIVE_INFINITY, 'before', 0];
  const client = await start({
    onWrite: ({ when }) => {
      if (when !== moment) return;
      seen++;
      if (--left > 0) return;
      left = Number.POSITIVE_INFINITY;
      simulation.living('operator')?.kill();
      simulation.clock.after(2_000, () => simulation.revive('operator'));
    },
  });
  // Somebody else's, of the same shard on the same peer.
  await during(ask(world().hosts, 'POST', '/collections/points/shards/0/snapshots?wait=true'));
  const theirs = snapshotsOnPeers(world());
  // Another one of the same second would take its name.
  await simulation.pass(1_000);
  expect(theirs).toHaveLength(1);
  let request = 1;
  const isDone = (state: State) => isAtRest()(state) && backupIn(state)?.status?.lastBackup?.request === request;
  const backUp = async () => {
    seen = 0;
    await applyBackup({ backupNow: true }, 'daily', { request })(client);
    await until('it is complete', isDone);
    expectWhole(status()?.lastBackup?.id);
    expect(snapshotsOnPeers(world())).toEqual(theirs);
    expect(world().storage.uploadsIn(BUCKET)).toEqual([]);
    expect(status()?.leftovers ?? []).toEqual([]);
    request++;
  };
  await backUp();
  const writes = seen;
  expect(writes).toBeGreaterThan(12);
  for (moment of ['before', 'after']) {
    for (let at = 1; at <= writes; at++) {
      left = at;
      await backUp();
    }
  }
  expect(completeIn(world())).toHaveLength(1 + 2 * writes);
  console.log(`killed before and after each of ${writes} writes`);
});

test('who does not lead any more while a shard is on its way takes back what he began', async () => {
  const client = await start({ isLed: true });
  let sent = 0;
  world().storage.fault = ({ method }) => (method === 'PUT' && ++sent > 0 ? { is: 'hang' } : undefined);
  await applyBackup({ backupNow: true })(client);
  await until('it is on its way', () => sent > 0);
  expect(snapshotsOnPeers(world())).toHaveLength(1);
  const lease = { namespace: 'default', name: 'qdrant-operator' };
  const body = {
    spec: { holderIdentity: 'another', leaseDurationSeconds: 60, renewTime: microtime(simulation.clock.now()) },
  };
  await client.patch(Lease, lease, { type: 'merge', body });
  await simulation.until('nothing is left', () => snapshotsOnPeers(world()).length === 0, 30_000);
  expect(sent).toBe(1);
  world().storage.fault = () => undefined;
  await until('it is there, once the other one is gone', hasBackups(1));
  expectWhole(status()?.lastBackup?.id);
  expect(snapshotsOnPeers(world())).toEqual([]);
});

const microtime = (ms: number) => new Date(ms).toISOString().replace('Z', '000Z');

describe('what goes wrong on the way is gone through again, and never becomes a backup:', () => {
  const slow: Fault = { is: 'answer', status: 503, code: 'SlowDown' };
  test.each<[string, Fault]>([
    ['a storage that has too much to do', slow],
    ['one that breaks off', { is: 'close' }],
    ['one that keeps what it gives no answer to', { is: 'close-after' }],
    ['one that hangs', { is: 'hang' }],
  ])('%s', async (_, fault) => {
    const client = await start();
    let left = 6;
    world().storage.fault = ({ method }) => (method === 'PUT' && left-- > 0 ? fault : undefined);
    await applyBackup({ backupNow: true })(client);
    await until('it is there', hasBackups(1));
    expect(left).toBeLessThan(0);
    expectWhole(status()?.lastBackup?.id);
    expect(snapshotsOnPeers(world())).toEqual([]);
    expect(status()?.lastError).toBeUndefined();
  });

  test('a peer that sends another file than it announced', async () => {
    const client = await start();
    const { qdrant } = world().hosts;
    qdrant.setFaults(uri(0), {
      answer: ({ method, path }) =>
        method === 'GET' && path.endsWith('.snapshot')
          ? { status: 200, headers: {}, body: Buffer.from('another') }
          : undefined,
    });
    await applyBackup({ backupNow: true })(client);
    const announced = /vectors-0 sent shard \d as 7 bytes with sha256 \w+, and announced/;
    await until('it is told', (state) => announced.test(backupIn(state)?.status?.lastError ?? ''));
    expect(keysIn(world())).toEqual([]);
    await simulation.pass(60_000);
    qdrant.setFaults(uri(0), {});
    await until('it is there', hasBackups(1));
    expectWhole(status()?.lastBackup?.id);
    expect(snapshotsOnPeers(world())).toEqual([]);
  });

  test('a peer that dies while it sends: another one has the shard, and what it made is removed when it is back', async () => {
    const client = await start({ peers: 2, shards: 4 });
    let hasCrashed = false;
    world().storage.fault = ({ method, path }) => {
      if (method !== 'PUT' || !path.includes('shard-1') || hasCrashed) return undefined;
      hasCrashed = true;
      world().hosts.crash('vectors-1');
      return { is: 'answer', status: 400, code: 'InvalidRequest' };
    };
    await applyBackup({ backupNow: true })(client);
    await until(
      'it is remembered what is left',
      (state) => (backupIn(state)?.status?.leftovers ?? []).length > 0 && hasCrashed,
    );
    expect(status()?.leftovers).toEqual([{ pod: 'vectors-1', shard: 1, others: [] }]);
    await until('it is there', hasBackups(1));
    expectWhole(status()?.lastBackup?.id);
    await until('nothing is left', (state) => backupIn(state)?.status?.leftovers === undefined);
    expect(snapshotsOnPeers(world())).toEqual([]);
  });
});

describe('one that is deleted', () => {
  const isGone = (state: State) => backupIn(state) === undefined;

  /** A complete backup, and a second one that has its first shard in the bucket and does not get further. */
  async function halfway(): Promise<{ readonly client: Client; readonly whole: string | undefined }> {
    const client = await start();
    await applyBackup({ backupNow: true }, 'daily', { request: 1 })(client);
    await until('one is complete', hasBackups(1));
    const [whole] = completeIn(world());
    const refusal: Fault = { is: 'answer', status: 400, code: 'InvalidRequest' };
    world().storage.fault = ({ method, path }) => (method === 'PUT' && /shard-1/.test(path) ? refusal : undefined);
    await simulation.pass(60_000);
    await applyBackup({ backupNow: true }, 'daily', { request: 2 })(client);
    await until('another is halfway', (state) => (backupIn(state)?.status?.current?.failures ?? 0) > 0);
    expect(keysIn(world()).filter((key) => !key.startsWith(`${whole}/`))).toHaveLength(1);
    return { client, whole };
  }

  test('takes along what it did not complete, and nothing else', async () => {
    const { client, whole } = await halfway();
    await client.delete(QdrantCollectionBackup, daily);
    await until('it is gone', isGone);
    expect(keysIn(world())).toEqual(
      ['manifest.json', 'shard-0.snapshot', 'shard-1.snapshot'].map((one) => `${whole}/${one}`),
    );
    expectWhole(whole);
    expect(world().storage.uploadsIn(BUCKET)).toEqual([]);
    expect(snapshotsOnPeers(world())).toEqual([]);
  });

  test('goes at once while none is under way, whether or not the bucket can be reached', async () => {
    const client = await start();
    await applyBackup({ backupNow: true })(client);
    await until('it is there', hasBackups(1));
    world().storage.removeBucket(BUCKET);
    await client.delete(QdrantCollectionBackup, daily);
    await simulation.until('it is gone', isGone, 1_000);
    expect(eventsIn(simulation.state).filter((one) => one.startsWith('CleanupForced'))).toEqual([]);
  });

  test.each([
    { hurry: 'nobody is', left: 'after some attempts' },
    { hurry: 'somebody is', left: 'as soon as that is said' },
  ])(
    'is let go $left if the bucket can not be reached and $hurry in a hurry, and what is left is told',
    async ({ hurry }) => {
      const { client } = await halfway();
      const { id } = status()?.current ?? {};
      world().storage.fault = () => ({ is: 'answer', status: 403, code: 'AccessDenied' });
      await client.delete(QdrantCollectionBackup, daily);
      await until('attempts are counted', () => (status()?.cleanupAttempts ?? 0) > 2);
      expect(status()).toMatchObject({
        cleanupPhase: 'Retrying',
        cleanupError: expect.stringContaining('AccessDenied'),
      });
      const body = { metadata: { annotations: { 'qdrant.operator/force-delete': 'true' } } };
      if (hurry === 'somebody is') await client.patch(QdrantCollectionBackup, daily, { type: 'merge', body });
      await until('it is gone', isGone);
      const forced = (state: State) => eventsIn(state).find((one) => one.startsWith('CleanupForced'));
      await until('it is told', (state) => forced(state) !== undefined);
      expect(forced(simulation.state)).toContain(`the files of ${id} in bucket backups may be left`);
    },
  );

  test('waits for a bucket that comes back', async () => {
    const { client, whole } = await halfway();
    world().storage.fault = () => ({ is: 'answer', status: 403, code: 'AccessDenied' });
    await client.delete(QdrantCollectionBackup, daily);
    await until('attempts are counted', () => (status()?.cleanupAttempts ?? 0) > 2);
    world().storage.fault = () => undefined;
    await until('it is gone', isGone);
    expect(keysIn(world()).every((key) => key.startsWith(`${whole}/`))).toBe(true);
  });
});

describe('who has to act is told what to do, and that he did it is noticed at once:', () => {
  test('a Secret that is missing, lacks a key, or has the wrong one', async () => {
    const client = await start();
    await client.delete(Secret, { namespace: 'default', name: 'bucket' });
    await applyBackup({ backupNow: true })(client);
    const told = async (reason: string, message: string) => {
      const isTold = (state: State) =>
        readyOf(state)?.reason === reason && readyOf(state)?.message.includes(message) === true;
      await simulation.until(`${reason}: ${message}`, isTold, 20_000);
    };
    await told('CredentialsMissing', 'Secret bucket is missing');
    await applySecret({ ACCESS_KEY: 'polder' })(client);
    await told('CredentialsMissing', 'Secret bucket has no key SECRET_KEY');
    await applySecret({ ACCESS_KEY: 'polder', SECRET_KEY: 'wrong' })(client);
    await told('S3AccessDenied', 'the storage says SignatureDoesNotMatch: check the keys in Secret bucket');
    expect(JSON.stringify(backupIn(simulation.state))).not.toContain('wrong');
    await applySecret()(client);
    await simulation.until('it is there', hasBackups(1), 120_000);
  });

  test('a bucket that is not there', async () => {
    const client = await start();
    world().storage.removeBucket(BUCKET);
    await applyBackup({ backupNow: true })(client);
    await until('it is told', (state) => readyOf(state)?.reason === 'S3BucketMissing');
    expect(readyOf(simulation.state)?.message).toContain('there is no bucket backups; create it');
    world().storage.makeBucket(BUCKET);
    await until('it is there', hasBackups(1));
  });

  test('a collection that is not there, or is an alias', async () => {
    const client = await start();
    await applyBackup({ backupNow: true }, 'daily', { collectionName: 'dots' })(client);
    await until('it is told', (state) => readyOf(state)?.reason === 'CollectionMissing');
    expect(readyOf(simulation.state)?.message).toBe('cluster vectors has no collection dots');
  });
});

describe('a rule holds it back', () => {
  test('from a shard whose only live copy is away; it is named', async () => {
    const client = await start({ peers: 2, shards: 2 });
    const { hosts } = world();
    await during(
      ask(hosts, 'PUT', '/collections/single', {
        vectors: { size: 4, distance: 'Dot' },
        shard_number: 2,
        replication_factor: 1,
      }),
    );
    hosts.qdrant.setFaults(uri(1), { refusesClients: true });
    await applyBackup({ backupNow: true }, 'daily', { collectionName: 'single' })(client);
    await until('it waits', (state) => backupIn(state)?.status?.phase === 'Waiting');
    expect(status()?.holding?.[0]).toMatch(
      /^copy-shard is held by a-shard-is-copied-from-a-live-copy: shard [01] has no copy/,
    );
    expect(status()?.message).toBe('1 of 2 shards are in the bucket');
    hosts.qdrant.setFaults(uri(1), {});
    await until('it is there', hasBackups(1));
  });

  test('of two backups of a cluster, so that one comes after the other', async () => {
    let [most, under] = [0, 0];
    const client = await start({
      onWrite: ({ what, when }) => {
        if (what.startsWith('POST vectors-') && when === 'before') most = Math.max(most, ++under);
        if (what.startsWith('DELETE vectors-') && when === 'after') under--;
      },
    });
    for (const name of ['daily', 'weekly'])
      await applyBackup({ backupNow: true }, name, { collectionName: 'points' })(client);
    await until('both are done', (state) => isAtRest()(state) && isAtRest('weekly')(state));
    expect(most).toBe(1);
    for (const name of ['daily', 'weekly']) expectWhole(backupIn(simulation.state, name)?.status?.lastBackup?.id);
  });
});

test('peers are asked with their key', async () => {
  const client = await start({ spec: { apikey: 'a key' } });
  await applyBackup({ backupNow: true })(client);
  await until('it is there', hasBackups(1));
  const snapshots = world().asked.filter(({ url }) => url.includes('/snapshots'));
  expect(snapshots.length).toBeGreaterThan(4);
  for (const { headers } of snapshots) expect(headers['api-key']).toBe('a key');
});

test('between backups nobody is asked anything, and nothing is written', async () => {
  const client = await start();
  await applyBackup({ backupNow: true, backupSchedule: '@weekly', retentionCount: 3 })(client);
  await until('it is there', hasBackups(1));
  const before = world().storage.requests.length;
  await staysQuiet(simulation, 6 * 3_600_000);
  expect(world().storage.requests.length).toBe(before);
});
