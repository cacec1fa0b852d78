import { beforeEach, describe, expect, test } from 'vitest';
import { ObjectServer } from '../../test/object-server.ts';
import { Client } from '../client/index.ts';
import { VirtualClock } from '../clock/index.ts';
import type { Kind, KubernetesObject } from '../kinds/index.ts';
import { addFinalizer, removeFinalizer } from './finalizer.ts';

const kind: Kind = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const ref = { namespace: 'default', name: 'one' };
const ours = 'polder.io/ours';

let server: ObjectServer;
let client: Client;
beforeEach(() => {
  server = new ObjectServer();
  client = new Client({ transport: server, userAgent: 'test', clock: new VirtualClock() });
});

const stored = (metadata: Partial<KubernetesObject['metadata']> = {}): KubernetesObject => {
  server.put(kind, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...ref, ...metadata } });
  const object = server.at(kind, ref);
  if (!object) throw new Error('not stored');
  return object;
};
const finalizers = () => server.at(kind, ref)?.metadata.finalizers;

describe('adding', () => {
  test('begins the list', async () => {
    expect(await addFinalizer(client, kind, stored(), ours)).toMatchObject({ is: 'present' });
    expect(finalizers()).toEqual([ours]);
  });

  test('comes after those of others', async () => {
    await addFinalizer(client, kind, stored({ finalizers: ['theirs'] }), ours);
    expect(finalizers()).toEqual(['theirs', ours]);
  });

  test('costs no request if it is there', async () => {
    expect(await addFinalizer(client, kind, stored({ finalizers: [ours] }), ours)).toMatchObject({ is: 'present' });
    expect(server.requests).toEqual([]);
  });

  test('asks to look again if somebody else was faster', async () => {
    const old = stored();
    stored({ finalizers: ['theirs'] });
    expect(await addFinalizer(client, kind, old, ours)).toEqual({ is: 'look-again' });
    expect(finalizers()).toEqual(['theirs']);
  });

  test('does not touch another object of the same name', async () => {
    const old = stored({ uid: 'first' });
    stored({ uid: 'second' });
    expect(await addFinalizer(client, kind, old, ours)).toEqual({ is: 'look-again' });
    expect(finalizers()).toBeUndefined();
  });

  test('is not tried on what is being deleted', async () => {
    const going = stored({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['theirs'] });
    expect(await addFinalizer(client, kind, going, ours)).toMatchObject({ is: 'absent' });
    expect(server.requests).toEqual([]);
  });
});

describe('removing', () => {
  test('takes out ours alone', async () => {
    const object = stored({ finalizers: ['a', ours, 'b'] });
    expect(await removeFinalizer(client, kind, object, ours)).toMatchObject({ is: 'absent' });
    expect(finalizers()).toEqual(['a', 'b']);
  });

  test('never hits one of others that has moved into its place', async () => {
    const old = stored({ finalizers: ['a', ours, 'b'] });
    stored({ uid: old.metadata.uid ?? '', finalizers: [ours, 'b'] });
    expect(await removeFinalizer(client, kind, old, ours)).toEqual({ is: 'look-again' });
    expect(finalizers()).toEqual([ours, 'b']);
  });

  test('lets a deleted object go', async () => {
    const going = stored({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [ours] });
    expect(await removeFinalizer(client, kind, going, ours)).toMatchObject({ is: 'absent' });
    expect(server.at(kind, ref)).toBeUndefined();
  });

  test('is done if the object is gone', async () => {
    const object = stored({ finalizers: [ours] });
    server.objects.clear();
    expect(await removeFinalizer(client, kind, object, ours)).toEqual({ is: 'absent', object: undefined });
  });
});
