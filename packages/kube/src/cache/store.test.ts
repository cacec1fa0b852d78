import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../kinds/index.ts';
import { silentLogger } from '../log.ts';
import { Store, type StoreEvent } from './store.ts';

interface Thing extends KubernetesObject {
  readonly colour?: string;
}
const thing = (name: string, version: string, colour = 'red', namespace = 'ns'): Thing => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name, namespace, resourceVersion: version },
  colour,
});
const byColour = { colour: (object: Thing) => (object.colour ? [object.colour] : []) };

let store: Store<Thing>;
beforeEach(() => {
  store = new Store({ log: silentLogger, indexes: byColour });
});

const list = (version: string, ...objects: Thing[]) => {
  const sink = store.sink();
  sink.begin();
  sink.seed(objects);
  sink.complete(version);
};
const names = (objects: readonly Thing[]) => objects.map((object) => object.metadata.name);

describe('a relist', () => {
  test('keeps the objects whose version did not change, so that memory does not double', () => {
    const first = thing('a', '1');
    list('1', first);
    list('2', thing('a', '1'), thing('b', '2'));
    expect(store.get({ namespace: 'ns', name: 'a' })).toBe(first);
  });

  test('is invisible until it is complete', () => {
    list('1', thing('a', '1'));
    const sink = store.sink();
    sink.begin();
    sink.seed([thing('b', '2')]);
    expect(names(store.list())).toEqual(['a']);
    sink.complete('2');
    expect(names(store.list())).toEqual(['b']);
  });

  test('tells of what vanished meanwhile, as last known', () => {
    list('1', thing('a', '1'), thing('b', '1'));
    const events: StoreEvent<Thing>[] = [];
    store.subscribe((event) => events.push(event));
    events.length = 0;
    list('3', thing('b', '3'));
    expect(events).toMatchObject([
      {
        type: 'modified',
        object: { metadata: { name: 'b', resourceVersion: '3' } },
        old: { metadata: { resourceVersion: '1' } },
      },
      { type: 'deleted', object: { metadata: { name: 'a' } }, isLastState: false },
    ]);
  });
});

describe('a handler', () => {
  test('that comes late is told of what is there, marked as such', () => {
    list('1', thing('a', '1'));
    const events: StoreEvent<Thing>[] = [];
    store.subscribe((event) => events.push(event));
    store.sink().change([{ type: 'ADDED', object: thing('b', '2') }]);
    expect(events).toMatchObject([
      { type: 'added', isInitial: true, object: { metadata: { name: 'a' } } },
      { type: 'added', isInitial: false, object: { metadata: { name: 'b' } } },
    ]);
  });

  test('that throws does not keep others from hearing', () => {
    const heard: string[] = [];
    store.subscribe(() => {
      throw new Error('mine');
    });
    store.subscribe((event) => heard.push(event.type));
    list('1', thing('a', '1'));
    expect(heard).toEqual(['added']);
  });

  test('is not told of an event that came twice', () => {
    list('1');
    const heard: string[] = [];
    store.subscribe((event) => heard.push(event.type));
    const event = { type: 'ADDED', object: thing('a', '2') } as const;
    store.sink().change([event, event]);
    store.sink().change([event]);
    expect(heard).toEqual(['added']);
  });
});

describe('what has been seen', () => {
  test('advances with events and with bookmarks', async () => {
    list('5');
    expect([store.hasSeen('5', 'ns'), store.hasSeen('6', 'ns')]).toEqual([true, false]);
    const waited = store.until(() => store.hasSeen('9', 'ns'));
    store.sink().change([{ type: 'ADDED', object: thing('a', '6') }]);
    expect([store.hasSeen('6', 'ns'), store.hasSeen('9', 'ns')]).toEqual([true, false]);
    store.sink().progress('10');
    await waited;
  });

  test('stops being waited for when the signal aborts', async () => {
    const stop = new AbortController();
    const waited = store.until(() => false, stop.signal);
    stop.abort(new Error('enough'));
    await expect(waited).rejects.toThrow('enough');
  });
});

test('an index that nobody named before is kept from the first question on', () => {
  const byLetter = { name: 'letter', valuesOf: ({ metadata }: Thing) => [metadata.name.slice(0, 1)] };
  const under = (letter: string) => names(store.find(byLetter, letter));
  list('2', thing('ant', '1'), thing('bee', '2'));
  expect(under('a')).toEqual(['ant']);
  store.sink().change([
    { type: 'ADDED', object: thing('ape', '3') },
    { type: 'DELETED', object: thing('ant', '4') },
  ]);
  expect(under('a')).toEqual(['ape']);
  expect(under('b')).toEqual(['bee']);
});

test('several namespaces are kept apart: a relist of one leaves the other alone', () => {
  store = new Store({ log: silentLogger, indexes: byColour, namespaces: ['one', 'two'] });
  for (const namespace of ['one', 'two']) {
    expect(store.isSynced).toBe(false);
    const sink = store.sink(namespace);
    sink.begin();
    sink.seed([thing('a', '1', 'red', namespace)]);
    sink.complete('1');
  }
  expect(store.isSynced).toBe(true);
  const sink = store.sink('one');
  sink.begin();
  sink.complete('2');
  expect(store.list().map((object) => object.metadata.namespace)).toEqual(['two']);
  expect(store.by('colour', 'red')).toHaveLength(1);
  expect([store.hasSeen('2', 'one'), store.hasSeen('2', 'two')]).toEqual([true, false]);
});

test('what one template made for many owners is held once, whether it is listed or comes later', () => {
  const made = (name: string, version: string): Thing => ({
    ...thing(name, version),
    metadata: {
      ...thing(name, version).metadata,
      labels: { app: 'shop' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Owner', name, uid: `uid of ${name}` }],
    },
  });
  const labelsOf = (name: string) => store.get({ namespace: 'ns', name })?.metadata.labels;
  list('1', made('a', '1'), made('b', '1'));
  store.sink().change([{ type: 'ADDED', object: made('c', '2') }]);
  store.sink().change([{ type: 'MODIFIED', object: { ...made('c', '3'), colour: 'green' } }]);
  expect(labelsOf('a')).toEqual({ app: 'shop' });
  expect(labelsOf('b')).toBe(labelsOf('a'));
  expect(labelsOf('c')).toBe(labelsOf('a'));
});

test('in a test, an object that someone tries to change throws', () => {
  store = new Store({ log: silentLogger, freeze: true });
  list('1', thing('a', '1'));
  const [object] = store.list();
  expect(() => Object.assign(object?.metadata ?? {}, { name: 'changed' })).toThrow(TypeError);
});

type Change =
  | { readonly name: string; readonly colour: string }
  | { readonly gone: string }
  | { readonly relist: readonly string[] };
const name = fc.constantFrom('a', 'b', 'c', 'd');
const colour = fc.constantFrom('red', 'green', '');
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ name, colour }) },
  { weight: 2, arbitrary: fc.record({ gone: name }) },
  { weight: 1, arbitrary: fc.record({ relist: fc.uniqueArray(name) }) },
);

test('after any changes and relists, store, indexes and every handler agree with the server', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), fc.nat(40), (changes, subscribeAt) => {
      const store = new Store<Thing>({ log: silentLogger, indexes: byColour });
      const server = new Map<string, Thing>();
      const heard = new Map<string, Thing>();
      const wrong: string[] = [];
      const follow = () =>
        store.subscribe((event) => {
          const key = event.object.metadata.name;
          // No event is doubled or lost: what is added was unknown, what changes or goes was known.
          if (heard.has(key) !== (event.type !== 'added')) wrong.push(`${event.type} ${key}`);
          if (event.type === 'deleted') heard.delete(key);
          else heard.set(key, event.object);
        });
      const sink = store.sink();
      sink.begin();
      sink.complete('1');
      changes.forEach((change, i) => {
        if (i === subscribeAt) follow();
        const version = String(i + 2);
        if ('relist' in change) {
          for (const key of server.keys()) if (!change.relist.includes(key)) server.delete(key);
          sink.begin();
          sink.seed([...server.values()]);
          sink.complete(version);
        } else if ('gone' in change) {
          const object = server.get(change.gone);
          server.delete(change.gone);
          if (object) sink.change([{ type: 'DELETED', object: thing(change.gone, version) }]);
        } else {
          const object = thing(change.name, version, change.colour);
          sink.change([{ type: server.has(change.name) ? 'MODIFIED' : 'ADDED', object }]);
          server.set(change.name, object);
        }
      });
      if (subscribeAt >= changes.length) follow();
      const sorted = (objects: Iterable<Thing>) =>
        [...objects].toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name));
      expect(wrong).toEqual([]);
      expect(sorted(store.list())).toEqual(sorted(server.values()));
      expect(sorted(heard.values())).toEqual(sorted(server.values()));
      for (const value of ['red', 'green']) {
        expect(sorted(store.by('colour', value))).toEqual(
          sorted([...server.values()].filter((one) => one.colour === value)),
        );
      }
    }),
    { numRuns: 500 },
  );
});
