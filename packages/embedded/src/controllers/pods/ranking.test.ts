import type { Pod } from '@polder/kube';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deletionOrder } from './ranking.ts';

const now = new Date('2026-01-02T00:00:00Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString();

interface Fields {
  readonly node?: string | undefined;
  readonly phase?: 'Pending' | 'Running' | 'Unknown' | undefined;
  /** Since how many seconds it is ready. */
  readonly ready?: number | undefined;
  readonly cost?: string | undefined;
  readonly age?: number | undefined;
  readonly restarts?: number | undefined;
  readonly sidecarRestarts?: number | undefined;
}

function pod(name: string, fields: Fields = {}): Pod {
  const { node = 'a', phase = 'Running', ready, cost, age = 600, restarts = 0, sidecarRestarts = 0 } = fields;
  const status = (container: string, restartCount: number) => ({
    name: container,
    restartCount,
    image: '',
    imageID: '',
    ready: true,
  });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      uid: `uid-${name}`,
      creationTimestamp: ago(age),
      ...(cost !== undefined && { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } }),
    },
    spec: {
      containers: [{ name: 'main' }],
      initContainers: [{ name: 'proxy', restartPolicy: 'Always' }],
      ...(node !== '' && { nodeName: node }),
    },
    status: {
      phase,
      containerStatuses: [status('main', restarts)],
      initContainerStatuses: [status('proxy', sidecarRestarts)],
      ...(ready !== undefined && {
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: ago(ready) }],
      }),
    },
  };
}

const order = (pods: readonly Pod[], related: readonly Pod[] = []) =>
  deletionOrder(pods, { now, related }).map(({ metadata }) => metadata.name);

// Each pair differs in one thing, and in everything that counts less the other way round.
test.each<[string, Fields, Fields]>([
  ['is not on a node yet', { node: '', ready: 100 }, { phase: 'Pending' }],
  ['is pending', { phase: 'Pending', ready: 100 }, {}],
  ['is not ready', { cost: '100' }, { ready: 1, cost: '1' }],
  ['is cheaper', { ready: 100_000, cost: '-1' }, { ready: 1 }],
  ['has been ready for a much shorter time', { ready: 10, age: 100_000 }, { ready: 1000, restarts: 5, age: 1 }],
  ['was restarted more often', { ready: 10, restarts: 2, age: 100_000 }, { ready: 10, restarts: 1, age: 1 }],
  ['has a sidecar that was restarted', { ready: 10, sidecarRestarts: 1, age: 100_000 }, { ready: 10, age: 1 }],
  ['is much younger', { ready: 10, age: 10 }, { ready: 10, age: 1000 }],
])('of two pods the one goes first that %s', (_why, first, second) => {
  expect(order([pod('b', second), pod('z', first)])).toEqual(['z', 'b']);
});

test('of two pods the one goes first that shares its node with others of the same deployment', () => {
  const [crowded, alone] = [pod('z', { ready: 1000 }), pod('b', { node: 'b', ready: 1 })];
  expect(order([alone, crowded], [crowded, alone, pod('other')])).toEqual(['z', 'b']);
});

test('pods that are about equally old go in an order that is as good as chance', () => {
  expect(order([pod('b', { ready: 1000 }), pod('a', { ready: 900 })])).toEqual(['a', 'b']);
});

test.each(['', 'much', '+10', '007', '1e3', '99999999999'])('a deletion cost of %j counts as none', (cost) => {
  const dear = pod('z', { ready: 10, cost: '5' });
  expect(order([dear, pod('b', { ready: 100_000, cost })])).toEqual(['b', 'z']);
});

const fields = fc.record({
  node: fc.constantFrom('', 'a', 'b'),
  phase: fc.constantFrom('Pending' as const, 'Running' as const, 'Unknown' as const),
  ready: fc.option(fc.nat(10_000), { nil: undefined }),
  cost: fc.option(fc.constantFrom('1', '-1', 'none', ''), { nil: undefined }),
  age: fc.nat(10_000),
  restarts: fc.nat(2),
  sidecarRestarts: fc.nat(2),
});

test('the order is the same however the pods are handed in', () => {
  const shuffled = fc
    .array(fields, { maxLength: 12, size: 'max' })
    .map((all) => all.map((one, i) => pod(`p${i}`, one)))
    .chain((pods) => fc.tuple(fc.constant(pods), fc.shuffledSubarray(pods, { minLength: pods.length })));
  fc.assert(
    fc.property(shuffled, ([pods, others]) => {
      expect(order(others, pods)).toEqual(order(pods, pods));
    }),
  );
});

test('no pod is lost or named twice', () => {
  fc.assert(
    fc.property(fc.array(fields, { maxLength: 12, size: 'max' }), (all) => {
      const pods = all.map((one, i) => pod(`p${i}`, one));
      const ordered = order(pods, pods);
      expect(ordered.toSorted()).toEqual(pods.map(({ metadata }) => metadata.name).toSorted());
    }),
  );
});
