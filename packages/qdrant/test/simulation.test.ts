import {
  crashAtEveryWrite,
  type Invariants,
  quiet,
  type Scenario,
  type State,
  seeds,
  simulate,
} from '@polder/embedded/simulation';
import { type Client, PersistentVolumeClaim, Pod, sleep } from '@polder/kube';
import { describe, expect, test } from 'vitest';
import {
  aClusterOf,
  applyCluster,
  copiesOfPoints,
  fill,
  type Hosts,
  hasPeers,
  NUMBERS,
  type QdrantWorld,
  qdrantWorld,
  statusIn,
} from './world.ts';

/** Runs are many and machines differ. */
const PATIENT = 900_000;

/** Those of the run that is under way: what users do goes there. */
let hosts: Hosts;

const worldWith = (options: Parameters<typeof qdrantWorld>[0]) => (): QdrantWorld => {
  const made = qdrantWorld(options);
  hosts = made.hosts;
  return made;
};

const world = worldWith({});

/** What users do once the cluster has so many peers. */
const afterPeers = (peers: number, work: (client: Client) => Promise<unknown>) => async (client: Client) => {
  while (hosts.qdrant.peers.filter(({ view }) => Object.keys(view.peers).length === peers).length < peers) {
    await sleep(hosts.clock, 1_000);
  }
  await work(client);
};

/** A cluster grows and shrinks, with points in it that have two copies each. */
const scenario: Scenario = [
  applyCluster(aClusterOf(2)),
  afterPeers(2, () => fill(hosts, 4, 2)),
  applyCluster(aClusterOf(4)),
  afterPeers(4, (client) => applyCluster(aClusterOf(2))(client)),
  afterPeers(2, async () => {}),
];

/** The same with as little as there can be of it: it is gone through twice for every write. */
const shortScenario: Scenario = [
  applyCluster(aClusterOf(1)),
  afterPeers(1, () => fill(hosts, 2, 1)),
  applyCluster(aClusterOf(2)),
  afterPeers(2, (client) => applyCluster(aClusterOf(1))(client)),
  afterPeers(1, async () => {}),
];

function isWhole(peers: number, copies: number): boolean {
  const counts = copiesOfPoints(hosts);
  return hosts.qdrant.peers.length === peers && NUMBERS.every((number) => counts.get(number) === copies);
}

/** So many peers, every point in so many copies, and no volume without a peer. */
const endsWith = (peers: number, copies: number) => (state: State) =>
  hasPeers(peers)(state) && isWhole(peers, copies) && state.list(PersistentVolumeClaim).length === peers;

const isConverged = endsWith(2, 2);

/** Who leads whom at this moment, by their ids. */
const groupsIn = ({ qdrant }: Hosts) => new Set(qdrant.peers.map(({ node }) => node.group.id));

const invariants: Invariants<QdrantWorld> = {
  'there is one cluster'(_state, world) {
    if (!world.hosts.isUp) return;
    const { size } = groupsIn(world.hosts);
    if (size > 1) throw new Error(`there are ${size}`);
  },
  'every point that was written is on a volume'(_state, { hosts: { isFilled, numbersOnVolumes } }) {
    const numbers = isFilled ? numbersOnVolumes() : undefined;
    const lost = NUMBERS.filter((number) => numbers?.has(number) === false);
    if (lost.length > 0) throw new Error(`${lost.length} are not, the first is ${lost[0]}`);
  },
};

describe('every point is there in the end, nothing is left over, and the cluster is left alone,', () => {
  test(
    'if the operator is killed at any of its writes',
    async () => {
      const run = { world, scenario: shortScenario, isConverged: endsWith(1, 1), invariants, limitMs: 1_800_000 };
      const writes = await crashAtEveryWrite(run);
      console.log(`killed before and after each of ${writes} writes`);
      expect(writes).toBeGreaterThan(10);
    },
    PATIENT,
  );

  test.each(seeds(5))(
    'whatever happens to the operator, to the cluster and to its peers (seed %i)',
    async (seed) => {
      const actors = ['operator', 'cluster'];
      const limitMs = 3_600_000;
      const troubled = worldWith({ troubledMs: limitMs / 10 });
      const course = { seed, world: troubled, scenario, until: isConverged, invariants, actors, limitMs };
      const simulation = await simulate(course);
      expect(statusIn(simulation.state)?.peers).toHaveLength(2);
      expect(groupsIn(hosts).size).toBe(1);
      expect(simulation.state.list(Pod)).toHaveLength(2);
      simulation.end();
    },
    PATIENT,
  );

  test(
    'for hours',
    async () => {
      expect(await quiet({ world, scenario, isConverged, forMs: 2 * 3_600_000 })).toBeUndefined();
    },
    PATIENT,
  );
});
