import { pod, pods } from '../contract/objects.ts';
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
            message: expect.stringContaining('1 node(s) were unschedulable'),
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
});
