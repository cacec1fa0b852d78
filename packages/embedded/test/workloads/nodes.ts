import { deployment, deployments, pod, pods } from '../contract/objects.ts';
import { Pen, readiness } from './pen.ts';
import { expect, topic } from './suite.ts';

const nodeAt = (name: string) => `/api/v1/nodes/${name}`;

export const nodes = topic('nodes', (promise) => {
  promise('that are cordoned keep their pods and get no others until they are uncordoned', async (world) => {
    const { wire, namespace, becomes, scheduled } = world;
    const ns = await namespace();
    const pen = new Pen(world);
    const node = await pen.node();
    await wire.must(wire.create(pods(ns), pod('early', pen.inside)));
    await scheduled(ns, 'early');

    await wire.must(wire.patch('merge', nodeAt(node), { spec: { unschedulable: true } }));
    const taint = expect.objectContaining({ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' });
    await becomes(nodeAt(node), { spec: { taints: expect.arrayContaining([taint]) } });
    await wire.must(wire.create(pods(ns), pod('late', pen.inside)));
    await becomes(`${pods(ns)}/late`, {
      status: {
        conditions: [
          {
            type: 'PodScheduled',
            reason: 'Unschedulable',
            message: expect.stringMatching(/\d+ node\(s\) were unschedulable/),
          },
        ],
      },
    });
    expect((await wire.get(`${pods(ns)}/early`)).body.metadata).not.toHaveProperty('deletionTimestamp');

    await wire.must(wire.patch('merge', nodeAt(node), { spec: { unschedulable: null } }));
    expect((await scheduled(ns, 'late')).spec.nodeName).toBe(node);
    await becomes(nodeAt(node), { spec: { taints: expect.not.arrayContaining([taint]) } });
  });

  promise('get no pods before they are ready', async (world) => {
    const { wire, namespace, becomes, scheduled } = world;
    const ns = await namespace();
    const pen = new Pen(world);
    const node = await pen.node({ ready: false });
    const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
    await becomes(nodeAt(node), { spec: { taints: expect.arrayContaining([expect.objectContaining(taint)]) } });
    await wire.must(wire.create(pods(ns), pod('a', pen.inside)));
    await becomes(`${pods(ns)}/a`, { status: { conditions: [{ type: 'PodScheduled', reason: 'Unschedulable' }] } });

    await wire.must(wire.patch('strategic', `${nodeAt(node)}/status`, { status: { conditions: readiness(true) } }));
    expect((await scheduled(ns, 'a')).spec.nodeName).toBe(node);
  });

  promise('with a NoExecute taint lose the pods that do not tolerate it', async (world) => {
    const { wire, namespace, becomes, scheduled, becomesGoing } = world;
    const ns = await namespace();
    const pen = new Pen(world);
    const node = await pen.node();
    const { nodeSelector, tolerations } = pen.inside;
    const tolerating = (toleration: Readonly<Record<string, unknown>>) => ({
      nodeSelector,
      tolerations: [...tolerations, { key: 'maintenance', operator: 'Exists', effect: 'NoExecute', ...toleration }],
    });
    await wire.must(wire.create(pods(ns), pod('sensitive', pen.inside)));
    await wire.must(wire.create(pods(ns), pod('tolerant', tolerating({}))));
    await wire.must(wire.create(pods(ns), pod('patient', tolerating({ tolerationSeconds: 1 }))));
    const [sensitive, , patient] = await Promise.all(
      ['sensitive', 'tolerant', 'patient'].map((name) => scheduled(ns, name)),
    );
    if (sensitive === undefined || patient === undefined) throw new Error('three pods were placed');

    const taints = [
      { ...pen.toleration, effect: 'NoSchedule' },
      { key: 'maintenance', effect: 'NoExecute' },
    ];
    await wire.must(wire.patch('merge', nodeAt(node), { spec: { taints } }));

    await becomesGoing(sensitive);
    await becomes(`${pods(ns)}/sensitive`, {
      status: {
        conditions: expect.arrayContaining([
          expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' }),
        ]),
      },
    });
    await becomesGoing(patient);
    expect((await wire.get(`${pods(ns)}/tolerant`)).body.metadata).not.toHaveProperty('deletionTimestamp');
  });

  promise('take their pods with them when they are deleted, and the pods are replaced elsewhere', async (world) => {
    const { wire, namespace, podsBecome, scheduled, settles, podsOf } = world;
    const ns = await namespace();
    const pen = new Pen(world);
    const lost = await pen.node();
    const preference = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [lost] }] };
    const preferred = [{ weight: 100, preference }];
    const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } };
    const spec = { ...pod('').spec, affinity, tolerations: [pen.toleration] };
    const template = { metadata: { labels: { app: 'web' } }, spec };
    await wire.must(wire.create(deployments(ns), deployment('web', { template })));
    const [created] = await podsBecome(ns, 'app=web', 1);
    const placed = await world.becomeReady(await scheduled(ns, created?.metadata.name ?? ''));
    expect(placed.spec.nodeName).toBe(lost);

    await wire.must(wire.delete(nodeAt(lost)));

    await settles(async () => {
      const [remaining, ...others] = await podsOf(ns, 'app=web');
      expect(others).toEqual([]);
      expect(remaining?.metadata.uid).not.toBe(placed.metadata.uid);
      expect(remaining?.status.phase).toBe('Running');
    });
  });
});
