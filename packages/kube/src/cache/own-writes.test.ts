import { beforeEach, expect, test } from 'vitest';
import type { Kind, KubernetesObject } from '../kinds/index.ts';
import { silentLogger } from '../log.ts';
import { OwnWrites } from './own-writes.ts';
import { Store } from './store.ts';

const things: Kind = { group: '', version: 'v1', kind: 'Thing', plural: 'things', namespaced: true };
const ref = { namespace: 'ns', name: 'a' };
const thing = (version: string, uid = 'u'): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { ...ref, uid, resourceVersion: version },
});

let store: Store<KubernetesObject>;
let own: OwnWrites;
beforeEach(() => {
  store = new Store({ log: silentLogger });
  own = new OwnWrites();
  store.sink().begin();
  store.sink().seed([thing('5')]);
  store.sink().complete('5');
});
const isStale = (name = 'a') => own.isStale(things, store, { namespace: 'ns', name });

test('a write is awaited until the store has seen its version, by an event or by a bookmark', () => {
  own.wrote(things, thing('7'));
  expect([isStale(), isStale('other'), own.isStale(things, store)]).toEqual([true, false, true]);
  store.sink().change([{ type: 'MODIFIED', object: thing('7') }]);
  expect([isStale(), own.isStale(things, store)]).toEqual([false, false]);
  own.wrote(things, thing('8'));
  store.sink().progress('9');
  expect(isStale()).toBe(false);
});

test('a write that changed nothing carries an old version, which nobody has to wait for', () => {
  own.wrote(things, thing('5'));
  expect(isStale()).toBe(false);
});

test('a deletion is awaited until that very object is gone', () => {
  own.deleted(things, ref, 'u');
  store.sink().progress('100');
  expect(isStale()).toBe(true);
  store.sink().change([{ type: 'DELETED', object: thing('101') }]);
  expect(isStale()).toBe(false);
  own.deleted(things, ref, 'u');
  store.sink().change([{ type: 'ADDED', object: thing('102', 'another') }]);
  expect(isStale()).toBe(false);
});
