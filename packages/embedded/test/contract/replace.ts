import { configMap, configMaps, deployment, deployments } from './objects.ts';
import { expect, topic } from './suite.ts';

export const replace = topic('replace', (promise) => {
  promise('puts the new object in place of the old and raises the version', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const made = await wire.must(wire.create(path, configMap('a', { old: '1', kept: '2' })));
    const answer = await wire.replace(`${path}/a`, configMap('a', { kept: '2', new: '3' }));
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({ kept: '2', new: '3' });
    expect(answer.body.metadata.uid).toBe(made.metadata.uid);
    expect(answer.body.metadata.creationTimestamp).toBe(made.metadata.creationTimestamp);
    expect(BigInt(answer.body.metadata.resourceVersion)).toBeGreaterThan(BigInt(made.metadata.resourceVersion));
  });

  promise('at a stale version answers 409 Conflict', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const made = await wire.must(wire.create(path, configMap('a')));
    await wire.must(wire.replace(`${path}/a`, configMap('a', { k: '1' })));
    const answer = await wire.replace(`${path}/a`, { ...made, data: { k: '2' } });
    expect(answer.status).toBe(409);
    expect(answer.body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message:
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
      reason: 'Conflict',
      details: { name: 'a', kind: 'configmaps' },
      code: 409,
    });
  });

  promise('with the same content keeps the version', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const made = await wire.must(wire.create(path, configMap('a', { k: 'v' })));
    const again = await wire.must(wire.replace(`${path}/a`, made));
    expect(again.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  promise('of a missing object answers 404', async ({ wire, namespace }) => {
    const answer = await wire.replace(`${configMaps(await namespace())}/a`, configMap('a'));
    expect(answer.status).toBe(404);
  });

  promise('with the uid of another object answers 409', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a')));
    const uid = '00000000-0000-0000-0000-000000000000';
    const answer = await wire.replace(`${path}/a`, configMap('a', undefined, { uid }));
    expect(answer.status).toBe(409);
    expect(answer.body.message).toMatch(
      /Precondition failed: UID in precondition: 00000000-0000-0000-0000-000000000000, UID in object meta: /,
    );
  });

  promise('refuses a name that is not the one of the path', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a')));
    const answer = await wire.replace(`${path}/a`, configMap('b'));
    expect(answer.status).toBe(400);
    expect(answer.body.message).toBe('the name of the object (b) does not match the name on the URL (a)');
  });

  promise('raises the generation with the spec, not with labels', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    const made = await wire.must(wire.create(path, deployment('a', { replicas: 1 })));
    expect(made.metadata.generation).toBe(1);
    const labelled = await wire.must(
      wire.replace(`${path}/a`, deployment('a', { replicas: 1 }, { labels: { a: 'b' } })),
    );
    expect(labelled.metadata.generation).toBe(1);
    const scaled = await wire.must(wire.replace(`${path}/a`, deployment('a', { replicas: 2 })));
    expect(scaled.metadata.generation).toBe(2);
  });

  promise('with dryRun=All shows the outcome and stores nothing', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const made = await wire.must(wire.create(path, configMap('a', { k: '1' })));
    const dry = await wire.must(wire.replace(`${path}/a?dryRun=All`, configMap('a', { k: '2' })));
    expect(dry.data).toEqual({ k: '2' });
    const now = (await wire.get(`${path}/a`)).body;
    expect(now.data).toEqual({ k: '1' });
    expect(now.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  promise('refuses to change the data of an immutable ConfigMap', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, { ...configMap('a', { k: '1' }), immutable: true }));
    const answer = await wire.replace(`${path}/a`, { ...configMap('a', { k: '2' }), immutable: true });
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes).toEqual([
      {
        reason: 'FieldValueForbidden',
        message: 'Forbidden: field is immutable when `immutable` is set',
        field: 'data',
      },
    ]);
  });
});
