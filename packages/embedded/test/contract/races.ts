import { configMap, configMaps } from './objects.ts';
import { expect, topic } from './suite.ts';
import { Watch } from './watch-reader.ts';

const NUMBERS = Array.from({ length: 8 }, (_, index) => index);

export const races = topic('races', (promise) => {
  promise('patches at the same time all hold: the server repeats them, not the client', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a', { start: '0' })));
    // The real server tries a patch five times, so not too many at once.
    const answers = await Promise.all(
      NUMBERS.slice(0, 4).map((n) => wire.patch('merge', `${path}/a`, { data: { [`k${n}`]: '1' } })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { body } = await wire.get(`${path}/a`);
    expect(body.data).toEqual({ start: '0', k0: '1', k1: '1', k2: '1', k3: '1' });
  });

  promise('of creations of one name, one wins', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const answers = await Promise.all(NUMBERS.map((n) => wire.create(path, configMap('a', { by: String(n) }))));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(NUMBERS.length - 1);
  });

  promise('of updates at one version, one wins', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const made = await wire.must(wire.create(path, configMap('a')));
    const answers = await Promise.all(
      NUMBERS.map((n) => wire.replace(`${path}/a`, { ...made, data: { by: String(n) } })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(NUMBERS.length - 1);
  });

  promise('all watchers see the same changes in the same order, with rising versions', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await using first = await Watch.open(wire, `${path}?watch=true`);
    await using second = await Watch.open(wire, `${path}?watch=true`);
    await Promise.all(NUMBERS.map((n) => wire.must(wire.create(path, configMap(`c${n}`)))));
    await wire.must(wire.create(path, configMap('end')));
    for (const watch of [first, second]) await watch.until(({ object }) => object.metadata.name === 'end');
    expect(second.summary()).toEqual(first.summary());
    const versions = first.seen.map(({ object }) => BigInt(object.metadata.resourceVersion));
    expect(versions).toEqual(versions.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(new Set(versions).size).toBe(versions.length);
  });

  promise('a list and a watch from its version miss nothing', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const writing = Promise.all(NUMBERS.map((n) => wire.must(wire.create(path, configMap(`c${n}`)))));
    const { items, metadata } = (await wire.get(path)).body;
    await using events = await Watch.open(wire, `${path}?watch=true&resourceVersion=${metadata.resourceVersion}`);
    await writing;
    await wire.must(wire.create(path, configMap('end')));
    await events.until(({ object }) => object.metadata.name === 'end');
    const seen = [...items.map((item) => item.metadata.name), ...events.seen.map(({ object }) => object.metadata.name)];
    expect(seen.toSorted()).toEqual([...NUMBERS.map((n) => `c${n}`), 'end']);
  });

  promise('a write can be read at once', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    for (const n of NUMBERS) {
      const made = await wire.must(wire.create(path, configMap(`c${n}`)));
      expect((await wire.get(`${path}/c${n}`)).body.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
      expect((await wire.get(path)).body.items).toHaveLength(n + 1);
    }
  });
});
