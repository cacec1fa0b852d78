import { beforeEach, describe, expect, test } from 'vitest';
import { TestCluster } from '../../test/test-cluster.ts';
import { Widget } from '../../test/widgets.ts';
import { Cache, OwnWrites } from '../cache/index.ts';
import { Client, isConflict, isNotFound } from '../client/index.ts';
import { ConfigMap, Secret } from '../kinds/index.ts';
import { silentLogger } from '../log.ts';
import { LastApplied } from './applied.ts';
import { Cluster, type ClusterParts } from './cluster.ts';
import { controller } from './controller.ts';
import { Runner } from './runner.ts';

const NAMES = Array.from({ length: 20 }, (_, at) => `c${at}`);

let world: TestCluster;
let parts: ClusterParts;
let cluster: Cluster;
beforeEach(async () => {
  world = await new TestCluster().install();
  const { clock } = world;
  const client = new Client({ transport: world.server.transport(), userAgent: 'test', clock });
  const cache = new Cache({ client, clock, random: () => 0, log: silentLogger });
  const kinds = [Widget, ConfigMap];
  const [ownWrites, lastApplied] = [new OwnWrites(), new LastApplied()];
  parts = { client, cache, ownWrites, lastApplied, fieldManager: 'test', kinds, clock };
  cluster = new Cluster(parts, new AbortController().signal);
  cache.start();
});

const ref = (name: string) => ({ namespace: 'default', name });

test('what was applied is forgotten once it is gone, whoever deleted it', async () => {
  const following = controller({
    kind: Widget,
    owns: [ConfigMap],
    observe: async () => undefined,
    plan: () => ({ objects: [], steps: [], held: [], status: {} }),
    steps: {},
  });
  const { clock } = parts;
  const events = { record: () => {} };
  const runner = new Runner(following, {
    parts,
    clock,
    random: () => 0,
    log: silentLogger,
    events,
    world: (base) => base,
  });
  runner.listen();
  const applied = NAMES.map((name) => cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: ref(name) }));
  await world.passing(Promise.all(applied));
  expect(parts.lastApplied.size).toBe(NAMES.length);
  for (const name of NAMES) await world.client.delete(ConfigMap, ref(name));
  await world.until('all are forgotten', () => parts.lastApplied.size === 0, 5_000);
});

describe('what was written is forgotten', () => {
  test('once it is in the cache, even if nobody reads it there', async () => {
    parts.cache.of(ConfigMap);
    for (const name of NAMES) {
      await cluster.create(ConfigMap, { metadata: ref(name) });
      await world.clock.advance(1_000);
    }
    expect(parts.ownWrites.size).toBe(1);
    for (const name of NAMES) {
      await cluster.delete(ConfigMap, await world.client.get(ConfigMap, ref(name)));
      await world.clock.advance(1_000);
    }
    expect(parts.ownWrites.size).toBe(1);
  });

  test('at once if nobody caches its kind, and whoever asks for it later still finds it', async () => {
    for (const name of NAMES) await cluster.create(Secret, { metadata: ref(name) });
    expect(parts.ownWrites.size).toBe(0);
    expect(await world.passing(cluster.list(Secret))).toHaveLength(NAMES.length);
  });
});

test('a kind that nobody watches is read where it is, and that it is not installed is an error', async () => {
  for (const name of NAMES) await cluster.create(Secret, { metadata: { ...ref(name), labels: { of: name } } });
  const found = await cluster.listLive(Secret, { namespace: 'default', labelSelector: 'of=c3' });
  expect(found.map(({ metadata }) => metadata.name)).toEqual(['c3']);
  const missing = { ...Secret, group: 'not.installed', plural: 'things', kind: 'Thing' };
  await expect(cluster.listLive(missing, { namespace: 'default' })).rejects.toSatisfy(isNotFound);
});

describe('a status is written', () => {
  const status = { observedGeneration: 1, conditions: [], part: 'new' };
  const paint = { type: 'merge', body: { spec: { colour: 'blue' } } } as const;

  test('after other writes of the same pass', async () => {
    const widget = await world.create('a', 'red');
    await cluster.patch(Widget, widget.metadata, paint);
    await cluster.applyStatus(Widget, widget, status);
    expect((await world.get('a')).status?.part).toBe('new');
  });

  test('not by who was held up while others went on: it would undo what they remember', async () => {
    const widget = await world.create('a', 'red');
    await new Cluster(parts, new AbortController().signal).applyStatus(Widget, widget, { ...status, part: 'newer' });
    await expect(cluster.applyStatus(Widget, widget, status)).rejects.toSatisfy(isConflict);
    expect((await world.get('a')).status?.part).toBe('newer');
  });
});
