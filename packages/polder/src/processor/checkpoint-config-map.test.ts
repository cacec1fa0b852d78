import { startCluster } from '@polder/embedded';
import { Client, ConfigMap } from '@polder/kube';
import { expect, onTestFinished, test } from 'vitest';
import { CheckpointConfigMap } from './checkpoint-config-map.ts';

const ref = { namespace: 'default', name: 'df-orders-checkpoint' };

async function storing(data: Readonly<Record<string, string>>) {
  const cluster = await startCluster({ nodes: 0, images: [] });
  onTestFinished(() => cluster.stop());
  await cluster.ready;
  const client = new Client({ transport: cluster.server.transport(), userAgent: 'polder/test' });
  await client.create(ConfigMap, { metadata: ref, data });
  return { client, store: new CheckpointConfigMap(client, ref) };
}

test('what was saved is there for the next pod, beside what others saved', async () => {
  const { client, store } = await storing({ nessie: '{"branch":"main"}' });
  expect(await store.load('postgresql')).toBeUndefined();
  await store.save('postgresql', { lastReadOrderByValue: '7' });
  expect(await store.load('postgresql')).toEqual({ lastReadOrderByValue: '7' });
  expect((await client.get(ConfigMap, ref)).data).toEqual({
    nessie: '{"branch":"main"}',
    postgresql: '{"lastReadOrderByValue":"7"}',
  });
});

test('a ConfigMap that is gone has no checkpoint, and none can be saved in it', async () => {
  const { client, store } = await storing({ postgresql: '{}' });
  await client.delete(ConfigMap, ref);
  expect(await store.load('postgresql')).toBeUndefined();
  await expect(store.save('postgresql', {})).rejects.toThrow('configmaps "df-orders-checkpoint" not found');
});

test('a checkpoint that is no JSON is named', async () => {
  const { store } = await storing({ postgresql: '{' });
  await expect(store.load('postgresql')).rejects.toThrow(
    'key postgresql of the ConfigMap default/df-orders-checkpoint is no JSON; delete the key to read from the beginning',
  );
});
