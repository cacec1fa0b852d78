import { type Client, Deployment, Pod, ReplicaSet, register } from '@polder/kube';
import { expect, test } from 'vitest';
import { crashAtEveryWrite, operator, type Scenario, type State, type World } from '../../simulation/index.ts';
import { kubelet, NODE, registerNode } from '../../simulation/test-node.ts';
import { replicaSets } from '../replica-set/index.ts';
import { deployments } from './index.ts';

const ref = { namespace: 'default', name: 'web' };

const world = (): World => ({
  prepare: registerNode,
  actors: {
    controllers: operator(() => {
      const controllers = [register(deployments), register(replicaSets)];
      return [{ name: 'controllers', fieldManager: 'kube-controller-manager', controllers }];
    }),
    kubelet: kubelet(),
  },
});

const version = (n: number) => ({
  metadata: { labels: { app: 'web' } },
  spec: { nodeName: NODE, containers: [{ name: 'c', image: `nginx:${n}` }] },
});

const scenario: Scenario = [
  (client: Client) =>
    client.create(Deployment, {
      metadata: ref,
      spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template: version(1) },
    }),
  (client: Client) => client.patch(Deployment, ref, { type: 'merge', body: { spec: { template: version(2) } } }),
];

function isConverged(state: State): boolean {
  const { metadata, status } = state.get(Deployment, ref) ?? {};
  const { observedGeneration, replicas, updatedReplicas, availableReplicas, terminatingReplicas } = status ?? {};
  const sets = state
    .list(ReplicaSet)
    .map(({ spec }) => `${spec?.template?.spec?.containers[0]?.image}: ${spec?.replicas}`)
    .toSorted();
  return (
    observedGeneration === metadata?.generation &&
    [replicas, updatedReplicas, availableReplicas, terminatingReplicas].join() === '1,1,1,0' &&
    // A process that was killed early may never have seen the first version.
    ['nginx:2: 1', 'nginx:1: 0,nginx:2: 1'].includes(sets.join()) &&
    metadata?.annotations?.['deployment.kubernetes.io/revision'] === `${sets.length}` &&
    state.list(Pod).length === 1
  );
}

test('a rollout ends the same after a crash at any of its writes', { timeout: 120_000 }, async () => {
  expect(await crashAtEveryWrite({ world, scenario, isConverged })).toBeGreaterThan(10);
});
