import { Job, Pod, register } from '@polder/kube';
import { expect, test } from 'vitest';
import { STAGES } from '../../kubelet/index.ts';
import {
  crashAtEveryWrite,
  type Invariants,
  operator,
  type Scenario,
  type State,
  type World,
} from '../../simulation/index.ts';
import { kubelet, NODE, registerNode } from '../../simulation/test-node.ts';
import { jobs } from './index.ts';

const ref = { namespace: 'default', name: 'work' };

const world = (): World => ({
  prepare: registerNode,
  actors: {
    controllers: operator(() => {
      const controllers = [register(jobs)];
      return [{ name: 'controllers', fieldManager: 'kube-controller-manager', controllers }];
    }),
    kubelet: kubelet([
      ...STAGES,
      {
        name: 'fail',
        matches: { labels: { 'batch.kubernetes.io/job-completion-index': '0' } },
        does: { exits: { afterMs: 1_000, code: 1 } },
      },
    ]),
  },
});

/** Index 0 fails, is tried once more and fails again; the two others succeed. */
const scenario: Scenario = [
  (client) =>
    client.create(Job, {
      metadata: ref,
      spec: {
        completionMode: 'Indexed',
        completions: 3,
        parallelism: 2,
        backoffLimitPerIndex: 1,
        template: {
          spec: { nodeName: NODE, restartPolicy: 'Never', containers: [{ name: 'c', image: 'busybox' }] },
        },
      },
    }),
];

const PODS = 4;

const invariants: Invariants<World> = {
  'no pod too many is made'(state) {
    const pods = state.list(Pod).map(({ metadata }) => metadata.name);
    if (pods.length > PODS) throw new Error(`there are ${pods.join(', ')}`);
  },
};

function isConverged(state: State): boolean {
  const { succeeded, failed, completedIndexes, failedIndexes, ...status } = state.get(Job, ref)?.status ?? {};
  const pods = state.list(Pod);
  return (
    (status.conditions?.some((one) => one.type === 'Failed' && one.status === 'True') ?? false) &&
    (status.ready ?? 0) + (status.terminating ?? 0) === 0 &&
    [succeeded, failed, completedIndexes, failedIndexes].join(' ') === '2 2 1,2 0' &&
    pods.length === PODS &&
    pods.every(({ metadata }) => metadata.finalizers === undefined)
  );
}

test('a job ends the same after a crash at any of its writes, and no pod too many is made', async () => {
  expect(await crashAtEveryWrite({ world, scenario, isConverged, invariants })).toBeGreaterThan(10);
});
