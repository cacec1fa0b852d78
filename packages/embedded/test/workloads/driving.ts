import { deployment, deployments, job, jobs, pod, pods } from '../contract/objects.ts';
import { onDrivenNode } from './pods.ts';
import { expect, topic } from './suite.ts';

export const driving = topic('pods and their nodes', (promise) => {
  promise('on simulated nodes are ready at once, and gone at once when deleted', async (world) => {
    const { wire, namespace, becomes, gone } = world;
    const at = pods(await namespace());
    await wire.must(wire.create(at, pod('a')));
    await becomes(`${at}/a`, { status: { phase: 'Running', podIP: expect.any(String) } });
    await wire.must(wire.delete(`${at}/a`));
    await gone(`${at}/a`);
  });

  promise('on simulated nodes complete at once if they belong to a Job', async ({ wire, namespace, becomes }) => {
    const ns = await namespace();
    await wire.must(wire.create(jobs(ns), job('a')));
    await becomes(`${jobs(ns)}/a`, { status: { succeeded: 1 } });
  });

  promise('do nothing on a node without a kubelet until somebody plays it', async (world) => {
    const { wire, namespace, podsBecome, scheduled, becomeReady, becomes, gone } = world;
    const ns = await namespace();
    const template = { metadata: { labels: { app: 'a' } }, spec: { ...pod('').spec, ...onDrivenNode } };
    await wire.must(wire.create(deployments(ns), deployment('a', { template })));
    const [created] = await podsBecome(ns, 'app=a', 1);
    const placed = await scheduled(ns, created?.metadata.name ?? '');
    expect(placed.status.phase).toBe('Pending');

    await becomeReady(placed);
    await becomes(`${deployments(ns)}/a`, { status: { readyReplicas: 1, availableReplicas: 1 } });

    await wire.must(wire.patch('merge', `${deployments(ns)}/a`, { spec: { replicas: 0 } }));
    await becomes(`${pods(ns)}/${placed.metadata.name}`, { metadata: { deletionTimestamp: expect.any(String) } });
    await world.finishDeletion(placed);
    await gone(`${pods(ns)}/${placed.metadata.name}`);
  });
});
