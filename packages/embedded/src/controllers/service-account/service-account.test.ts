import { ConfigMap, Namespace, register, ServiceAccount } from '@polder/kube';
import { afterEach, expect, test } from 'vitest';
import { TestWorld } from '../test-world.ts';
import { namespaceDefaults } from './index.ts';

let world: TestWorld;
afterEach(() => world.stop());

const names = async (kind: typeof ConfigMap | typeof ServiceAccount, namespace: string) =>
  kind === ConfigMap
    ? (await world.client.list(ConfigMap, { namespace })).items.map(({ metadata }) => metadata.name)
    : (await world.client.list(ServiceAccount, { namespace })).items.map(({ metadata }) => metadata.name);

test('every namespace has its service account and the certificate of the server, and gets them back', async () => {
  world = new TestWorld().run(register(namespaceDefaults({ rootCa: 'the certificate' })));
  await world.client.create(Namespace, { metadata: { name: 'n' } });
  await world.settle();
  for (const namespace of ['default', 'n']) {
    expect(await names(ServiceAccount, namespace)).toEqual(['default']);
    expect(await names(ConfigMap, namespace)).toEqual(['kube-root-ca.crt']);
  }
  await world.client.delete(ServiceAccount, { name: 'default', namespace: 'n' });
  await world.client.delete(ConfigMap, { name: 'kube-root-ca.crt', namespace: 'n' });
  await world.settle();
  expect(await names(ServiceAccount, 'n')).toEqual(['default']);
  const { data } = await world.client.get(ConfigMap, { name: 'kube-root-ca.crt', namespace: 'n' });
  expect(data).toEqual({ 'ca.crt': 'the certificate' });
});

test('a server without a certificate has none to hand out', async () => {
  world = new TestWorld().run(register(namespaceDefaults({})));
  await world.settle();
  expect(await names(ServiceAccount, 'default')).toEqual(['default']);
  expect(await names(ConfigMap, 'default')).toEqual([]);
});

test('a certificate that somebody changed is put right', async () => {
  world = new TestWorld().run(register(namespaceDefaults({ rootCa: 'right' })));
  await world.settle();
  const ref = { name: 'kube-root-ca.crt', namespace: 'default' };
  await world.client.patch(ConfigMap, ref, { type: 'merge', body: { data: { 'ca.crt': 'wrong' } } });
  await world.settle();
  expect((await world.client.get(ConfigMap, ref)).data).toEqual({ 'ca.crt': 'right' });
});
