import { Client, ConfigMap, Deployment, Pod, ReplicaSet } from '@polder/kube';
import { describe, expect, test } from 'vitest';
import {
  type Actor,
  clusterWorld,
  disturbanceNames,
  disturbed,
  type Invariants,
  quiet,
  type Scenario,
  type State,
  seeds,
  simulate,
  type World,
} from './index.ts';

const web = { namespace: 'default', name: 'web' };
const MAX_UNAVAILABLE = 1;
const MAX_SURGE = 1;

const rollOut = (image: string) => (client: Client) =>
  client.patch(Deployment, web, {
    type: 'strategic',
    body: { spec: { template: { spec: { containers: [{ name: 'c', image }] } } } },
  });
const scale = (replicas: number) => (client: Client) => client.setScale(Deployment, web, replicas);

const forward: Scenario = [
  (client) =>
    client.create(Deployment, {
      metadata: web,
      spec: {
        replicas: 4,
        selector: { matchLabels: { app: 'web' } },
        strategy: { rollingUpdate: { maxUnavailable: MAX_UNAVAILABLE, maxSurge: MAX_SURGE } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { terminationGracePeriodSeconds: 5, containers: [{ name: 'c', image: 'web:1' }] },
        },
      },
    }),
  rollOut('web:2'),
  scale(6),
  rollOut('web:3'),
  scale(3),
  rollOut('web:4'),
];

/** To sets that may still be shrinking: what one of them counted for its old size is not to be believed. */
const back: Scenario = [...forward, rollOut('web:1'), rollOut('web:2'), rollOut('web:1')];

/** Who is told that a pod could not be deleted counts it until its event comes, at its new size, too. */
const LIE = 'writes that are done and called failures';
const honest = disturbanceNames.filter((name) => name !== LIE);

const isTerminating = ({ metadata }: Pod) => metadata.deletionTimestamp !== undefined;
const isAvailable = (pod: Pod) =>
  !isTerminating(pod) && pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
const imageOf = (pod: Pod) => pod.spec?.containers[0]?.image;

const endsWith = (image: string) => (state: State) => {
  const { metadata, status } = state.get(Deployment, web) ?? {};
  const pods = state.list(Pod);
  return (
    status?.observedGeneration === metadata?.generation &&
    status?.availableReplicas === 3 &&
    status.updatedReplicas === 3 &&
    pods.length === 3 &&
    pods.every((pod) => isAvailable(pod) && imageOf(pod) === image)
  );
};

/**
 * What a deployment has, and says that it has, no rollout may take from it. Before that it is free to replace pods that are
 * not ready as far as it knows, even if one of them is by the time it goes; and what it says alone may be what a set counted
 * before its pods went: the real one does the same. A new size begins anew.
 */
function rollouts(scenario: Scenario) {
  let kept: { readonly replicas: number; readonly available: number } = { replicas: 0, available: 0 };
  const invariants: Invariants<World> = {
    'enough pods are available'(state) {
      const { metadata, spec, status } = state.get(Deployment, web) ?? {};
      const { replicas = 1 } = spec ?? {};
      const wanted = replicas - MAX_UNAVAILABLE;
      if (kept.replicas !== replicas) kept = { replicas, available: 0 };
      const isCounted = status?.observedGeneration === metadata?.generation;
      const available = state.list(Pod).filter(isAvailable).length;
      const isSaid = isCounted && (status?.availableReplicas ?? 0) >= wanted;
      if (isSaid && available >= wanted) kept = { replicas, available: wanted };
      if (available < kept.available) throw new Error(`${available} are, and there must be ${wanted} of ${replicas}`);
    },
    'a pod has one controller'(state) {
      for (const { metadata } of state.list(Pod)) {
        const owners = metadata.ownerReferences?.filter(({ controller }) => controller) ?? [];
        if (owners.length !== 1) throw new Error(`${metadata.name} has ${owners.length}`);
      }
    },
    'there is one replica set for each template'(state) {
      const images = state.list(ReplicaSet).map(({ spec }) => spec?.template?.spec?.containers[0]?.image);
      if (new Set(images).size !== images.length) throw new Error(`they have ${images.join(', ')}`);
    },
  };
  return { world: () => clusterWorld(), scenario, invariants };
}

describe('a deployment ends with what was asked for last, and never has too few pods,', () => {
  test.each(seeds(6))('whatever happens to the cluster (seed %i)', async (seed) => {
    const isConverged = endsWith('web:4');
    const simulation = await simulate({ ...rollouts(forward), seed, until: isConverged });
    expect(isConverged(simulation.state)).toBe(true);
    simulation.end();
  });

  test.each(seeds(6))('if that is what it had before (seed %i)', async (seed) => {
    const isConverged = endsWith('web:1');
    const simulation = await simulate({ ...rollouts(back), seed, until: isConverged, faults: honest });
    expect(isConverged(simulation.state)).toBe(true);
    simulation.end();
  });

  test.each(disturbanceNames)('after %s', async (by) => {
    const [scenario, image] = by === LIE ? [forward, 'web:4'] : [back, 'web:1'];
    const isConverged = endsWith(image);
    const { state } = await disturbed({ ...rollouts(scenario), isConverged, by });
    expect(isConverged(state)).toBe(true);
  });

  test('and is then left alone', async () => {
    const isConverged = endsWith('web:1');
    expect(await quiet({ ...rollouts(back), isConverged, forMs: 2 * 3_600_000 })).toBeUndefined();
  });
});

test('a product lives beside the cluster', async () => {
  const metadata = { namespace: 'default', name: 'settings' };
  const watchful: Actor = async ({ transport, clock }) => {
    const client = new Client({ transport, userAgent: 'product', clock });
    const { data } = await client.get(ConfigMap, metadata);
    await client.create(Pod, { metadata, spec: { containers: [{ name: 'c', image: data?.['image'] ?? '' }] } });
  };
  const prepare = async (client: Client) => {
    await client.create(ConfigMap, { metadata, data: { image: 'web:1' } });
  };
  const world = () => clusterWorld({ actors: { watchful }, prepare });
  const isRunning = (state: State) => state.list(Pod).some(isAvailable);
  const simulation = await simulate({ seed: 1, world, until: isRunning, faults: [] });
  expect(simulation.state.get(Pod, metadata)?.spec?.nodeName).toMatch(/^polder-/);
  simulation.end();
});
