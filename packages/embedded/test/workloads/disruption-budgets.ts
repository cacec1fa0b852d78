import { deployment, deployments, pod, pods } from '../contract/objects.ts';
import { onDrivenNode, type Pod } from './pods.ts';
import { expect, topic } from './suite.ts';
import type { Workloads } from './workloads.ts';

const budgets = (namespace: string) => `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;

type Fields = Readonly<Record<string, unknown>>;

const budget = (spec: Fields) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'web' },
  spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
});

const evict = ({ wire }: Workloads, { metadata: { namespace, name } }: Pod) =>
  wire.create(`${pods(namespace)}/${name}/eviction`, {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name },
  });

/** A Deployment of so many pods, all placed, none of them started. */
async function placedDeployment(world: Workloads, namespace: string, replicas: number): Promise<readonly Pod[]> {
  const template = { metadata: { labels: { app: 'web' } }, spec: { ...pod('').spec, ...onDrivenNode } };
  await world.wire.must(world.wire.create(deployments(namespace), deployment('web', { replicas, template })));
  const created = await world.podsBecome(namespace, 'app=web', replicas);
  return Promise.all(created.map(({ metadata }) => world.scheduled(namespace, metadata.name)));
}

/** The same with all of them ready. */
async function readyDeployment(world: Workloads, namespace: string, replicas: number): Promise<readonly Pod[]> {
  return Promise.all((await placedDeployment(world, namespace, replicas)).map(world.becomeReady));
}

export const disruptionBudgets = topic('disruption budgets', (promise) => {
  const rules: readonly [string, Fields, { desiredHealthy: number; disruptionsAllowed: number }][] = [
    ['so many available', { minAvailable: 3 }, { desiredHealthy: 3, disruptionsAllowed: 1 }],
    ['a part available, rounded up', { minAvailable: '30%' }, { desiredHealthy: 2, disruptionsAllowed: 2 }],
    ['so many unavailable', { maxUnavailable: 1 }, { desiredHealthy: 3, disruptionsAllowed: 1 }],
    ['a part unavailable, rounded up', { maxUnavailable: '30%' }, { desiredHealthy: 2, disruptionsAllowed: 2 }],
    ['more unavailable than there are', { maxUnavailable: 9 }, { desiredHealthy: 0, disruptionsAllowed: 4 }],
    ['all available', { minAvailable: '100%' }, { desiredHealthy: 4, disruptionsAllowed: 0 }],
  ];
  for (const [words, spec, numbers] of rules) {
    promise(`can ask for ${words}`, async ({ wire, namespace, becomes }) => {
      const ns = await namespace();
      await wire.must(wire.create(deployments(ns), deployment('web', { replicas: 4 })));
      await wire.must(wire.create(budgets(ns), budget(spec)));
      const sufficient = numbers.disruptionsAllowed > 0;
      const { status } = await becomes(`${budgets(ns)}/web`, { status: { currentHealthy: 4, ...numbers } });
      expect(status).toEqual({
        currentHealthy: 4,
        expectedPods: 4,
        observedGeneration: 1,
        ...numbers,
        conditions: [
          {
            type: 'DisruptionAllowed',
            status: sufficient ? 'True' : 'False',
            reason: sufficient ? 'SufficientPods' : 'InsufficientPods',
            message: '',
            observedGeneration: 1,
            lastTransitionTime: expect.any(String),
          },
        ],
      });
    });
  }

  promise('count only pods that are ready', async (world) => {
    const { wire, namespace, becomes } = world;
    const ns = await namespace();
    await wire.must(wire.create(budgets(ns), budget({ minAvailable: 1 })));
    await becomes(`${budgets(ns)}/web`, { status: { expectedPods: 0, currentHealthy: 0, disruptionsAllowed: 0 } });

    const [first, second] = await placedDeployment(world, ns, 2);
    if (first === undefined || second === undefined) throw new Error('two pods were placed');
    await becomes(`${budgets(ns)}/web`, { status: { expectedPods: 2, currentHealthy: 0, disruptionsAllowed: 0 } });
    await world.becomeReady(first);
    await becomes(`${budgets(ns)}/web`, { status: { expectedPods: 2, currentHealthy: 1, disruptionsAllowed: 0 } });
    await world.becomeReady(second);
    await becomes(`${budgets(ns)}/web`, { status: { expectedPods: 2, currentHealthy: 2, disruptionsAllowed: 1 } });
    await world.becomeUnready(first);
    await becomes(`${budgets(ns)}/web`, { status: { expectedPods: 2, currentHealthy: 1, disruptionsAllowed: 0 } });
  });

  promise('follow their own changes and the scale of what they guard', async (world) => {
    const { wire, namespace, becomes } = world;
    const ns = await namespace();
    await readyDeployment(world, ns, 2);
    await wire.must(wire.create(budgets(ns), budget({ maxUnavailable: 0 })));
    await becomes(`${budgets(ns)}/web`, { status: { desiredHealthy: 2, disruptionsAllowed: 0 } });

    await wire.must(wire.patch('merge', `${budgets(ns)}/web`, { spec: { maxUnavailable: 1 } }));
    await becomes(`${budgets(ns)}/web`, {
      status: { observedGeneration: 2, desiredHealthy: 1, disruptionsAllowed: 1 },
    });

    // What is wanted counts, not what is there yet.
    await wire.must(wire.patch('merge', `${deployments(ns)}/web/scale`, { spec: { replicas: 4 } }));
    await becomes(`${budgets(ns)}/web`, {
      status: { expectedPods: 4, desiredHealthy: 3, currentHealthy: 2, disruptionsAllowed: 0 },
    });
  });

  promise('guard the pods of a custom resource by its scale', async (world) => {
    const { wire, namespace, place, knownCustomResource, becomes } = world;
    const ns = await namespace();
    const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
    const widgets = await knownCustomResource(ns, { subresources: { status: {}, scale } });
    const owner = await wire.must(
      wire.create(widgets.collection(ns), widgets.widget('web', { spec: { replicas: 5 } })),
    );
    const { apiVersion, kind, metadata } = owner;
    const running = await world.becomeReady(await place(ns, 'a', { labels: { app: 'web' } }));
    const ownerReferences = [{ apiVersion, kind, name: 'web', uid: metadata.uid, controller: true }];
    await wire.must(wire.patch('merge', `${pods(ns)}/${running.metadata.name}`, { metadata: { ownerReferences } }));
    await wire.must(wire.create(budgets(ns), budget({ maxUnavailable: '40%' })));
    await becomes(`${budgets(ns)}/web`, { status: { expectedPods: 5, desiredHealthy: 3, currentHealthy: 1 } });
  });

  promise('guard pods without a controller by their number alone', async (world) => {
    const { wire, namespace, place, becomes } = world;
    const ns = await namespace();
    for (const name of ['a', 'b']) await world.becomeReady(await place(ns, name, { labels: { app: 'web' } }));
    await wire.must(wire.create(budgets(ns), budget({ minAvailable: 1 })));
    await becomes(`${budgets(ns)}/web`, { status: { expectedPods: 2, desiredHealthy: 1, disruptionsAllowed: 1 } });
    await wire.must(wire.patch('merge', `${budgets(ns)}/web`, { spec: { minAvailable: '50%' } }));
    await becomes(`${budgets(ns)}/web`, { status: { observedGeneration: 2, expectedPods: 0, desiredHealthy: 0 } });
    await world.recorded(ns, 'web', { type: 'Warning', reason: 'UnmanagedPods' });
  });

  promise('with an empty selector guard the whole namespace', async ({ wire, namespace, becomes }) => {
    const ns = await namespace();
    await wire.must(wire.create(deployments(ns), deployment('a', { replicas: 2 })));
    await wire.must(wire.create(deployments(ns), deployment('b', { replicas: 1 })));
    await wire.must(wire.create(budgets(ns), budget({ maxUnavailable: 1, selector: {} })));
    await becomes(`${budgets(ns)}/web`, { status: { expectedPods: 3, currentHealthy: 3, disruptionsAllowed: 1 } });
  });

  promise('let go one pod at a time: 429 until its successor is ready', async (world) => {
    const { wire, namespace, podsOf, becomes, settles } = world;
    const ns = await namespace();
    const [first, second] = await readyDeployment(world, ns, 2);
    if (first === undefined || second === undefined) throw new Error('two pods were ready');
    await wire.must(wire.create(budgets(ns), budget({ maxUnavailable: 1 })));
    await becomes(`${budgets(ns)}/web`, { status: { disruptionsAllowed: 1 } });

    expect((await evict(world, first)).status).toBe(201);
    await becomes(`${pods(ns)}/${first.metadata.name}`, {
      metadata: { deletionTimestamp: expect.any(String) },
      status: {
        conditions: expect.arrayContaining([
          expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }),
        ]),
      },
    });
    const refused = await evict(world, second);
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({
      reason: 'TooManyRequests',
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: { causes: [{ reason: 'DisruptionBudget' }] },
    });

    // Once the controller has seen the deletion, the answer says what is missing.
    await settles(async () => {
      expect((await evict(world, second)).body.details.causes).toEqual([
        { reason: 'DisruptionBudget', message: 'The disruption budget web needs 1 healthy pods and has 1 currently' },
      ]);
    });

    await world.finishDeletion(first);
    const successor = await settles(async () => {
      const found = (await podsOf(ns, 'app=web')).find(({ metadata }) => metadata.name !== second.metadata.name);
      if (found === undefined || found.metadata.deletionTimestamp !== undefined) throw new Error('no successor yet');
      return world.scheduled(ns, found.metadata.name);
    });
    await world.becomeReady(successor);
    await becomes(`${budgets(ns)}/web`, { status: { disruptionsAllowed: 1 } });
    expect((await evict(world, second)).status).toBe(201);
  });

  promise('do not guard pods that have not started or have ended', async (world) => {
    const { wire, namespace, place, becomes } = world;
    const ns = await namespace();
    const labels = { app: 'web' };
    const pending = await place(ns, 'pending', { labels });
    const failed = await world.fail(await place(ns, 'failed', { labels }));
    await wire.must(wire.create(budgets(ns), budget({ minAvailable: 1 })));
    await becomes(`${budgets(ns)}/web`, { status: { expectedPods: 2, disruptionsAllowed: 0 } });
    expect((await evict(world, pending)).status).toBe(201);
    expect((await evict(world, failed)).status).toBe(201);
  });

  promise('let unhealthy pods go while enough others are healthy', async (world) => {
    const { wire, namespace, becomes } = world;
    const ns = await namespace();
    const [healthy, sick] = await placedDeployment(world, ns, 2);
    if (healthy === undefined || sick === undefined) throw new Error('two pods were placed');
    await world.becomeUnready(sick);
    await world.becomeUnready(healthy);
    await wire.must(wire.create(budgets(ns), budget({ minAvailable: 1 })));
    await becomes(`${budgets(ns)}/web`, { status: { currentHealthy: 0, desiredHealthy: 1 } });
    expect((await evict(world, sick)).status).toBe(429);
    await world.becomeReady(healthy);
    await becomes(`${budgets(ns)}/web`, { status: { currentHealthy: 1, disruptionsAllowed: 0 } });
    expect((await evict(world, healthy)).status).toBe(429);
    expect((await evict(world, sick)).status).toBe(201);
  });

  promise('can be told to always let unhealthy pods go', async (world) => {
    const { wire, namespace, becomes } = world;
    const ns = await namespace();
    const [sick] = await placedDeployment(world, ns, 2);
    if (sick === undefined) throw new Error('two pods were placed');
    await world.becomeUnready(sick);
    await wire.must(wire.create(budgets(ns), budget({ minAvailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' })));
    await becomes(`${budgets(ns)}/web`, { status: { currentHealthy: 0, desiredHealthy: 1, disruptionsAllowed: 0 } });
    expect((await evict(world, sick)).status).toBe(201);
  });

  promise('must not overlap: a pod under two of them is not evicted', async (world) => {
    const { wire, namespace, place, becomes } = world;
    const ns = await namespace();
    const running = await world.becomeReady(await place(ns, 'a', { labels: { app: 'web' } }));
    const other = { ...budget({ minAvailable: 0 }), metadata: { name: 'other' } };
    await wire.must(wire.create(budgets(ns), budget({ minAvailable: 0 })));
    await wire.must(wire.create(budgets(ns), other));
    await becomes(`${budgets(ns)}/web`, { status: { disruptionsAllowed: 1 } });
    await becomes(`${budgets(ns)}/other`, { status: { disruptionsAllowed: 1 } });
    const refused = await evict(world, running);
    expect(refused.status).toBe(500);
    expect(refused.body.message).toBe(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  });
});
