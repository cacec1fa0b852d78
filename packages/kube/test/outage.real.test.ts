import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../../../tools/control-plane/start.ts';
import { Cache, Client, ConfigMap, kubeconfig, silentLogger, socketTransport, systemClock } from '../src/index.ts';

let controlPlane: ControlPlane;
let client: Client;
beforeAll(async () => {
  controlPlane = await startControlPlane({ dir: mkdtempSync(join(tmpdir(), 'polder-outage-')) });
  const transport = socketTransport(await kubeconfig([controlPlane.kubeconfig]));
  client = new Client({ transport, userAgent: 'polder/test' });
});
afterAll(async () => {
  await client.close();
  await controlPlane.stop();
});

test('a cache follows a real API server that crashed and came back', async () => {
  const cache = new Cache({ client, clock: systemClock, random: Math.random, log: silentLogger });
  const store = cache.of(ConfigMap);
  cache.start();
  await cache.synced();
  const ref = { namespace: 'default', name: 'kept' };
  await client.create(ConfigMap, { metadata: ref, data: { state: 'before' } });
  const sees = (state: string) =>
    store.until(() => store.get(ref)?.data?.['state'] === state, AbortSignal.timeout(30_000));
  await sees('before');

  await controlPlane.kill();
  await expect(client.get(ConfigMap, ref)).rejects.toThrow(/ECONNREFUSED/);
  expect(store.get(ref)?.data).toEqual({ state: 'before' });
  await controlPlane.restart();

  await client.patch(ConfigMap, ref, { type: 'merge', body: { data: { state: 'after' } } });
  await sees('after');
  await cache.stop();
});
