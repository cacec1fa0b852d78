import { createHash } from 'node:crypto';
import { Simulation, type State, staysQuiet } from '@polder/embedded/simulation';
import type { Client } from '@polder/kube';
import { afterEach, describe, expect, test } from 'vitest';
import {
  applyBackup,
  applySecret,
  type BackupsWorld,
  type BackupsWorldOptions,
  BUCKET,
  backupIn,
  backupsWorld,
  completeIn,
  isAtRest,
  keysIn,
  manifestAt,
  readyOf,
  snapshotsOnPeers,
} from './backup-world.ts';
import { aClusterOf, applyCluster, ask, fill, hasPeers, NUMBERS } from './world.ts';

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

/** Two peers with a collection `points` of four shards, in two copies each. */
async function start(options: BackupsWorldOptions = {}): Promise<Client> {
  simulation = await new Simulation({ seed: 1, world: backupsWorld(options) }).start();
  const { client } = simulation;
  await applyCluster(aClusterOf(2))(client);
  await until('two peers', hasPeers(2));
  await during(fill(world().hosts, 4, 2));
  await during(
    ask(world().hosts, 'POST', '/collections/aliases', {
      actions: [{ create_alias: { collection_name: 'points', alias_name: 'dots' } }],
    }),
  );
  await applySecret()(client);
  return client;
}

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
  const client = await start();
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
});
