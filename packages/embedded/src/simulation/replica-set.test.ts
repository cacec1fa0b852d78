import { Pod, type Product, ReplicaSet, register } from '@polder/kube';
import { describe, expect, test } from 'vitest';
import { replicaSets } from '../controllers/replica-set/index.ts';
import {
  crashAtEveryWrite,
  disturbanceNames,
  disturbed,
  type Invariants,
  operator,
  quiet,
  type Scenario,
  type State,
  seeds,
  simulate,
  type World,
} from './index.ts';
import { kubelet, NODE, registerNode } from './test-node.ts';

const managerOf = (product: Pick<Product, 'lease'>) =>
  operator(() => {
    const controllers = [register(replicaSets)];
    return [{ ...product, name: 'controllers', fieldManager: 'kube-controller-manager', controllers }];
  });

const oneManager = (): World => ({ prepare: registerNode, actors: { controllers: managerOf({}), kubelet: kubelet() } });

/** Two of which one leads. */
function twoManagers(): World {
  const controllers = managerOf({ lease: { namespace: 'kube-system', name: 'controllers' } });
  return { prepare: registerNode, actors: { controllers, standby: controllers, kubelet: kubelet() } };
}

const web = { namespace: 'default', name: 'web' };
const MOST_WANTED = 5;
const scenario: Scenario = [
  (client) =>
    client.create(ReplicaSet, {
      metadata: web,
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { nodeName: NODE, containers: [{ name: 'c', image: 'nginx' }] },
        },
      },
    }),
  (client) => client.setScale(ReplicaSet, web, MOST_WANTED),
  (client) => client.deleteCollection(Pod, { namespace: 'default', labelSelector: 'app=web' }),
  (client) => client.setScale(ReplicaSet, web, 1),
  (client) => client.setScale(ReplicaSet, web, 2),
];

function isConverged(state: State): boolean {
  const status = state.get(ReplicaSet, web)?.status;
  return state.list(Pod).length === 2 && status?.availableReplicas === 2 && status.replicas === 2;
}

const isActive = ({ metadata }: Pod) => metadata.deletionTimestamp === undefined;

const oneController: Invariants<World> = {
  'a pod has one controller, and it exists'(state) {
    const sets = state.list(ReplicaSet).map(({ metadata }) => metadata.uid);
    for (const { metadata } of state.list(Pod)) {
      const owners = metadata.ownerReferences?.filter(({ controller }) => controller) ?? [];
      const [owner] = owners;
      if (owners.length !== 1 || !sets.includes(owner?.uid ?? ''))
        throw new Error(`${metadata.name} is controlled by ${owners.map(({ name }) => name).join(' and ')}`);
    }
  },
};

const neverTooMany: Invariants<World> = {
  ...oneController,
  'there are never more pods than were ever wanted'(state) {
    const active = state.list(Pod).filter(isActive);
    if (active.length > MOST_WANTED) throw new Error(`there are ${active.length}, of which ${MOST_WANTED} were wanted`);
  },
};

describe('a replica set ends with what was asked for last,', () => {
  /** Who was told that a pod could not be made makes another one; real controllers do the same. */
  const lies = ['reads from the past', 'writes that are done and called failures'];
  const honest = disturbanceNames.filter((name) => !lies.includes(name));

  test.each(seeds(12))('never with more, whatever happens to its controllers (seed %i)', async (seed) => {
    const run = { seed, world: twoManagers, scenario, until: isConverged, invariants: neverTooMany, faults: honest };
    const simulation = await simulate(run);
    expect(isConverged(simulation.state)).toBe(true);
    simulation.end();
  });

  test.each(seeds(12))('even if it is lied to (seed %i)', async (seed) => {
    const run = { seed, world: twoManagers, scenario, until: isConverged, invariants: oneController };
    const simulation = await simulate(run);
    expect(isConverged(simulation.state)).toBe(true);
    simulation.end();
  });

  test('if its controllers are killed at any of their writes', async () => {
    const writes = await crashAtEveryWrite({ world: oneManager, scenario, isConverged, invariants: neverTooMany });
    expect(writes).toBeGreaterThan(10);
  });

  test.each(disturbanceNames)('after %s', async (by) => {
    const { state } = await disturbed({ world: oneManager, scenario, isConverged, invariants: oneController, by });
    expect(isConverged(state)).toBe(true);
  });

  test('and is then left alone', async () => {
    expect(await quiet({ world: oneManager, scenario, isConverged, forMs: 24 * 3_600_000 })).toBeUndefined();
  });
});

test('the same seed gives the same trace, byte for byte, with leases, kills and all', async () => {
  for (const seed of seeds(2)) {
    const run = () => simulate({ seed, world: twoManagers, scenario, until: isConverged });
    const [once, again] = [await run(), await run()];
    expect(again.trace.toString()).toBe(once.trace.toString());
    expect([...again.state.texts()]).toEqual([...once.state.texts()]);
  }
});
