import { createApiServer } from '@polder/embedded';
import { beforeEach, describe, expect, test } from 'vitest';
import { ObservedTransport } from '../../test/observed-transport.ts';
import { Client, isNotFound } from '../client/index.ts';
import { VirtualClock } from '../clock/index.ts';
import { ConfigMap } from '../kinds/index.ts';
import { addFinalizer, removeFinalizer } from './finalizer.ts';

const ref = { namespace: 'default', name: 'one' };
const ours = 'polder.io/ours';
const [a, b] = ['example.com/a', 'example.com/b'];

let transport: ObservedTransport;
let client: Client;
/** Everybody else. */
let user: Client;
beforeEach(() => {
  const clock = new VirtualClock();
  const server = createApiServer({ clock });
  transport = new ObservedTransport(server.transport());
  client = new Client({ transport, userAgent: 'test', clock });
  user = new Client({ transport: server.transport(), userAgent: 'user', clock });
});

const stored = (finalizers?: string[]): Promise<ConfigMap> =>
  user.create(ConfigMap, { metadata: { ...ref, ...(finalizers && { finalizers }) } });
const deleted = async (finalizers: string[]): Promise<ConfigMap> => {
  await stored(finalizers);
  await user.delete(ConfigMap, ref);
  return user.get(ConfigMap, ref);
};
const change = (finalizers: string[]) =>
  user.patch(ConfigMap, ref, { type: 'merge', body: { metadata: { finalizers } } });
const finalizers = async () => (await user.get(ConfigMap, ref)).metadata.finalizers;

describe('adding', () => {
  test('begins the list', async () => {
    expect(await addFinalizer(client, ConfigMap, await stored(), ours)).toMatchObject({ is: 'present' });
    expect(await finalizers()).toEqual([ours]);
  });

  test('comes after those of others', async () => {
    await addFinalizer(client, ConfigMap, await stored([a]), ours);
    expect(await finalizers()).toEqual([a, ours]);
  });

  test('costs no request if it is there', async () => {
    expect(await addFinalizer(client, ConfigMap, await stored([ours]), ours)).toMatchObject({ is: 'present' });
    expect(transport.requests).toEqual([]);
  });

  test('asks to look again if somebody else was faster', async () => {
    const old = await stored();
    await change([a]);
    expect(await addFinalizer(client, ConfigMap, old, ours)).toEqual({ is: 'look-again' });
    expect(await finalizers()).toEqual([a]);
  });

  test('asks to look again if a deletion has begun', async () => {
    const old = await stored([a]);
    await user.delete(ConfigMap, ref);
    expect(await addFinalizer(client, ConfigMap, old, ours)).toEqual({ is: 'look-again' });
    expect(await finalizers()).toEqual([a]);
  });

  test('does not touch another object of the same name', async () => {
    const old = await stored();
    await user.delete(ConfigMap, ref);
    await stored();
    expect(await addFinalizer(client, ConfigMap, old, ours)).toEqual({ is: 'look-again' });
    expect(await finalizers()).toBeUndefined();
  });

  test('is not tried on what is being deleted', async () => {
    expect(await addFinalizer(client, ConfigMap, await deleted([a]), ours)).toMatchObject({ is: 'absent' });
    expect(transport.requests).toEqual([]);
  });
});

describe('removing', () => {
  test('takes out ours alone', async () => {
    const object = await stored([a, ours, b]);
    expect(await removeFinalizer(client, ConfigMap, object, ours)).toMatchObject({ is: 'absent' });
    expect(await finalizers()).toEqual([a, b]);
  });

  test('never hits one of others that has moved into its place', async () => {
    const old = await stored([a, ours, b]);
    await change([ours, b]);
    expect(await removeFinalizer(client, ConfigMap, old, ours)).toEqual({ is: 'look-again' });
    expect(await finalizers()).toEqual([ours, b]);
  });

  test('lets a deleted object go', async () => {
    expect(await removeFinalizer(client, ConfigMap, await deleted([ours]), ours)).toMatchObject({ is: 'absent' });
    await expect(user.get(ConfigMap, ref)).rejects.toSatisfy(isNotFound);
  });

  test('is done if the object is gone', async () => {
    const object = await stored([ours]);
    await change([]);
    await user.delete(ConfigMap, ref);
    expect(await removeFinalizer(client, ConfigMap, object, ours)).toEqual({ is: 'absent', object: undefined });
  });
});
