import { configMap, configMaps, deployment, deployments } from './objects.ts';
import { expect, topic } from './suite.ts';
import type { Body } from './wire.ts';

const managers = (body: Body) =>
  body.metadata.managedFields.map(({ manager, operation, subresource }) =>
    [manager, operation, subresource].filter((part) => part !== undefined).join(' '),
  );

export const apply = topic('server-side apply', (promise) => {
  promise('creates what is missing: 201, owned by the manager', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const answer = await wire.apply(`${path}/a`, configMap('a', { k: 'v' }), { manager: 'one' });
    expect(answer.status).toBe(201);
    expect(answer.body.metadata.managedFields).toEqual([
      {
        manager: 'one',
        operation: 'Apply',
        apiVersion: 'v1',
        time: expect.any(String),
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'f:k': {} } },
      },
    ]);
  });

  promise('of the same again: 200, and not a byte has changed', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const first = await wire.must(wire.apply(`${path}/a`, configMap('a', { k: 'v' })));
    const again = await wire.apply(`${path}/a`, configMap('a', { k: 'v' }));
    expect(again.status).toBe(200);
    expect(again.body).toEqual(first);
  });

  promise('removes what its sole owner leaves out', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.apply(`${path}/a`, configMap('a', { kept: '1', left: '2' })));
    const body = await wire.must(wire.apply(`${path}/a`, configMap('a', { kept: '1' })));
    expect(body.data).toEqual({ kept: '1' });
  });

  promise('keeps what a manager leaves out while another still owns it', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.apply(`${path}/a`, configMap('a', { shared: '1' }), { manager: 'one' }));
    await wire.must(wire.apply(`${path}/a`, configMap('a', { shared: '1', own: '2' }), { manager: 'two' }));
    const body = await wire.must(wire.apply(`${path}/a`, configMap('a', { own: '2' }), { manager: 'two' }));
    expect(body.data).toEqual({ shared: '1', own: '2' });
    const gone = await wire.must(wire.apply(`${path}/a`, { ...configMap('a'), data: {} }, { manager: 'one' }));
    expect(gone.data).toEqual({ own: '2' });
  });

  promise('of equal values shares ownership without a conflict', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.apply(`${path}/a`, configMap('a', { k: 'v' }), { manager: 'one' }));
    const body = await wire.must(wire.apply(`${path}/a`, configMap('a', { k: 'v' }), { manager: 'two' }));
    expect(managers(body).toSorted()).toEqual(['one Apply', 'two Apply']);
  });

  promise('of a value that another manager owns: 409 with the field and the manager', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.apply(`${path}/a`, configMap('a', { k: '1' }), { manager: 'one' }));
    const answer = await wire.apply(`${path}/a`, configMap('a', { k: '2' }), { manager: 'two' });
    expect(answer.status).toBe(409);
    expect(answer.body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Apply failed with 1 conflict: conflict with "one": .data.k',
      reason: 'Conflict',
      details: {
        causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.k' }],
      },
      code: 409,
    });
  });

  promise('lists every conflict, by manager', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.apply(`${path}/a`, configMap('a', { a: '1', b: '1' }), { manager: 'one' }));
    const answer = await wire.apply(`${path}/a`, configMap('a', { a: '2', b: '2' }), { manager: 'two' });
    expect(answer.body.message).toBe('Apply failed with 2 conflicts: conflicts with "one":\n- .data.a\n- .data.b');
    expect(answer.body.details.causes.map(({ field }) => field)).toEqual(['.data.a', '.data.b']);
  });

  promise('names the kind of write in a conflict with an updater', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(`${path}?fieldManager=editor`, configMap('a', { k: '1' })));
    const answer = await wire.apply(`${path}/a`, configMap('a', { k: '2' }));
    expect(answer.status).toBe(409);
    expect(answer.body.details.causes[0]?.message).toBe('conflict with "editor" using v1');
  });

  promise('with force takes the field over', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.apply(`${path}/a`, configMap('a', { k: '1', own: '1' }), { manager: 'one' }));
    const body = await wire.must(wire.apply(`${path}/a`, configMap('a', { k: '2' }), { manager: 'two', force: true }));
    expect(body.data).toEqual({ k: '2', own: '1' });
    const owned = body.metadata.managedFields.find(({ manager }) => manager === 'one');
    expect(owned?.fieldsV1).toEqual({ 'f:data': { 'f:own': {} } });
  });

  promise('drops a manager that owns nothing any more', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.apply(`${path}/a`, configMap('a', { k: '1' }), { manager: 'one' }));
    const body = await wire.must(wire.apply(`${path}/a`, configMap('a', { k: '2' }), { manager: 'two', force: true }));
    const one = body.metadata.managedFields.find(({ manager }) => manager === 'one');
    expect(one).toBeUndefined();
  });

  promise('an update of an applied field moves its ownership to the updater', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.apply(`${path}/a`, configMap('a', { k: '1', other: '1' }), { manager: 'one' }));
    const body = await wire.must(wire.patch('merge', `${path}/a?fieldManager=editor`, { data: { k: '2' } }));
    expect(managers(body)).toEqual(['one Apply', 'editor Update']);
    expect(body.metadata.managedFields.map(({ fieldsV1 }) => fieldsV1)).toEqual([
      { 'f:data': { 'f:other': {} } },
      { 'f:data': { 'f:k': {} } },
    ]);
  });

  promise('needs a field manager', async ({ wire, namespace }) => {
    const answer = await wire.request('PATCH', `${configMaps(await namespace())}/a`, {
      body: configMap('a'),
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes[0]).toEqual({
      reason: 'FieldValueRequired',
      message: 'Required value: is required for apply patch',
      field: 'fieldManager',
    });
  });

  promise('refuses force on any other patch', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a')));
    const answer = await wire.patch('merge', `${path}/a?force=true`, { data: { k: 'v' } });
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes[0]).toMatchObject({ field: 'force', reason: 'FieldValueForbidden' });
  });

  promise('needs apiVersion and kind in the body', async ({ wire, namespace }) => {
    const answer = await wire.apply(`${configMaps(await namespace())}/a`, { metadata: { name: 'a' } });
    expect(answer.status).toBe(400);
    expect(answer.body.reason).toBe('BadRequest');
  });

  promise('refuses a body with managedFields', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const made = await wire.must(wire.create(path, configMap('a', { k: 'v' })));
    const answer = await wire.apply(`${path}/a`, made);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toBe('metadata.managedFields must be nil');
  });

  promise('at a stale resourceVersion answers 409', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const made = await wire.must(wire.apply(`${path}/a`, configMap('a', { k: '1' })));
    await wire.must(wire.apply(`${path}/a`, configMap('a', { k: '2' })));
    const { resourceVersion } = made.metadata;
    const answer = await wire.apply(`${path}/a`, configMap('a', { k: '3' }, { resourceVersion }));
    expect(answer.status).toBe(409);
    expect(answer.body.reason).toBe('Conflict');
  });

  promise('with a uid never brings a deleted object back: 409', async ({ wire, namespace }) => {
    const uid = '00000000-0000-0000-0000-000000000000';
    const path = `${configMaps(await namespace())}/a`;
    const answer = await wire.apply(path, configMap('a', undefined, { uid }));
    expect(answer.status).toBe(409);
    expect(answer.body.reason).toBe('Conflict');
    expect((await wire.get(path)).status).toBe(404);
  });

  promise('takes YAML', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const answer = await wire.apply(
      `${path}/a`,
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: "1"\n',
    );
    expect(answer.status).toBe(201);
    expect(answer.body.data).toEqual({ k: '1' });
  });

  promise('with dryRun=All creates nothing', async ({ wire, namespace }) => {
    const path = `${configMaps(await namespace())}/a`;
    const answer = await wire.apply(path, configMap('a', { k: 'v' }), { query: '&dryRun=All' });
    expect(answer.status).toBe(201);
    expect((await wire.get(path)).status).toBe(404);
  });

  promise('on /status owns status fields under its own entry', async ({ wire, namespace }) => {
    const path = `${deployments(await namespace())}/a`;
    await wire.must(wire.apply(path, deployment('a'), { manager: 'one' }));
    const body = await wire.must(
      wire.apply(
        `${path}/status`,
        { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' }, status: { replicas: 2 } },
        { manager: 'one' },
      ),
    );
    expect(body.status).toEqual({ replicas: 2 });
    expect(managers(body)).toEqual(['one Apply', 'one Apply status']);
    expect(body.metadata.generation).toBe(1);
  });

  promise('defaults what it creates, and does not own the defaults', async ({ wire, namespace }) => {
    const path = `${deployments(await namespace())}/a`;
    const body = await wire.must(wire.apply(path, deployment('a')));
    expect(body.spec).toMatchObject({ replicas: 1, revisionHistoryLimit: 10 });
    expect(body.metadata.managedFields[0]?.fieldsV1).not.toHaveProperty(['f:spec', 'f:replicas']);
  });

  promise('gives a field back to its default when the owner leaves it out', async ({ wire, namespace }) => {
    const path = `${deployments(await namespace())}/a`;
    const made = deployment('a');
    await wire.must(wire.apply(path, { ...made, spec: { ...made.spec, replicas: 5 } }));
    const body = await wire.must(wire.apply(path, made));
    expect(body.spec['replicas']).toBe(1);
  });

  promise('refuses a field that the kind does not have', async ({ wire, namespace }) => {
    const path = `${deployments(await namespace())}/a`;
    const made = deployment('a', { bogus: true });
    const answer = await wire.apply(path, made);
    expect(answer.status).toBe(500);
    expect(answer.body.message).toContain('.spec.bogus: field not declared in schema');
  });
});
