import { createApiServer } from '@polder/embedded';
import { Client, ConfigMap, Pod, systemClock } from '@polder/kube';
import { beforeEach, expect, test } from 'vitest';
import { becomeReady } from './become-ready.ts';

let client: Client;
beforeEach(() => {
  client = new Client({ transport: createApiServer({ clock: systemClock }).transport(), userAgent: 'test' });
});

const ref = (name: string) => ({ namespace: 'default', name });
const createPod = async (name: string) => ({
  kind: Pod,
  object: await client.create(Pod, { metadata: ref(name), spec: { containers: [{ name: 'c', image: 'i' }] } }),
});
const watch = () => {
  const told: string[] = [];
  const signal = new AbortController().signal;
  const ready = (_: unknown, { metadata }: { readonly metadata: { readonly name: string } }, because: string) =>
    void told.push(`${metadata.name}: ${because}`);
  return { told, tools: { client, clock: systemClock, signal, ready } };
};

test('who is not ready when patience ends is told with the reason', async () => {
  const { told, tools } = watch();
  const map = { kind: ConfigMap, object: await client.create(ConfigMap, { metadata: ref('map') }) };
  const waiting = await becomeReady([await createPod('slow'), map], { patienceMs: 0 }, tools);
  expect(told).toEqual(['map: it is there']);
  expect(waiting).toMatchObject([{ object: { metadata: { name: 'slow' } }, because: 'it is Pending' }]);
});

test('what somebody deletes is not waited for any more', async () => {
  const { told, tools } = watch();
  const slow = await createPod('slow');
  const waiting = becomeReady([slow], { patienceMs: Number.POSITIVE_INFINITY }, tools);
  await client.delete(Pod, ref('slow'), { gracePeriodSeconds: 0 });
  expect(await waiting).toEqual([]);
  expect(told).toEqual([]);
});
