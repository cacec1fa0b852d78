import { configMap, configMaps, deployment, deployments, pod } from '../contract/objects.ts';
import type { Body } from '../contract/wire.ts';
import { onDrivenNode } from './pods.ts';
import { expect, topic } from './suite.ts';

const HOLD = { finalizers: ['example.com/hold'] };
const RELEASE = { metadata: { finalizers: null } };

type Fields = Readonly<Record<string, unknown>>;

const reference = ({ apiVersion, kind, metadata: { name, uid } }: Body, fields: Fields = {}) => ({
  apiVersion,
  kind,
  name,
  uid,
  ...fields,
});

const ownedBy = (...ownerReferences: readonly unknown[]) => ({ ownerReferences });

const replicaSets = (namespace: string) => `/apis/apps/v1/namespaces/${namespace}/replicasets`;

export const garbageCollection = topic('garbage collection', (promise) => {
  promise('removes what belonged to an object that is gone', async ({ wire, namespace, gone }) => {
    const at = configMaps(await namespace());
    const owner = await wire.must(wire.create(at, configMap('owner')));
    const child = await wire.must(wire.create(at, configMap('child', {}, ownedBy(reference(owner)))));
    await wire.must(wire.create(at, configMap('grandchild', {}, ownedBy(reference(child)))));

    await wire.must(wire.delete(`${at}/owner`));

    expect((await wire.get(`${at}/owner`)).status).toBe(404);
    await gone(`${at}/child`);
    await gone(`${at}/grandchild`);
  });

  promise('in the background lets the owner go before what belongs to it', async ({ wire, namespace, becomes }) => {
    const at = configMaps(await namespace());
    const owner = await wire.must(wire.create(at, configMap('owner')));
    await wire.must(wire.create(at, configMap('held', {}, { ...ownedBy(reference(owner)), ...HOLD })));

    await wire.must(wire.delete(`${at}/owner`, { propagationPolicy: 'Background' }));

    expect((await wire.get(`${at}/owner`)).status).toBe(404);
    await becomes(`${at}/held`, { metadata: { deletionTimestamp: expect.any(String) } });
    await wire.must(wire.patch('merge', `${at}/held`, RELEASE));
  });

  promise('in the foreground keeps the owner until what blocks it is gone', async (world) => {
    const { wire, namespace, becomes, gone } = world;
    const at = configMaps(await namespace());
    const owner = await wire.must(wire.create(at, configMap('owner')));
    const blocking = reference(owner, { blockOwnerDeletion: true });
    await wire.must(wire.create(at, configMap('held', {}, { ...ownedBy(blocking), ...HOLD })));
    await wire.must(wire.create(at, configMap('free', {}, ownedBy(blocking))));

    const answer = await wire.delete(`${at}/owner`, { propagationPolicy: 'Foreground' });

    expect(answer.body).toMatchObject({
      kind: 'ConfigMap',
      metadata: { deletionTimestamp: expect.any(String), finalizers: ['foregroundDeletion'] },
    });
    await becomes(`${at}/held`, { metadata: { deletionTimestamp: expect.any(String) } });
    await gone(`${at}/free`);
    await becomes(`${at}/owner`, { metadata: { finalizers: ['foregroundDeletion'] } });
    await wire.must(wire.patch('merge', `${at}/held`, RELEASE));
    await gone(`${at}/owner`);
    expect((await wire.get(`${at}/held`)).status).toBe(404);
  });

  promise('in the foreground does not wait for what does not block', async ({ wire, namespace, becomes, gone }) => {
    const at = configMaps(await namespace());
    const owner = await wire.must(wire.create(at, configMap('owner')));
    await wire.must(wire.create(at, configMap('held', {}, { ...ownedBy(reference(owner)), ...HOLD })));

    await wire.must(wire.delete(`${at}/owner`, { propagationPolicy: 'Foreground' }));

    await gone(`${at}/owner`);
    await becomes(`${at}/held`, { metadata: { deletionTimestamp: expect.any(String) } });
    await wire.must(wire.patch('merge', `${at}/held`, RELEASE));
  });

  promise('in the foreground takes a Deployment down from its pods upwards', async (world) => {
    const { wire, namespace, podsBecome, scheduled, becomes, gone } = world;
    const ns = await namespace();
    const template = { metadata: { labels: { app: 'a' } }, spec: { ...pod('').spec, ...onDrivenNode } };
    await wire.must(wire.create(deployments(ns), deployment('a', { template })));
    const [created] = await podsBecome(ns, 'app=a', 1);
    const running = await world.becomeReady(await scheduled(ns, created?.metadata.name ?? ''));
    const [replicaSet] = (await wire.get(replicaSets(ns))).body.items;

    await wire.must(wire.delete(`${deployments(ns)}/a`, { propagationPolicy: 'Foreground' }));

    const going = { metadata: { deletionTimestamp: expect.any(String), finalizers: ['foregroundDeletion'] } };
    await becomes(`${replicaSets(ns)}/${replicaSet?.metadata.name}`, going);
    await world.becomesGoing(running);
    await becomes(`${deployments(ns)}/a`, going);
    await world.finishDeletion(running);
    await gone(`${deployments(ns)}/a`);
    expect((await wire.get(replicaSets(ns))).body.items).toEqual([]);
    expect(await world.podsOf(ns, 'app=a')).toEqual([]);
  });

  promise('on request leaves everything behind, without an owner', async ({ wire, namespace, gone }) => {
    const at = configMaps(await namespace());
    const owner = await wire.must(wire.create(at, configMap('owner')));
    await wire.must(wire.create(at, configMap('child', {}, ownedBy(reference(owner)))));

    const answer = await wire.delete(`${at}/owner`, { propagationPolicy: 'Orphan' });

    expect(answer.body.metadata.finalizers).toEqual(['orphan']);
    await gone(`${at}/owner`);
    const child = await wire.get(`${at}/child`);
    expect(child.status).toBe(200);
    expect(child.body.metadata).not.toHaveProperty('ownerReferences');
  });

  promise('removes what names an owner that never was', async ({ wire, namespace, gone }) => {
    const at = configMaps(await namespace());
    const nobody = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: crypto.randomUUID() };
    await wire.must(wire.create(at, configMap('child', {}, ownedBy(nobody))));
    await gone(`${at}/child`);
  });

  promise('is not deceived by another object of the same name', async ({ wire, namespace, gone }) => {
    const at = configMaps(await namespace());
    const first = await wire.must(wire.create(at, configMap('owner')));
    await wire.must(wire.create(at, configMap('child', {}, ownedBy(reference(first)))));
    await wire.must(wire.delete(`${at}/owner`, { propagationPolicy: 'Background' }));
    await wire.must(wire.create(at, configMap('owner')));
    await gone(`${at}/child`);
    expect((await wire.get(`${at}/owner`)).status).toBe(200);
  });

  promise('does not see an owner in another namespace', async ({ wire, namespace, gone }) => {
    const [here, there] = [configMaps(await namespace()), configMaps(await namespace())];
    const owner = await wire.must(wire.create(there, configMap('owner')));
    await wire.must(wire.create(here, configMap('child', {}, ownedBy(reference(owner)))));
    await gone(`${here}/child`);
    expect((await wire.get(`${there}/owner`)).status).toBe(200);
  });

  promise('follows an owner that is in no namespace', async ({ wire, namespace, fresh, gone }) => {
    const at = configMaps(await namespace());
    const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
    const name = fresh('owner');
    const owner = await wire.must(wire.create(classes, { metadata: { name }, value: 1 }));
    await wire.must(wire.create(at, configMap('child', {}, ownedBy(reference(owner)))));
    await wire.must(wire.delete(`${classes}/${name}`));
    await gone(`${at}/child`);
  });

  promise('keeps what still has an owner, and takes the lost one off it', async (world) => {
    const { wire, namespace, becomes, gone } = world;
    const at = configMaps(await namespace());
    const first = await wire.must(wire.create(at, configMap('first')));
    const second = await wire.must(wire.create(at, configMap('second')));
    await wire.must(wire.create(at, configMap('child', {}, ownedBy(reference(first), reference(second)))));

    await wire.must(wire.delete(`${at}/first`));
    await becomes(`${at}/child`, { metadata: { ownerReferences: [reference(second)] } });

    await wire.must(wire.delete(`${at}/second`));
    await gone(`${at}/child`);
  });

  promise('in the foreground does not wait for what another owner keeps', async (world) => {
    const { wire, namespace, becomes, gone } = world;
    const at = configMaps(await namespace());
    const going = await wire.must(wire.create(at, configMap('going')));
    const staying = await wire.must(wire.create(at, configMap('staying')));
    const owners = ownedBy(reference(going, { blockOwnerDeletion: true }), reference(staying));
    await wire.must(wire.create(at, configMap('child', {}, owners)));

    await wire.must(wire.delete(`${at}/going`, { propagationPolicy: 'Foreground' }));

    await gone(`${at}/going`);
    await becomes(`${at}/child`, { metadata: { ownerReferences: [reference(staying)] } });
  });

  promise('spares what let go of its owner in time', async ({ wire, namespace, becomes, gone }) => {
    const at = configMaps(await namespace());
    const owner = await wire.must(wire.create(at, configMap('owner')));
    const blocking = reference(owner, { blockOwnerDeletion: true });
    await wire.must(wire.create(at, configMap('held', {}, { ...ownedBy(blocking), ...HOLD })));
    await wire.must(wire.create(at, configMap('freed', {}, ownedBy(blocking))));
    await wire.must(wire.patch('merge', `${at}/freed`, { metadata: { ownerReferences: null } }));
    await wire.must(wire.delete(`${at}/owner`, { propagationPolicy: 'Foreground' }));
    await becomes(`${at}/held`, { metadata: { deletionTimestamp: expect.any(String) } });
    await wire.must(wire.patch('merge', `${at}/held`, RELEASE));
    // The owner went, so everything that was its has been dealt with.
    await gone(`${at}/owner`);
    expect((await wire.get(`${at}/freed`)).status).toBe(200);
  });

  promise('knows custom resources, as owners and as dependents', async (world) => {
    const { wire, namespace, customResource, gone } = world;
    const ns = await namespace();
    const widgets = await customResource();
    const at = widgets.collection(ns);
    const owner = await wire.must(wire.create(at, widgets.widget('owner')));
    const child = await wire.must(
      wire.create(at, widgets.widget('child', { metadata: { name: 'child', ...ownedBy(reference(owner)) } })),
    );
    await wire.must(wire.create(configMaps(ns), configMap('grandchild', {}, ownedBy(reference(child)))));

    await wire.must(wire.delete(`${at}/owner`));

    await gone(`${at}/child`);
    await gone(`${configMaps(ns)}/grandchild`);
  });
});
