import { Deployment, ReplicaSet, register } from '@polder/kube';
import { expect, test } from 'vitest';
import { crashingAfter } from '../crashing.ts';
import { replicaSets } from '../replica-set/index.ts';
import { TestWorld } from '../test-world.ts';
import { deployments } from './index.ts';

const ref = { namespace: 'default', name: 'web' };
const controllers = [register(deployments, (base) => base), register(replicaSets, (base) => base)];

const version = (n: number) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image: `nginx:${n}` }] },
});

test('a rollout ends the same after a crash at any of its writes', { timeout: 120_000 }, async () => {
  let isCrashed = true;
  for (let writes = 0; isCrashed; writes++) {
    const world = new TestWorld();
    const first = crashingAfter(writes, world, controllers);
    let stopped: Promise<void> | undefined;
    const isOut = async () => {
      if (first.isCrashed() && !stopped) {
        stopped = first.stop();
        world.run(...controllers);
      }
      const { metadata, status } = await world.client.get(Deployment, ref);
      const { observedGeneration, replicas, updatedReplicas, availableReplicas, terminatingReplicas } = status ?? {};
      const counts = [replicas, updatedReplicas, availableReplicas];
      const isSettled = observedGeneration === metadata.generation && terminatingReplicas === 0;
      return isSettled && counts.every((count) => count === 1);
    };
    const spec = { replicas: 1, selector: { matchLabels: { app: 'web' } }, template: version(1) };
    await world.client.create(Deployment, { metadata: ref, spec });
    await world.until('the first version is out', isOut);
    await world.client.patch(Deployment, ref, { type: 'merge', body: { spec: { template: version(2) } } });
    await world.until('the second version is out', isOut);
    await world.settle();
    isCrashed = first.isCrashed();

    const { items } = await world.client.list(ReplicaSet);
    const { metadata } = await world.client.get(Deployment, ref);
    world.writes.length = 0;
    await world.settle(3600_000);
    const end = {
      sets: items.map(({ spec }) => `${spec?.template?.spec?.containers[0]?.image}: ${spec?.replicas}`).toSorted(),
      annotations: metadata.annotations,
      pods: (await world.pods()).length,
      writesSince: world.writes,
    };
    expect(end, `after a crash at write ${writes}`).toEqual({
      sets: ['nginx:1: 0', 'nginx:2: 1'],
      annotations: { 'deployment.kubernetes.io/revision': '2' },
      pods: 1,
      writesSince: [],
    });

    stopped ??= first.stop();
    await world.stop();
    await stopped;
  }
});
