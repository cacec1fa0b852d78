import { crashAtEveryWrite, quiet, type Scenario, type State, seeds, simulate } from '@polder/embedded/simulation';
import { type Client, sleep } from '@polder/kube';
import { describe, expect, test } from 'vitest';
import { QdrantCluster } from '../src/index.ts';
import { QdrantCollectionRestore } from '../src/kinds/index.ts';
import { back, backUp, declareBucket, restoreTo } from './archive.ts';
import {
  aClusterOf,
  applyCluster,
  ask,
  copiesOfPoints,
  fill,
  type Hosts,
  NUMBERS,
  type QdrantWorld,
  qdrantWorld,
  statusIn,
  vectors,
} from './world.ts';

/** Runs are many and machines differ. */
const PATIENT = 900_000;

/** Those of the run that is under way. */
let hosts: Hosts;

const worldWith = (options: Parameters<typeof qdrantWorld>[0]) => (): QdrantWorld => {
  const made = qdrantWorld(options);
  hosts = made.hosts;
  return made;
};

/** What users do once the cluster has its peers and says that it is well. */
const whenReady = (work: (client: Client) => Promise<unknown>) => async (client: Client) => {
  const isReady = async () => {
    const { spec, status } = await client.get(QdrantCluster, vectors);
    return status?.qdrantStatus === 'Healthy' && status.peers?.length === spec.replicas;
  };
  while (!(await isReady())) await sleep(hosts.clock, 1_000);
  await work(client);
};

const insisting = (work: () => Promise<unknown>) => async () => {
  for (;;) {
    try {
      return await work();
    } catch {
      await sleep(hosts.clock, 1_000);
    }
  }
};

const LATER = [61, 62, 63];

const later = () =>
  ask(hosts, 'PUT', '/collections/points/points?wait=true', {
    points: LATER.map((id) => ({ id, vector: [id, 0, 0, 1], payload: {} })),
  });

/** So many peers, each with a copy of two shards; a backup; more points; and a restore. */
const scenario = (mode: 'replace' | 'merge', peers: number): Scenario => [
  applyCluster(aClusterOf(peers)),
  whenReady(() => fill(hosts, 2, peers)),
  (client) => declareBucket(client),
  whenReady(insisting(() => backUp(hosts))),
  later,
  restoreTo({ mode }),
];

const hasPoints = (numbers: readonly number[], copies: number) => {
  const counts = copiesOfPoints(hosts);
  return counts.size === numbers.length && numbers.every((number) => counts.get(number) === copies);
};

/** Nothing of the temporary collection is left, anywhere. */
const isTidy = (state: State) =>
  state.get(QdrantCollectionRestore, back)?.metadata.finalizers === undefined &&
  hosts.qdrant.peers.every(({ view }) => Object.keys(view.collections).join() === 'points');

const isConverged =
  (numbers: readonly number[], peers: number) =>
  (state: State): boolean => {
    const { phase, error } = state.get(QdrantCollectionRestore, back)?.status ?? {};
    if (phase === 'Failed') throw new Error(`it failed: ${error}`);
    const isHealthy = statusIn(state)?.qdrantStatus === 'Healthy';
    return phase === 'Completed' && hasPoints(numbers, peers) && isTidy(state) && isHealthy;
  };

describe.each([
  ['replaced', 'replace', NUMBERS],
  ['merged', 'merge', [...NUMBERS, ...LATER]],
] as const)('a collection is %s once, wholly, and left alone then,', (_name, mode, numbers) => {
  const trialWith = (peers: number) => ({
    world: worldWith({}),
    scenario: scenario(mode, peers),
    isConverged: isConverged(numbers, peers),
  });
  const trial = trialWith(2);

  test(
    'if the operator is killed at any of its writes',
    async () => {
      // With as little as there can be of it: it is gone through twice for every write.
      const writes = await crashAtEveryWrite({ ...trialWith(1), limitMs: 1_800_000 });
      console.log(`killed before and after each of ${writes} writes`);
      expect(writes).toBeGreaterThan(20);
    },
    PATIENT,
  );

  test.each(seeds(3))(
    'whatever happens to the operator, to the cluster and to its peers (seed %i)',
    async (seed) => {
      const limitMs = 3_600_000;
      const world = worldWith({ troubledMs: limitMs / 10 });
      const actors = ['operator', 'cluster'];
      const course = { ...trial, seed, world, until: trial.isConverged, actors, limitMs };
      const simulation = await simulate(course);
      expect(simulation.state.get(QdrantCollectionRestore, back)?.status?.phase).toBe('Completed');
      simulation.end();
    },
    PATIENT,
  );

  test('for hours', async () => expect(await quiet({ ...trial, forMs: 2 * 3_600_000 })).toBeUndefined(), PATIENT);
});
