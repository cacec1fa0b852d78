import { deployment, deployments, pod, pods } from '../contract/objects.ts';
import { topic } from '../contract/suite.ts';
import type { Kubectl } from '../kubectl/kubectl.ts';
import { Pen } from './pen.ts';
import { expect } from './suite.ts';
import type { Workloads } from './workloads.ts';

/** A cluster, and the real kubectl to work on it with. */
export interface Administrator {
  readonly world: Workloads;
  readonly kubectl: Kubectl;
}

export const draining = topic<Administrator>('kubectl', (promise) => {
  promise('cordons and uncordons a node', async ({ world, kubectl }) => {
    const node = await new Pen(world).node();
    expect(await kubectl.says(['cordon', node])).toBe(`node/${node} cordoned\n`);
    expect(await kubectl.says(['get', 'node', node, '--no-headers'])).toMatch(/Ready,SchedulingDisabled/);
    expect(await kubectl.says(['uncordon', node])).toBe(`node/${node} uncordoned\n`);
    expect(await kubectl.says(['get', 'node', node, '--no-headers'])).not.toMatch(/SchedulingDisabled/);
  });

  promise('drains a node at the pace that a budget allows', async ({ world, kubectl }) => {
    const { wire, namespace, podsBecome, podsOf, scheduled, settles, becomes } = world;
    const ns = await namespace();
    const pen = new Pen(world);
    const node = await pen.node();
    const template = { metadata: { labels: { app: 'web' } }, spec: { ...pod('').spec, ...pen.inside } };
    await wire.must(wire.create(deployments(ns), deployment('web', { replicas: 2, template })));
    for (const { metadata } of await podsBecome(ns, 'app=web', 2)) {
      await world.becomeReady(await scheduled(ns, metadata.name));
    }
    const budgets = `/apis/policy/v1/namespaces/${ns}/poddisruptionbudgets`;
    const spec = { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } };
    await wire.must(wire.create(budgets, { metadata: { name: 'web' }, spec }));
    await becomes(`${budgets}/web`, { status: { disruptionsAllowed: 1 } });
    const refuge = await pen.node();

    const drain = kubectl.start(['drain', node, '--timeout=60s']);

    // One goes; kubectl keeps asking for the other and is refused.
    const first = await settles(async () => {
      const going = (await podsOf(ns, 'app=web')).filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
      expect(going).toHaveLength(1);
      return going[0];
    });
    if (first === undefined) throw new Error('one pod is going');
    await drain.complains(/Cannot evict pod as it would violate the pod's disruption budget/);
    await world.finishDeletion(first);

    // Its successor cannot come back to the node; when it is ready, the other may go.
    const successor = await settles(async () => {
      const found = (await podsOf(ns, 'app=web')).find(({ spec: { nodeName } }) => nodeName === refuge);
      if (found === undefined) throw new Error('no successor yet');
      return found;
    });
    await world.becomeReady(successor);
    const second = await settles(async () => {
      const going = (await podsOf(ns, 'app=web')).find(({ metadata }) => metadata.deletionTimestamp !== undefined);
      if (going === undefined) throw new Error('the second is still not evicted');
      return going;
    });
    expect(second.spec.nodeName).toBe(node);
    await world.finishDeletion(second);

    const { code, stdout } = await drain.ended;
    expect(code).toBe(0);
    expect(stdout).toContain(`node/${node} drained`);
    await becomes(`/api/v1/nodes/${node}`, { spec: { unschedulable: true } });
  });

  promise('drains no pod that would not come back, unless forced', async ({ world, kubectl }) => {
    const ns = await world.namespace();
    const pen = new Pen(world);
    const node = await pen.node();
    const volumes = [{ name: 'scratch', emptyDir: {} }];
    const create = async (name: string, spec = {}) => {
      await world.wire.must(world.wire.create(pods(ns), pod(name, { ...pen.inside, ...spec })));
      return world.scheduled(ns, name);
    };
    const created = [await create('alone'), await create('storing', { volumes })];

    const said = await kubectl.complains(['drain', node]);
    expect(said).toContain('cannot delete Pods that declare no controller (use --force to override)');
    expect(said).toContain('cannot delete Pods with local storage (use --delete-emptydir-data to override)');
    for (const { metadata } of created) {
      expect((await world.pod(ns, metadata.name)).metadata).not.toHaveProperty('deletionTimestamp');
    }

    const drain = kubectl.start(['drain', node, '--force', '--delete-emptydir-data', '--timeout=60s']);
    for (const going of created) {
      await world.becomesGoing(going);
      await world.finishDeletion(going);
    }
    expect((await drain.ended).code).toBe(0);
  });
});
