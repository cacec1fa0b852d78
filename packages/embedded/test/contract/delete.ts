import { configMap, configMaps, deployment, deployments, pod, pods } from './objects.ts';
import { expect, topic } from './suite.ts';
import { eventually } from './world.ts';

export const remove = topic('delete', (promise) => {
  promise('answers 200 with a Status that names the uid, and the object is gone', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const made = await wire.must(wire.create(path, configMap('a')));
    const answer = await wire.delete(`${path}/a`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'a', kind: 'configmaps', uid: made.metadata.uid },
    });
    expect((await wire.get(`${path}/a`)).status).toBe(404);
  });

  promise('of a missing object answers 404', async ({ wire, namespace }) => {
    const answer = await wire.delete(`${configMaps(await namespace())}/a`);
    expect(answer.status).toBe(404);
    expect(answer.body.reason).toBe('NotFound');
  });

  promise('with a finalizer only marks: 200 and the object with deletionTimestamp', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a', undefined, { finalizers: ['example.com/hold'] })));
    const answer = await wire.delete(`${path}/a`);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      kind: 'ConfigMap',
      metadata: {
        name: 'a',
        deletionTimestamp: expect.stringMatching(/^\d{4}-.*Z$/),
        deletionGracePeriodSeconds: 0,
        finalizers: ['example.com/hold'],
      },
    });
    expect((await wire.get(`${path}/a`)).status).toBe(200);
  });

  promise('a second time changes nothing more', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a', undefined, { finalizers: ['example.com/hold'] })));
    const first = await wire.must(wire.delete(`${path}/a`));
    const second = await wire.must(wire.delete(`${path}/a`));
    expect(second.metadata).toEqual(first.metadata);
  });

  promise(
    'happens when the last finalizer is removed; that write still answers with the object',
    async ({ wire, namespace }) => {
      const path = configMaps(await namespace());
      await wire.must(wire.create(path, configMap('a', undefined, { finalizers: ['example.com/hold'] })));
      await wire.must(wire.delete(`${path}/a`));
      const answer = await wire.patch('json', `${path}/a`, [
        { op: 'test', path: '/metadata/finalizers/0', value: 'example.com/hold' },
        { op: 'remove', path: '/metadata/finalizers/0' },
      ]);
      expect(answer.status).toBe(200);
      expect(answer.body.kind).toBe('ConfigMap');
      expect((await wire.get(`${path}/a`)).status).toBe(404);
    },
  );

  promise('once begun, refuses new finalizers', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a', undefined, { finalizers: ['example.com/hold'] })));
    await wire.must(wire.delete(`${path}/a`));
    const answer = await wire.patch('merge', `${path}/a`, {
      metadata: { finalizers: ['example.com/hold', 'example.com/late'] },
    });
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes[0]).toMatchObject({
      reason: 'FieldValueForbidden',
      field: 'metadata.finalizers',
      message: expect.stringMatching(
        /^Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers /,
      ),
    });
  });

  promise('marks raise the generation of what has one', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    await wire.must(wire.create(path, deployment('a', {}, { finalizers: ['example.com/hold'] })));
    const marked = await wire.must(wire.delete(`${path}/a`));
    expect(marked.metadata.generation).toBe(2);
  });

  promise('with the uid of another object as precondition: 409 Conflict', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a')));
    const answer = await wire.delete(`${path}/a`, { preconditions: { uid: 'other' } });
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({ reason: 'Conflict' });
    expect(answer.body.message).toMatch(/the UID in the precondition \(other\) does not match the UID in record/);
    expect((await wire.get(`${path}/a`)).status).toBe(200);
  });

  promise('with a stale version as precondition: 409 Conflict', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const made = await wire.must(wire.create(path, configMap('a')));
    await wire.must(wire.patch('merge', `${path}/a`, { data: { k: 'v' } }));
    const answer = await wire.delete(`${path}/a`, {
      preconditions: { resourceVersion: made.metadata.resourceVersion },
    });
    expect(answer.status).toBe(409);
  });

  promise('with the right preconditions works', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const { metadata } = await wire.must(wire.create(path, configMap('a')));
    const { uid, resourceVersion } = metadata;
    const answer = await wire.delete(`${path}/a`, { preconditions: { uid, resourceVersion } });
    expect(answer.status).toBe(200);
  });

  promise('with dryRun=All leaves the object', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a')));
    expect((await wire.delete(`${path}/a?dryRun=All`)).status).toBe(200);
    expect((await wire.get(`${path}/a`)).status).toBe(200);
    expect((await wire.delete(`${path}/a`, { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] })).status).toBe(
      200,
    );
    expect((await wire.get(`${path}/a`)).status).toBe(200);
  });

  promise('in the foreground marks, and waits for dependents by a finalizer', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a')));
    const answer = await wire.delete(`${path}/a`, { propagationPolicy: 'Foreground' });
    expect(answer.status).toBe(200);
    expect(answer.body.metadata.finalizers).toEqual(['foregroundDeletion']);
    expect(answer.body.metadata.deletionTimestamp).toEqual(expect.any(String));
  });

  promise('that orphans marks with the finalizer orphan', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a')));
    const answer = await wire.delete(`${path}/a?propagationPolicy=Orphan`);
    expect(answer.body.metadata.finalizers).toEqual(['orphan']);
  });

  promise('refuses a propagation policy that does not exist', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a')));
    const answer = await wire.delete(`${path}/a`, { propagationPolicy: 'Sideways' });
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes[0]).toMatchObject({
      field: 'propagationPolicy',
      reason: 'FieldValueNotSupported',
    });
  });

  promise('of a pod that no node has yet is immediate', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    await wire.must(wire.create(path, pod('a')));
    const answer = await wire.delete(`${path}/a`);
    expect(answer.status).toBe(200);
    expect(answer.body.kind).toBe('Pod');
    expect((await wire.get(`${path}/a`)).status).toBe(404);
  });

  promise('of a pod on a node waits for its grace period', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    await wire.must(wire.create(path, pod('a', { nodeName: 'n1' })));
    const marked = await wire.must(wire.delete(`${path}/a`));
    expect(marked.metadata).toMatchObject({
      deletionTimestamp: expect.any(String),
      deletionGracePeriodSeconds: 30,
    });
    const shorter = await wire.must(wire.delete(`${path}/a`, { gracePeriodSeconds: 5 }));
    expect(shorter.metadata).toMatchObject({ deletionGracePeriodSeconds: 5 });
  });

  promise('of a pod with a grace period of zero is immediate', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    await wire.must(wire.create(path, pod('a', { nodeName: 'n1' })));
    await wire.must(wire.delete(`${path}/a?gracePeriodSeconds=0`));
    expect((await wire.get(`${path}/a`)).status).toBe(404);
  });

  promise('of a collection takes all that match and answers with what it took', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    for (const [name, tier] of [
      ['a', 'x'],
      ['b', 'x'],
      ['c', 'y'],
    ] as const) {
      await wire.must(wire.create(path, configMap(name, undefined, { labels: { tier } })));
    }
    const answer = await wire.delete(`${path}?labelSelector=tier%3Dx`);
    expect(answer.status).toBe(200);
    expect(answer.body.kind).toBe('ConfigMapList');
    expect(answer.body.items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
    expect((await wire.get(path)).body.items.map(({ metadata }) => metadata.name)).toEqual(['c']);
  });

  promise('of a collection marks what has finalizers', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a', undefined, { finalizers: ['example.com/hold'] })));
    await wire.must(wire.create(path, configMap('b')));
    await wire.must(wire.delete(path));
    await eventually('only the held one is left', async () => (await wire.get(path)).body.items.length === 1);
    expect((await wire.get(`${path}/a`)).body.metadata.deletionTimestamp).toEqual(expect.any(String));
  });
});
