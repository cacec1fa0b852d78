import { deployment, deployments, statefulSet, statefulSets } from './objects.ts';
import { expect, topic } from './suite.ts';

const SIZED = {
  spec: { type: 'object', properties: { replicas: { type: 'integer', minimum: 0 } } },
  status: { type: 'object', properties: { replicas: { type: 'integer' }, selector: { type: 'string' } } },
  subresources: {
    status: {},
    scale: {
      specReplicasPath: '.spec.replicas',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.selector',
    },
  },
};

export const scale = topic('scale', (promise) => {
  promise('of a Deployment is an autoscaling/v1 Scale with its selector', async ({ wire, namespace }) => {
    const ns = await namespace();
    const made = await wire.must(wire.create(deployments(ns), deployment('a', { replicas: 3 })));
    const { status, body } = await wire.get(`${deployments(ns)}/a/scale`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'a', namespace: ns, uid: made.metadata.uid, resourceVersion: made.metadata.resourceVersion },
      spec: { replicas: 3 },
      status: { replicas: 0, selector: 'app=a' },
    });
  });

  promise('changes the replicas and the generation', async ({ wire, namespace }) => {
    const path = statefulSets(await namespace());
    await wire.must(wire.create(path, statefulSet('a', { replicas: 1 })));
    const answer = await wire.patch('merge', `${path}/a/scale`, { spec: { replicas: 4 } });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ kind: 'Scale', spec: { replicas: 4 } });
    const { body } = await wire.get(`${path}/a`);
    expect(body.spec['replicas']).toBe(4);
    expect(body.metadata.generation).toBe(2);
  });

  promise('can be replaced, and refuses a stale version', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    await wire.must(wire.create(path, deployment('a')));
    const current = (await wire.get(`${path}/a/scale`)).body;
    const answer = await wire.replace(`${path}/a/scale`, { ...current, spec: { replicas: 2 } });
    expect(answer.status).toBe(200);
    const stale = await wire.replace(`${path}/a/scale`, { ...current, spec: { replicas: 3 } });
    expect(stale.status).toBe(409);
  });

  promise('refuses a negative number', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    await wire.must(wire.create(path, deployment('a')));
    const answer = await wire.patch('merge', `${path}/a/scale`, { spec: { replicas: -1 } });
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes[0]).toMatchObject({ field: 'spec.replicas', reason: 'FieldValueInvalid' });
  });

  promise('of a custom resource follows the paths of its definition', async ({ wire, namespace, customResource }) => {
    const custom = await customResource(SIZED);
    const path = custom.collection(await namespace());
    await wire.must(wire.create(path, custom.widget('a', { spec: { replicas: 2 } })));
    await wire.must(wire.patch('merge', `${path}/a/status`, { status: { replicas: 1, selector: 'app=a' } }));
    const { body } = await wire.get(`${path}/a/scale`);
    expect(body).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      spec: { replicas: 2 },
      status: { replicas: 1, selector: 'app=a' },
    });
    await wire.must(wire.patch('merge', `${path}/a/scale`, { spec: { replicas: 5 } }));
    expect((await wire.get(`${path}/a`)).body).toMatchObject({ spec: { replicas: 5 }, metadata: { generation: 2 } });
  });
});
