import { configMap, configMaps } from './objects.ts';
import { expect, topic } from './suite.ts';
import { allow, patchOf, startWebhook, type Verdict } from './webhook.ts';

const deny = (message: string, code?: number): Verdict => ({
  allowed: false,
  status: { message, ...(code !== undefined && { code }) },
});

/** A rule for widgets in one version, beside the one that startWebhook probes. */
const widgetsIn = (group: string, version: string) => ({
  rules: [
    { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
    { operations: ['*'], apiGroups: [group], apiVersions: [version], resources: ['widgets'] },
  ],
});

export const admission = topic('admission webhooks', (promise) => {
  promise('are asked with the object, the user and the operation', async (world) => {
    await using hook = await startWebhook(world, { phase: 'Validating', judge: allow });
    const path = configMaps(hook.namespace);
    await world.wire.must(world.wire.create(path, configMap('a', { k: '1' })));
    expect(hook.reviews).toHaveLength(1);
    expect(hook.reviews[0]).toMatchObject({
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      name: 'a',
      namespace: hook.namespace,
      operation: 'CREATE',
      userInfo: { username: expect.any(String) },
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: '1' } },
      oldObject: null,
      dryRun: false,
    });
  });

  promise('see the old object on update and on delete', async (world) => {
    const { wire } = world;
    await using hook = await startWebhook(world, { phase: 'Validating', judge: allow });
    const path = configMaps(hook.namespace);
    await wire.must(wire.create(path, configMap('a', { k: '1' })));
    await wire.must(wire.patch('merge', `${path}/a`, { data: { k: '2' } }));
    await wire.must(wire.delete(`${path}/a`));
    expect(hook.reviews).toMatchObject([
      { operation: 'CREATE' },
      { operation: 'UPDATE', object: { data: { k: '2' } }, oldObject: { data: { k: '1' } } },
      { operation: 'DELETE', object: null, oldObject: { data: { k: '2' } } },
    ]);
  });

  promise('that deny give their name, their words and their code', async (world) => {
    await using hook = await startWebhook(world, { phase: 'Validating', judge: () => deny('not on a Sunday', 418) });
    const answer = await world.wire.create(configMaps(hook.namespace), configMap('a'));
    expect(answer.status).toBe(418);
    expect(answer.body).toMatchObject({
      status: 'Failure',
      message: `admission webhook "${hook.name}" denied the request: not on a Sunday`,
      code: 418,
    });
    expect((await world.wire.get(`${configMaps(hook.namespace)}/a`)).status).toBe(404);
  });

  promise('that deny without a code mean 400', async (world) => {
    await using hook = await startWebhook(world, { phase: 'Validating', judge: () => deny('no') });
    const answer = await world.wire.create(configMaps(hook.namespace), configMap('a'));
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ status: 'Failure', code: 400 });
  });

  promise('that deny without a word say so', async (world) => {
    await using hook = await startWebhook(world, { phase: 'Validating', judge: () => ({ allowed: false }) });
    const answer = await world.wire.create(configMaps(hook.namespace), configMap('a'));
    expect(answer.body.message).toBe(`admission webhook "${hook.name}" denied the request without explanation`);
  });

  promise('change the object before it is stored', async (world) => {
    await using hook = await startWebhook(world, {
      phase: 'Mutating',
      judge: () => patchOf({ op: 'add', path: '/data/added', value: 'yes' }),
    });
    const made = await world.wire.must(world.wire.create(configMaps(hook.namespace), configMap('a', { k: 'v' })));
    expect(made.data).toEqual({ k: 'v', added: 'yes' });
  });

  promise('that change an object on its way in own nothing, and nobody else owns it either', async (world) => {
    await using hook = await startWebhook(world, {
      phase: 'Mutating',
      judge: () => patchOf({ op: 'add', path: '/data/added', value: 'yes' }),
    });
    const path = `${configMaps(hook.namespace)}?fieldManager=maker`;
    const made = await world.wire.must(world.wire.create(path, configMap('a', { k: 'v' })));
    expect(made.metadata.managedFields).toMatchObject([{ manager: 'maker' }]);
    expect(made.metadata.managedFields[0]?.fieldsV1).toEqual({ 'f:data': { '.': {}, 'f:k': {} } });
  });

  promise('with warnings pass them on', async (world) => {
    await using hook = await startWebhook(world, {
      phase: 'Validating',
      judge: () => ({ allowed: true, warnings: ['mind the gap'] }),
    });
    const answer = await world.wire.create(configMaps(hook.namespace), configMap('a'));
    expect(answer.status).toBe(201);
    expect(answer.headers['warning']).toBe('299 - "mind the gap"');
  });

  promise('are told of a dry run', async (world) => {
    await using hook = await startWebhook(world, { phase: 'Validating', judge: allow });
    await world.wire.must(world.wire.create(`${configMaps(hook.namespace)}?dryRun=All`, configMap('a')));
    expect(hook.reviews).toMatchObject([{ dryRun: true }]);
  });

  promise('are asked only about what their rules name', async (world) => {
    const { wire } = world;
    await using hook = await startWebhook(world, {
      phase: 'Validating',
      judge: () => deny('never'),
      webhook: {
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
        objectSelector: { matchExpressions: [{ key: 'exempt', operator: 'DoesNotExist' }] },
      },
    });
    const path = configMaps(hook.namespace);
    const exempt = configMap('a', { k: '1' }, { labels: { exempt: 'yes' } });
    expect((await wire.create(path, exempt)).status).toBe(201);
    expect((await wire.patch('merge', `${path}/a`, { metadata: { labels: { exempt: null } } })).status).toBe(200);
    expect((await wire.create(path, configMap('b'))).status).toBe(400);
    const secret = await wire.create(`/api/v1/namespaces/${hook.namespace}/secrets`, { metadata: { name: 'a' } });
    expect(secret.status).toBe(201);
  });

  promise('are asked about every version of what their rules name, in theirs', async (world) => {
    const custom = await world.customResource({ versions: [{ name: 'v1' }, { name: 'v2' }] });
    const { group } = custom;
    await using hook = await startWebhook(world, {
      phase: 'Validating',
      judge: allow,
      webhook: widgetsIn(group, 'v1'),
    });
    const path = custom.collection(hook.namespace, 'v2');
    const widget = custom.widget('a', { apiVersion: `${group}/v2`, spec: { size: 1 } });
    await world.wire.must(world.wire.create(path, widget));
    await world.wire.must(world.wire.patch('merge', `${path}/a`, { spec: { size: 2 } }));
    expect(hook.reviews).toMatchObject([
      {
        kind: { group, version: 'v1', kind: 'Widget' },
        resource: { group, version: 'v1', resource: 'widgets' },
        requestKind: { group, version: 'v2', kind: 'Widget' },
        requestResource: { group, version: 'v2', resource: 'widgets' },
        object: { apiVersion: `${group}/v1`, spec: { size: 1 } },
      },
      {
        operation: 'UPDATE',
        object: { apiVersion: `${group}/v1`, spec: { size: 2 } },
        oldObject: { apiVersion: `${group}/v1`, spec: { size: 1 } },
      },
    ]);
  });

  promise('are not asked about another version when their policy is Exact', async (world) => {
    const custom = await world.customResource({ versions: [{ name: 'v1' }, { name: 'v2' }] });
    await using hook = await startWebhook(world, {
      phase: 'Validating',
      judge: () => deny('never'),
      webhook: { ...widgetsIn(custom.group, 'v1'), matchPolicy: 'Exact' },
    });
    const widget = custom.widget('a', { apiVersion: `${custom.group}/v2` });
    expect((await world.wire.create(custom.collection(hook.namespace, 'v2'), widget)).status).toBe(201);
    expect((await world.wire.create(custom.collection(hook.namespace), custom.widget('b'))).status).toBe(400);
  });

  promise('change an object in their version, and it is stored in its own', async (world) => {
    const custom = await world.customResource({ versions: [{ name: 'v1' }, { name: 'v2' }] });
    await using hook = await startWebhook(world, {
      phase: 'Mutating',
      judge: () => patchOf({ op: 'add', path: '/spec/added', value: 'yes' }),
      webhook: widgetsIn(custom.group, 'v1'),
    });
    const widget = custom.widget('a', { apiVersion: `${custom.group}/v2`, spec: { size: 1 } });
    const made = await world.wire.must(world.wire.create(custom.collection(hook.namespace, 'v2'), widget));
    expect(made).toMatchObject({ apiVersion: `${custom.group}/v2`, spec: { size: 1, added: 'yes' } });
  });

  promise('are asked only where their conditions hold', async (world) => {
    await using hook = await startWebhook(world, {
      phase: 'Validating',
      judge: () => deny('never'),
      webhook: { matchConditions: [{ name: 'names', expression: "object.metadata.name in ['probe', 'bad']" }] },
    });
    expect((await world.wire.create(configMaps(hook.namespace), configMap('good'))).status).toBe(201);
    expect((await world.wire.create(configMaps(hook.namespace), configMap('bad'))).status).toBe(400);
  });

  promise('that cannot be reached refuse with 500 when their policy is Fail', async (world) => {
    await using hook = await startWebhook(world, {
      phase: 'Validating',
      judge: allow,
      url: 'https://127.0.0.1:1/review',
    });
    const answer = await world.wire.create(configMaps(hook.namespace), configMap('a'));
    expect(answer.status).toBe(500);
    expect(answer.body).toMatchObject({ reason: 'InternalError' });
    expect(answer.body.message).toMatch(
      new RegExp(`^Internal error occurred: failed calling webhook "${hook.name}": failed to call webhook: Post `),
    );
  });

  promise('that answer nonsense refuse when their policy is Fail, and pass when it is Ignore', async (world) => {
    const { wire } = world;
    for (const [failurePolicy, status] of [
      ['Fail', 500],
      ['Ignore', 201],
    ] as const) {
      await using hook = await startWebhook(world, {
        phase: 'Validating',
        judge: () => ({ uid: 'another', allowed: true }),
        webhook: { failurePolicy },
      });
      expect((await wire.create(configMaps(hook.namespace), configMap('a'))).status).toBe(status);
    }
  });

  promise('with side effects that nobody declared are refused', async ({ wire, fresh }) => {
    const name = `${fresh('hook')}.example.com`;
    const answer = await wire.create('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
      metadata: { name },
      webhooks: [
        { name, clientConfig: { url: 'https://127.0.0.1:1/' }, sideEffects: 'Some', admissionReviewVersions: ['v1'] },
      ],
    });
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes[0]).toMatchObject({
      field: 'webhooks[0].sideEffects',
      reason: 'FieldValueNotSupported',
    });
  });

  promise('have defaults: Fail, ten seconds, every namespace and object', async ({ wire, fresh }) => {
    const name = `${fresh('hook')}.example.com`;
    const made = await wire.must(
      wire.create('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations?dryRun=All', {
        metadata: { name },
        webhooks: [
          { name, clientConfig: { url: 'https://127.0.0.1:1/' }, sideEffects: 'None', admissionReviewVersions: ['v1'] },
        ],
      }),
    );
    expect(made).toMatchObject({
      webhooks: [
        {
          failurePolicy: 'Fail',
          matchPolicy: 'Equivalent',
          namespaceSelector: {},
          objectSelector: {},
          reinvocationPolicy: 'Never',
          timeoutSeconds: 10,
        },
      ],
    });
  });
});
