import { configMap, configMaps, pod, pods } from './objects.ts';
import { expect, topic } from './suite.ts';

export const read = topic('get', (promise) => {
  promise('of a missing object answers 404 with its name and kind', async ({ wire, namespace }) => {
    const answer = await wire.get(`${configMaps(await namespace())}/missing`);
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'configmaps "missing" not found',
      reason: 'NotFound',
      details: { name: 'missing', kind: 'configmaps' },
      code: 404,
    });
  });

  promise('names the group of what is missing outside the core group', async ({ wire, namespace }) => {
    const answer = await wire.get(`/apis/apps/v1/namespaces/${await namespace()}/deployments/missing`);
    expect(answer.body).toMatchObject({
      message: 'deployments.apps "missing" not found',
      details: { name: 'missing', group: 'apps', kind: 'deployments' },
    });
  });

  promise('answers with metadata alone when asked for PartialObjectMetadata', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    await wire.must(wire.create(path, pod('a', {}, { labels: { app: 'x' } })));
    const { body } = await wire.get(`${path}/a`, {
      accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    });
    expect(body).toMatchObject({
      apiVersion: 'meta.k8s.io/v1',
      kind: 'PartialObjectMetadata',
      metadata: { name: 'a', labels: { app: 'x' }, uid: expect.any(String) },
    });
    expect(body).not.toHaveProperty('spec');
    expect(body).not.toHaveProperty('status');
  });

  promise('answers JSON when the client takes anything', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a')));
    const answer = await wire.get(`${path}/a`, { accept: '*/*' });
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.body.metadata.name).toBe('a');
  });

  promise('takes the first media type of a list that it can answer', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a')));
    const answer = await wire.get(`${path}/a`, { accept: 'application/nonsense, application/json' });
    expect(answer.status).toBe(200);
    expect(answer.body.kind).toBe('ConfigMap');
  });

  promise('answers YAML when asked', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a', { k: 'v' })));
    const answer = await wire.get(`${path}/a`, { accept: 'application/yaml' });
    expect(answer.headers['content-type']).toBe('application/yaml');
    expect(answer.text).toContain('data:\n  k: v\n');
  });

  promise(
    'carries an audit id, and the flow schema and priority level it was treated by',
    async ({ wire, namespace }) => {
      const { headers } = await wire.get(configMaps(await namespace()));
      for (const name of ['audit-id', 'x-kubernetes-pf-flowschema-uid', 'x-kubernetes-pf-prioritylevel-uid']) {
        expect(headers[name]).toMatch(/^[0-9a-f-]{36}$/);
      }
    },
  );
});
