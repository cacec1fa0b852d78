import { beforeEach, describe, expect, test } from 'vitest';
import { TestCluster } from '../../test/test-cluster.ts';
import { Widget } from '../../test/widgets.ts';
import { ConfigMap, Secret } from '../kinds/index.ts';
import { type Logger, silentLogger } from '../log.ts';
import { register } from '../manager/index.ts';
import { controller, headOf, heed, watch } from './controller.ts';
import { DEFAULT_PACE, type Pace } from './pace.ts';
import type { PassResult } from './runner.ts';

let cluster: TestCluster;
/** What `observe` throws, for as long as it is set. */
let trouble: Error | undefined;
let looks: string[];
let onLook: () => Promise<void>;
/** How many failures in a row each failure was, as the log tells it. */
let failures: unknown[];
let results: PassResult[];
beforeEach(async () => {
  cluster = await new TestCluster().install();
  trouble = undefined;
  onLook = async () => {};
  [looks, failures, results] = [[], [], []];
});

const looking = controller({
  kind: Widget,
  watches: [watch(Secret, ({ metadata }) => [{ namespace: metadata.namespace, name: metadata.labels?.['for'] ?? '' }])],
  observe: async ({ metadata }: Widget) => {
    looks.push(metadata.name);
    await onLook();
    if (trouble) throw trouble;
  },
  plan: () => ({ objects: [], steps: [], held: [], status: {} }),
  steps: {},
});

const log: Logger = {
  ...silentLogger,
  error: (fields) => void ('failures' in fields && failures.push(fields.failures)),
  child: () => log,
};
const run = (definition = looking, pace?: Pace) =>
  cluster.operator({
    log,
    on: { running: () => ({ passEnded: (result) => void results.push(result) }) },
    products: [{ name: 'looking', fieldManager: 'looking', controllers: [register(definition)], pace }],
  });

test('a resource is looked at again when an object changes that concerns it, before or after', async () => {
  for (const name of ['a', 'b', 'c']) await cluster.create(name, 'red');
  run();
  const ref = { namespace: 'default', name: 's' };
  await cluster.client.create(Secret, { metadata: { ...ref, labels: { for: 'a' } } });
  await cluster.clock.advance(60_000);
  looks.length = 0;
  await cluster.client.patch(Secret, ref, { type: 'merge', body: { metadata: { labels: { for: 'b' } } } });
  await cluster.clock.advance(60_000);
  expect(looks).toEqual(['a', 'b']);
});

test('a change is one reason to look, not two', async () => {
  run();
  await cluster.create('a', 'red');
  await cluster.clock.advance(60_000);
  looks.length = 0;
  const ref = { namespace: 'default', name: 'a' };
  await cluster.client.patch(Widget, ref, { type: 'merge', body: { metadata: { labels: { is: 'new' } } } });
  await cluster.clock.advance(60_000);
  expect(looks).toEqual(['a']);
});

test('a resource that changes while it is looked at is looked at again, which is no failure', async () => {
  await cluster.create('a', 'red');
  const ref = { namespace: 'default', name: 'a' };
  onLook = async () => {
    onLook = async () => {};
    await cluster.client.patch(Widget, ref, { type: 'merge', body: { spec: { colour: 'blue' } } });
  };
  run();
  await cluster.clock.advance(60_000);
  const { metadata, status } = await cluster.get('a');
  expect(status?.observedGeneration).toBe(metadata.generation);
  expect(failures).toEqual([]);
  expect(results).not.toContain('error');
});

test('a failure counts on while the report of the last one is not in the cache yet', async () => {
  trouble = new Error('no');
  run();
  await cluster.clock.advance(1_000);
  cluster.server.faults.on({ verb: 'watch', plural: 'widgets' }, { do: 'delay', ms: 500 });
  await cluster.create('a', 'red');
  await cluster.clock.advance(10_000);
  expect(failures.slice(0, 5)).toEqual([1, 2, 3, 4, 5]);
});

test('a status that changes during the pass that ends a backoff is looked at, too', async () => {
  const ref = { namespace: 'default', name: 'a' };
  const seen: (string | undefined)[] = [];
  trouble = new Error('no');
  run({
    ...looking,
    status: 'as-planned',
    plan: ({ status }) => {
      seen.push(status?.part);
      return { objects: [], steps: [], held: [], status: status ?? {} };
    },
  });
  await cluster.create('a', 'red');
  await cluster.until('it failed', () => failures.length > 0);
  trouble = undefined;
  onLook = async () => {
    onLook = async () => {};
    const body = { status: { part: 'new' } };
    await cluster.client.patch(Widget, ref, { type: 'merge', body }, { subresource: 'status' });
    // The pass goes on when the change has been heard of.
    await new Promise((heard) => cluster.clock.after(1_000, () => heard(undefined)));
  };
  await cluster.clock.advance(60_000);
  expect(seen.at(-1)).toBe('new');
});

test('the failures of a resource that is gone are not held against one of the same name', async () => {
  trouble = new Error('no');
  run();
  await cluster.create('a', 'red');
  await cluster.clock.advance(5_000);
  expect(failures.length).toBeGreaterThan(5);
  await cluster.client.delete(Widget, { namespace: 'default', name: 'a' });
  await cluster.clock.advance(60_000);
  failures.length = 0;
  await cluster.create('a', 'red');
  await cluster.clock.advance(5_000);
  expect(failures[0]).toBe(1);
});

test.each<[string, Error, PassResult]>([
  ['a mistake in the program is a panic', new TypeError('x is not a function'), 'panic'],
  ['a connection that `fetch` could not make is none', new TypeError('fetch failed', { cause: new Error() }), 'error'],
])('%s', async (_, error, result) => {
  trouble = error;
  run();
  await cluster.create('a', 'red');
  await cluster.clock.advance(1_000);
  expect(new Set(results)).toEqual(new Set([result]));
});

test('a resource that fails is tried again as often as the pace of its product says', async () => {
  trouble = new Error('still broken');
  await cluster.create('a', 'red');
  run(looking, { ...DEFAULT_PACE, firstRetryMs: 10_000, longestRetryMs: 20_000 });
  await cluster.clock.advance(60_000);
  looks.length = 0;
  await cluster.clock.advance(200_000);
  expect(looks).toHaveLength(10);
});

test('a resource carries the finalizer while it needs one, and goes at once when it does not', async () => {
  const ref = { namespace: 'default', name: 'a' };
  const finalizer = 'test.polder.dev/part';
  const needsFinalizer = ({ spec }: Widget) => spec.colour === 'blue';
  run({ ...looking, finalizer, needsFinalizer });
  await cluster.create('a', 'red');
  const finalizers = async () => (await cluster.get('a')).metadata.finalizers ?? [];
  const paint = async (colour: string) => {
    await cluster.client.patch(Widget, ref, { type: 'merge', body: { spec: { colour } } });
    await cluster.clock.advance(60_000);
  };
  await cluster.clock.advance(60_000);
  expect(await finalizers()).toEqual([]);
  await paint('blue');
  expect(await finalizers()).toEqual([finalizer]);
  await paint('red');
  expect(await finalizers()).toEqual([]);
  await cluster.client.delete(Widget, ref);
  await expect(cluster.get('a')).rejects.toThrow('not found');
});

describe('a resource is looked at only if something changed that matters:', () => {
  const ref = { namespace: 'default', name: 's' };
  const change = async (labels: object, data: Record<string, string>) => {
    looks.length = 0;
    const body = { metadata: { labels }, stringData: data };
    await cluster.client.patch(Secret, ref, { type: 'merge', body });
    await cluster.clock.advance(60_000);
    return looks;
  };
  const concerns = ({ metadata }: Secret) => [{ namespace: metadata.namespace, name: metadata.labels?.['for'] ?? '' }];

  test('of an object that it watches', async () => {
    const watches = [watch(Secret, concerns, ({ metadata }) => metadata.labels?.['mood'])];
    await cluster.create('a', 'red');
    run({ ...looking, watches });
    await cluster.clock.advance(60_000);
    looks.length = 0;
    await cluster.client.create(Secret, { metadata: { ...ref, labels: { for: 'a' } } });
    await cluster.clock.advance(60_000);
    expect(looks).toEqual([]);
    expect(await change({ mood: 'good' }, {})).toEqual(['a']);
    expect(await change({ colour: 'blue' }, { password: 'x' })).toEqual([]);
    expect(await change({ mood: 'bad' }, {})).toEqual(['a']);
    looks.length = 0;
    await cluster.client.delete(Secret, ref);
    await cluster.clock.advance(60_000);
    expect(looks).toEqual(['a']);
  });

  test('of an object that it owns, and what it writes there itself does not', async () => {
    const at = { namespace: 'default', name: 'c' };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: at };
    run({
      ...looking,
      owns: [ConfigMap],
      heeds: [heed(ConfigMap, (map) => [headOf(map), map.data?.['colour']])],
      plan: ({ spec }) => ({ objects: [{ ...object, data: spec }], steps: [], held: [], status: {} }),
    });
    await cluster.create('a', 'red');
    await cluster.clock.advance(60_000);
    expect(looks).toEqual(['a']);
    const paint = async (body: object) => {
      looks.length = 0;
      await cluster.client.patch(ConfigMap, at, { type: 'merge', body });
      await cluster.clock.advance(60_000);
    };
    await paint({ data: { shape: 'round' } });
    expect(looks).toEqual([]);
    await paint({ data: { colour: 'blue' } });
    expect(looks).toEqual(['a']);
    expect((await cluster.client.get(ConfigMap, at)).data).toEqual({ colour: 'red', shape: 'round' });
  });
});

describe('a status that was written', () => {
  const plans: (string | undefined)[] = [];
  const growing = (most: number) =>
    run({
      ...looking,
      plan: ({ status }) => {
        plans.push(status?.part);
        const part = 'x'.repeat(Math.min(most, (status?.part ?? '').length + 1));
        return { objects: [], steps: [], held: [], status: { part } };
      },
    });

  test('is no reason to look again, if by it the same would be decided', async () => {
    growing(1);
    await cluster.create('a', 'red');
    await cluster.clock.advance(60_000);
    expect(looks).toEqual(['a']);
    expect((await cluster.get('a')).status?.part).toBe('x');
  });

  test('is one, if by it something else would be', async () => {
    growing(3);
    await cluster.create('a', 'red');
    await cluster.clock.advance(60_000);
    expect(looks).toEqual(['a', 'a', 'a']);
    expect((await cluster.get('a')).status?.part).toBe('xxx');
  });

  test('is one, if somebody else wrote it', async () => {
    growing(1);
    await cluster.create('a', 'red');
    await cluster.clock.advance(60_000);
    const body = { status: { part: 'mine' } };
    const ref = { namespace: 'default', name: 'a' };
    await cluster.client.patch(Widget, ref, { type: 'merge', body }, { subresource: 'status' });
    await cluster.clock.advance(60_000);
    expect((await cluster.get('a')).status?.part).toBe('x');
  });
});

test('what an interim pass would tell is told by the next, which follows at once and tells whatever it is', async () => {
  run({
    ...looking,
    plan: ({ status }) => {
      const part = status?.part ?? `look ${looks.length}`;
      return { objects: [], steps: [], held: [], status: { part }, isInterim: true };
    },
  });
  await cluster.create('a', 'red');
  await cluster.until('it was told', async () => (await cluster.get('a')).status !== undefined, 1_000);
  expect((await cluster.get('a')).status?.part).toBe('look 2');
  expect(looks).toEqual(['a', 'a']);
});
