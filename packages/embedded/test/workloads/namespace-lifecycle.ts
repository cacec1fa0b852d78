import { configMap, configMaps, deployment, deployments, pods } from '../contract/objects.ts';
import { expect, topic } from './suite.ts';

const at = (name: string) => `/api/v1/namespaces/${name}`;
const serviceAccounts = (namespace: string) => `${at(namespace)}/serviceaccounts`;

const HOLD = { finalizers: ['example.com/hold'] };
const RELEASE = { metadata: { finalizers: null } };

export const namespaceLifecycle = topic('the life of a namespace', (promise) => {
  promise('begins with a service account, which comes back when it is deleted', async (world) => {
    const { wire, namespace, settles } = world;
    const ns = await namespace();
    const { metadata } = await wire.must(wire.get(`${serviceAccounts(ns)}/default`));
    await wire.must(wire.delete(`${serviceAccounts(ns)}/default`));
    await settles(async () => {
      const { body } = await wire.get(`${serviceAccounts(ns)}/default`);
      expect(body).toMatchObject({ kind: 'ServiceAccount', metadata: { name: 'default' } });
      expect(body.metadata.uid).not.toBe(metadata.uid);
    });
  });

  promise('begins with the certificate of the cluster, which nobody can take or change', async (world) => {
    const { wire, namespace, becomes } = world;
    const path = `${configMaps(await namespace())}/kube-root-ca.crt`;
    const { data } = await becomes(path, { data: { 'ca.crt': expect.stringContaining('BEGIN CERTIFICATE') } });

    await wire.must(wire.patch('merge', path, { data: { 'ca.crt': 'another' } }));
    await becomes(path, { data });

    await wire.must(wire.delete(path));
    await becomes(path, { data });
  });

  promise('ends with everything in it', async ({ wire, namespace, customResource, becomes, gone }) => {
    const ns = await namespace();
    const widgets = await customResource();
    await wire.must(wire.create(configMaps(ns), configMap('a')));
    await wire.must(wire.create(widgets.collection(ns), widgets.widget('a')));
    await wire.must(wire.create(deployments(ns), deployment('a', { replicas: 2 })));
    await becomes(`${deployments(ns)}/a`, { status: { readyReplicas: 2 } });

    await wire.must(wire.delete(at(ns)));

    await gone(at(ns));
    for (const collected of [configMaps(ns), widgets.collection(ns), deployments(ns), pods(ns), serviceAccounts(ns)]) {
      expect((await wire.get(collected)).body.items, collected).toEqual([]);
    }
  });

  promise('waits for finalizers, and says for which and for what', async ({ wire, namespace, becomes, gone }) => {
    const ns = await namespace();
    await wire.must(wire.create(configMaps(ns), configMap('held', {}, HOLD)));
    await wire.must(wire.create(configMaps(ns), configMap('free')));

    await wire.must(wire.delete(at(ns)));

    const { status } = await becomes(at(ns), {
      status: {
        phase: 'Terminating',
        conditions: expect.arrayContaining([
          expect.objectContaining({
            type: 'NamespaceContentRemaining',
            status: 'True',
            reason: 'SomeResourcesRemain',
            message: 'Some resources are remaining: configmaps. has 1 resource instances',
          }),
          expect.objectContaining({
            type: 'NamespaceFinalizersRemaining',
            status: 'True',
            reason: 'SomeFinalizersRemain',
            message: 'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
          }),
        ]),
      },
    });
    expect(status).toMatchObject({
      conditions: expect.arrayContaining([
        expect.objectContaining({
          type: 'NamespaceDeletionDiscoveryFailure',
          status: 'False',
          reason: 'ResourcesDiscovered',
          message: 'All resources successfully discovered',
        }),
        expect.objectContaining({
          type: 'NamespaceDeletionGroupVersionParsingFailure',
          status: 'False',
          reason: 'ParsedGroupVersions',
          message: 'All legacy kube types successfully parsed',
        }),
        expect.objectContaining({
          type: 'NamespaceDeletionContentFailure',
          status: 'False',
          reason: 'ContentDeleted',
          message: 'All content successfully deleted, may be waiting on finalization',
        }),
      ]),
    });
    expect((await wire.get(`${configMaps(ns)}/free`)).status).toBe(404);
    await wire.must(wire.patch('merge', `${configMaps(ns)}/held`, RELEASE));
    await gone(at(ns));
  });

  promise('ends its pods first, so that they find what they need until they stop', async (world) => {
    const { wire, namespace, place, becomes, gone } = world;
    const ns = await namespace();
    await wire.must(wire.create(configMaps(ns), configMap('needed')));
    // How soon the namespace is looked at again depends on the grace of its pods.
    const running = await world.becomeReady(await place(ns, 'a', { spec: { terminationGracePeriodSeconds: 1 } }));

    await wire.must(wire.delete(at(ns)));

    await world.becomesGoing(running);
    // Written when all has been done that can be done for now.
    await becomes(at(ns), { status: { conditions: expect.any(Array) } });
    expect((await wire.get(`${configMaps(ns)}/needed`)).body.metadata).not.toHaveProperty('deletionTimestamp');
    await world.finishDeletion(running);
    await gone(at(ns));
  });

  promise('lets nothing new in while it ends, not even its service account', async (world) => {
    const { wire, namespace, becomes, gone } = world;
    const ns = await namespace();
    await wire.must(wire.create(configMaps(ns), configMap('held', {}, HOLD)));
    await wire.must(wire.delete(at(ns)));
    await gone(`${serviceAccounts(ns)}/default`);
    await becomes(at(ns), { status: { conditions: expect.any(Array) } });
    expect((await wire.get(`${serviceAccounts(ns)}/default`)).status).toBe(404);
    const refused = await wire.create(configMaps(ns), configMap('late'));
    expect(refused.status).toBe(403);
    expect(refused.body.details.causes).toMatchObject([{ reason: 'NamespaceTerminating' }]);
    await wire.must(wire.patch('merge', `${configMaps(ns)}/held`, RELEASE));
    await gone(at(ns));
  });

  promise('waits for its own finalizers when it is empty', async ({ wire, fresh, settles, gone }) => {
    const ns = fresh('workloads');
    await wire.must(wire.create('/api/v1/namespaces', { metadata: { name: ns, ...HOLD } }));
    await wire.must(wire.delete(at(ns)));
    await settles(async () => {
      const { body } = await wire.get(at(ns));
      // The finalizer `kubernetes`, which the controller takes off once nothing is left.
      expect(body.spec).not.toHaveProperty('finalizers');
      expect(body.metadata.finalizers).toEqual(HOLD.finalizers);
    });
    await wire.must(wire.patch('merge', at(ns), RELEASE));
    await gone(at(ns));
  });
});
