import { configMap, configMaps } from './objects.ts';
import { expect, topic } from './suite.ts';

const at = (name: string) => `/api/v1/namespaces/${name}`;

export const namespaces = topic('namespaces', (promise) => {
  promise('begin active, labelled with their name, held by the finalizer kubernetes', async ({ wire, namespace }) => {
    const ns = await namespace();
    expect((await wire.get(at(ns))).body).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': ns } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
  });

  promise('that every cluster has are there', async ({ wire }) => {
    for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
      expect((await wire.get(at(name))).status).toBe(200);
    }
  });

  promise('when deleted become Terminating and wait for their finalizer', async ({ wire, namespace }) => {
    const ns = await namespace();
    const answer = await wire.delete(at(ns));
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      kind: 'Namespace',
      metadata: { deletionTimestamp: expect.any(String) },
      status: { phase: 'Terminating' },
    });
  });

  promise('that are going take nothing new', async ({ wire, namespace }) => {
    const ns = await namespace();
    await wire.must(wire.delete(at(ns)));
    const answer = await wire.create(configMaps(ns), configMap('a'));
    expect(answer.status).toBe(403);
    expect(answer.body).toMatchObject({
      reason: 'Forbidden',
      message: `configmaps "a" is forbidden: unable to create new content in namespace ${ns} because it is being terminated`,
      details: {
        name: 'a',
        kind: 'configmaps',
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: `namespace ${ns} is being terminated`,
            field: 'metadata.namespace',
          },
        ],
      },
    });
  });

  promise('that are going still let their content change and go', async ({ wire, namespace }) => {
    const ns = await namespace();
    await wire.must(wire.create(configMaps(ns), configMap('a', undefined, { finalizers: ['example.com/hold'] })));
    await wire.must(wire.delete(at(ns)));
    await wire.must(wire.delete(`${configMaps(ns)}/a`));
    await wire.must(wire.patch('merge', `${configMaps(ns)}/a`, { metadata: { finalizers: null } }));
    expect((await wire.get(`${configMaps(ns)}/a`)).status).toBe(404);
  });

  promise('are gone once the finalizer is taken off through /finalize', async ({ wire, namespace }) => {
    const ns = await namespace();
    const marked = await wire.must(wire.delete(at(ns)));
    const answer = await wire.replace(`${at(ns)}/finalize`, { ...marked, spec: { finalizers: [] } });
    expect(answer.status).toBe(200);
    expect((await wire.get(at(ns))).status).toBe(404);
  });

  promise('cannot lose the finalizer by an ordinary write', async ({ wire, namespace }) => {
    const ns = await namespace();
    const body = await wire.must(wire.patch('merge', at(ns), { spec: { finalizers: [] } }));
    expect(body.spec['finalizers']).toEqual(['kubernetes']);
  });

  promise('refuse to delete default', async ({ wire }) => {
    const answer = await wire.delete(`${at('default')}?dryRun=All`);
    expect(answer.status).toBe(403);
    expect(answer.body.message).toBe('namespaces "default" is forbidden: this namespace may not be deleted');
  });

  promise('have no collection to delete', async ({ wire }) => {
    expect((await wire.delete('/api/v1/namespaces?labelSelector=nobody%3Dhas')).status).toBe(405);
  });

  promise('refuse a name with dots', async ({ wire }) => {
    const answer = await wire.create('/api/v1/namespaces', { metadata: { name: 'a.b' } });
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes[0]).toMatchObject({ field: 'metadata.name', reason: 'FieldValueInvalid' });
  });
});
