import { deployment, deployments, pod, pods } from './objects.ts';
import { expect, topic } from './suite.ts';

export const status = topic('status', (promise) => {
  promise('is written on its own path, which leaves the spec and the generation alone', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    const made = await wire.must(wire.create(path, deployment('a', { replicas: 1 })));
    const body = await wire.must(
      wire.replace(`${path}/a/status`, { ...made, spec: { ...made.spec, replicas: 9 }, status: { replicas: 4 } }),
    );
    expect(body.status).toEqual({ replicas: 4 });
    expect(body.spec['replicas']).toBe(1);
    expect(body.metadata.generation).toBe(1);
  });

  promise('is not changed by writes to the main path', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    await wire.must(wire.create(path, deployment('a')));
    await wire.must(wire.patch('merge', `${path}/a/status`, { status: { replicas: 4 } }));
    const body = await wire.must(
      wire.replace(`${path}/a`, { ...deployment('a', { replicas: 2 }), status: { replicas: 7 } }),
    );
    expect(body.status).toEqual({ replicas: 4 });
    expect(body.spec['replicas']).toBe(2);
  });

  promise('takes merge patches and JSON patches', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    await wire.must(wire.create(path, pod('a')));
    const merged = await wire.must(
      wire.patch('merge', `${path}/a/status`, { status: { phase: 'Running', podIP: '10.0.0.1' } }),
    );
    expect(merged.status).toMatchObject({ phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] });
    const patched = await wire.must(
      wire.patch('json', `${path}/a/status`, [{ op: 'replace', path: '/status/phase', value: 'Failed' }]),
    );
    expect(patched.status).toMatchObject({ phase: 'Failed' });
  });

  promise('takes strategic patches that merge conditions by type', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    await wire.must(wire.create(path, pod('a')));
    for (const type of ['Ready', 'example.com/ready']) {
      await wire.must(
        wire.patch('strategic', `${path}/a/status`, { status: { conditions: [{ type, status: 'True' }] } }),
      );
    }
    const body = await wire.must(
      wire.patch('strategic', `${path}/a/status`, { status: { conditions: [{ type: 'Ready', status: 'False' }] } }),
    );
    expect(body.status).toMatchObject({ conditions: expect.any(Array) });
    const { conditions }: { conditions: { type: string; status: string }[] } = JSON.parse(JSON.stringify(body.status));
    expect(Object.fromEntries(conditions.map(({ type, status }) => [type, status]))).toEqual({
      Ready: 'False',
      'example.com/ready': 'True',
    });
  });

  promise('can be read on its own path', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    await wire.must(wire.create(path, deployment('a')));
    const answer = await wire.get(`${path}/a/status`);
    expect(answer.status).toBe(200);
    expect(answer.body.kind).toBe('Deployment');
  });

  promise('at a stale version answers 409', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    const made = await wire.must(wire.create(path, deployment('a')));
    await wire.must(wire.patch('merge', `${path}/a/status`, { status: { replicas: 1 } }));
    const answer = await wire.replace(`${path}/a/status`, { ...made, status: { replicas: 2 } });
    expect(answer.status).toBe(409);
  });

  promise(
    'of a custom resource works the same once its definition asks for it',
    async ({ wire, namespace, customResource }) => {
      const custom = await customResource({ subresources: { status: {} } });
      const path = custom.collection(await namespace());
      const made = await wire.must(
        wire.create(path, custom.widget('a', { spec: { size: 1 }, status: { ready: true } })),
      );
      expect(made).not.toHaveProperty('status');
      const body = await wire.must(
        wire.patch('merge', `${path}/a/status`, { spec: { size: 9 }, status: { ready: true } }),
      );
      expect(body).toMatchObject({ spec: { size: 1 }, status: { ready: true }, metadata: { generation: 1 } });
      const main = await wire.must(wire.patch('merge', `${path}/a`, { spec: { size: 2 }, status: { ready: false } }));
      expect(main).toMatchObject({ spec: { size: 2 }, status: { ready: true }, metadata: { generation: 2 } });
    },
  );

  promise(
    'of a custom resource without the subresource is part of the object and 404 by itself',
    async ({ wire, namespace, customResource }) => {
      const custom = await customResource();
      const path = custom.collection(await namespace());
      const made = await wire.must(wire.create(path, custom.widget('a', { status: { ready: true } })));
      expect(made.status).toEqual({ ready: true });
      expect((await wire.get(`${path}/a/status`)).status).toBe(404);
    },
  );
});
