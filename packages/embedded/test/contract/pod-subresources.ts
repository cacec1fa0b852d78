import { pod, pods } from './objects.ts';
import { expect, topic } from './suite.ts';

const budgets = (namespace: string) => `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
const eviction = (name: string, more: Readonly<Record<string, unknown>> = {}) => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { name },
  ...more,
});

export const podSubresources = topic('pods', (promise) => {
  promise('are bound to a node once', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    await wire.must(wire.create(path, pod('a')));
    const binding = { metadata: { name: 'a' }, target: { kind: 'Node', name: 'n1' } };
    const answer = await wire.create(`${path}/a/binding`, binding);
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ kind: 'Status', status: 'Success' });
    const { body } = await wire.get(`${path}/a`);
    expect(body.spec['nodeName']).toBe('n1');
    expect(body.status).toMatchObject({
      conditions: expect.arrayContaining([expect.objectContaining({ type: 'PodScheduled', status: 'True' })]),
    });
    const again = await wire.create(`${path}/a/binding`, binding);
    expect(again.status).toBe(409);
  });

  promise('are evicted when no budget forbids it', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    await wire.must(wire.create(path, pod('a')));
    const answer = await wire.create(`${path}/a/eviction`, eviction('a'));
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ kind: 'Status', status: 'Success' });
    expect((await wire.get(`${path}/a`)).status).toBe(404);
  });

  promise('are not evicted while a budget has nothing to give: 429', async ({ wire, namespace }) => {
    const ns = await namespace();
    await wire.must(wire.create(pods(ns), pod('a', { nodeName: 'n1' }, { labels: { app: 'a' } })));
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await wire.must(wire.patch('merge', `${pods(ns)}/a/status`, { status }));
    await wire.must(
      wire.create(budgets(ns), {
        metadata: { name: 'b' },
        spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
      }),
    );
    await wire.must(
      wire.patch('merge', `${budgets(ns)}/b/status`, {
        status: { observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
      }),
    );
    const answer = await wire.create(`${pods(ns)}/a/eviction`, eviction('a'));
    expect(answer.status).toBe(429);
    expect(answer.body).toMatchObject({
      reason: 'TooManyRequests',
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: { causes: [{ reason: 'DisruptionBudget' }] },
    });
    expect((await wire.get(`${pods(ns)}/a`)).status).toBe(200);
  });

  promise('use up a budget when they are evicted', async ({ wire, namespace }) => {
    const ns = await namespace();
    await wire.must(wire.create(pods(ns), pod('a', { nodeName: 'n1' }, { labels: { app: 'a' } })));
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await wire.must(wire.patch('merge', `${pods(ns)}/a/status`, { status }));
    await wire.must(
      wire.create(budgets(ns), {
        metadata: { name: 'b' },
        spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'a' } } },
      }),
    );
    await wire.must(
      wire.patch('merge', `${budgets(ns)}/b/status`, {
        status: { observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 1, desiredHealthy: 0, expectedPods: 1 },
      }),
    );
    expect((await wire.create(`${pods(ns)}/a/eviction`, eviction('a'))).status).toBe(201);
    expect((await wire.get(`${budgets(ns)}/b`)).body.status).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { a: expect.any(String) },
    });
  });

  promise('with dryRun in the eviction stay', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    await wire.must(wire.create(path, pod('a')));
    const answer = await wire.create(`${path}/a/eviction`, eviction('a', { deleteOptions: { dryRun: ['All'] } }));
    expect(answer.status).toBe(201);
    expect((await wire.get(`${path}/a`)).status).toBe(200);
  });

  promise('that are missing have no logs: 404', async ({ wire, namespace }) => {
    const answer = await wire.get(`${pods(await namespace())}/a/log`);
    expect(answer.status).toBe(404);
    expect(answer.body.details).toMatchObject({ name: 'a', kind: 'pods' });
  });

  promise('without a node have no logs yet', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    await wire.must(wire.create(path, pod('a')));
    const answer = await wire.get(`${path}/a/log`);
    expect(answer.status).toBe(204);
    expect(answer.text).toBe('');
  });

  promise('with several containers want one named for logs', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    const containers = ['one', 'two'].map((name) => ({ name, image: 'a:1' }));
    await wire.must(wire.create(path, pod('a', { containers })));
    const answer = await wire.get(`${path}/a/log`);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toBe('a container name must be specified for pod a, choose one of: [one two]');
    const wrong = await wire.get(`${path}/a/log?container=three`);
    expect(wrong.status).toBe(400);
    expect(wrong.body.message).toBe('container three is not valid for pod a');
  });

  promise('take another container for debugging only through /ephemeralcontainers', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    await wire.must(wire.create(path, pod('a')));
    const ephemeralContainers = [{ name: 'debug', image: 'a:1' }];
    const main = await wire.patch('strategic', `${path}/a`, { spec: { ephemeralContainers } });
    expect(main.status).toBe(422);
    const body = await wire.must(
      wire.patch('strategic', `${path}/a/ephemeralcontainers`, { spec: { ephemeralContainers } }),
    );
    expect(body.spec['ephemeralContainers']).toMatchObject([{ name: 'debug' }]);
  });

  promise('keep the containers for debugging that they have', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    await wire.must(wire.create(path, pod('a')));
    const debugging = (...ephemeralContainers: readonly object[]) =>
      wire.patch('merge', `${path}/a/ephemeralcontainers`, { spec: { ephemeralContainers } });
    await wire.must(debugging({ name: 'debug', image: 'a:1' }));
    const changed = await debugging({ name: 'debug', image: 'a:2' });
    expect(changed.status).toBe(422);
    expect(changed.body.message).toContain('existing ephemeral containers "debug" may not be changed');
    const removed = await debugging({ name: 'other', image: 'a:1' });
    expect(removed.body.message).toContain('existing ephemeral containers "debug" may not be removed');
  });

  promise('refuse a container for debugging that is more than that', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    await wire.must(wire.create(path, pod('a')));
    const ephemeralContainers = [
      { name: 'main', image: 'a:1' },
      { name: 'debug', targetContainerName: 'nobody', ports: [{ containerPort: 80 }], image: 'a:1' },
    ];
    const answer = await wire.patch('merge', `${path}/a/ephemeralcontainers`, { spec: { ephemeralContainers } });
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes.map(({ field, reason }) => `${field} ${reason}`)).toEqual([
      'spec.ephemeralContainers[0].name FieldValueDuplicate',
      'spec.ephemeralContainers[1].targetContainerName FieldValueNotFound',
      'spec.ephemeralContainers[1].ports FieldValueForbidden',
    ]);
  });

  promise('do not start with a container for debugging', async ({ wire, namespace }) => {
    const answer = await wire.create(
      pods(await namespace()),
      pod('a', { ephemeralContainers: [{ name: 'debug', image: 'a:1' }] }),
    );
    expect(answer.status).toBe(422);
    expect(answer.body.message).toContain('spec.ephemeralContainers: Forbidden: cannot be set on create');
  });
});
