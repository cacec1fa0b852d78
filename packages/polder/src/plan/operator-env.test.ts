import { createApiServer } from '@polder/embedded';
import { Client, Lease, Namespace, Pod } from '@polder/kube';
import { beforeEach, expect, test } from 'vitest';
import { operatorEnv } from './operator-env.ts';

const signal = new AbortController().signal;
let client: Client;
beforeEach(async () => {
  client = new Client({ transport: createApiServer().transport(), userAgent: 'test' });
  await client.create(Namespace, { metadata: { name: 'system' } });
});

const led = (holderIdentity: string) =>
  client.create(Lease, { metadata: { namespace: 'system', name: 'pages' }, spec: { holderIdentity } });

test('a plan has the settings of the operator that leads, wherever that runs', async () => {
  const env = [
    { name: 'PROCESSOR_IMAGE', value: 'registry/x:1' },
    { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
  ];
  const spec = { containers: [{ name: 'operator', image: 'x', env }] };
  await client.create(Pod, { metadata: { namespace: 'system', name: 'operator-7c5-x-0' }, spec });
  await led('operator-7c5-x-0_abc123');
  expect(await operatorEnv('pages', client, signal)).toEqual({ PROCESSOR_IMAGE: 'registry/x:1' });
});

test.each(['', 'laptop_abc', 'nothing'])('nobody who leads from a pod has none: %j', async (holder) => {
  await led(holder);
  expect(await operatorEnv('pages', client, signal)).toEqual({});
});

test('nor has a cluster where nobody ever led', async () => {
  expect(await operatorEnv('pages', client, signal)).toEqual({});
});
