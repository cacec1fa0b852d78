import { Simulation, type State } from '@polder/embedded/simulation';
import { type Client, EventsV1Event, StorageClass } from '@polder/kube';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { QdrantCluster } from '../src/index.ts';
import {
  aClusterOf,
  applyCluster,
  copiesOfPoints,
  fill,
  hasPeers,
  isSettled,
  NUMBERS,
  type QdrantWorld,
  qdrantWorld,
  setIn,
  statusIn,
} from './world.ts';

let simulation: Simulation<QdrantWorld>;
let client: Client;
beforeEach(async () => {
  simulation = await new Simulation({ seed: 1, world: qdrantWorld() }).start();
  ({ client } = simulation);
});
afterEach(() => simulation.end());

const until = (what: string, isSo: (state: State) => boolean) => simulation.until(what, isSo, 900_000);

/** What has been told of the cluster so far, in order: `Normal Ready the cluster is as it should be`. */
async function told(): Promise<readonly string[]> {
  await simulation.pass(5_000);
  const { items } = await client.list(EventsV1Event);
  return items
    .filter(({ regarding }) => regarding?.kind === QdrantCluster.kind)
    .toSorted((a, b) => a.eventTime.localeCompare(b.eventTime))
    .map(({ type, reason, note }) => `${type} ${reason} ${note}`);
}

const reasonsIn = (events: readonly string[]) => events.map((event) => event.split(' ')[1] ?? '');

async function filled(): Promise<void> {
  let isOver = false;
  const work = fill(simulation.world.hosts, 6, 2).finally(() => (isOver = true));
  await simulation.until('it is filled', () => isOver, 300_000);
  await work;
}

test('the life of a cluster can be read in its events, each told once', async () => {
  await applyCluster(aClusterOf(1, { image: 'qdrant/qdrant:v1.18.2' }))(client);
  await until('one peer', hasPeers(1));
  expect(reasonsIn(await told())).toEqual(['ClusterFormed', 'Ready']);
  await applyCluster(aClusterOf(3, { image: 'qdrant/qdrant:v1.18.2' }))(client);
  await until('three peers', hasPeers(3));
  expect(reasonsIn((await told()).slice(2))).toEqual(['ScalingUp', 'PeerJoined']);
  await filled();
  await applyCluster(aClusterOf(3))(client);
  await until('all run the new version', (state) => isSettled(state) && statusIn(state)?.version === '1.19.0');
  const upgraded = await told();
  const [first, ...rest] = reasonsIn(upgraded.slice(4));
  expect([first, rest.pop()]).toEqual(['ImageChanged', 'RolloutFinished']);
  // That one has begun is known with the first pod that is outdated, which may be restarted in the same pass.
  expect(rest.toSorted()).toEqual(['PodRestarted', 'RolloutBegun']);
  expect(upgraded[4]).toBe('Normal ImageChanged spec.image is qdrant/qdrant:v1.19.0, and it was qdrant/qdrant:v1.18.2');
  await applyCluster(aClusterOf(2))(client);
  await until('two peers', hasPeers(2));
  expect(reasonsIn((await told()).slice(8)).toSorted()).toEqual([
    'DrainBegun',
    'DrainFinished',
    'PeerRemoved',
    'ScalingDown',
    'ShardMoving',
    'VolumeRemoved',
  ]);
  const all = await told();
  await simulation.pass(1_800_000);
  expect(await told()).toEqual(all);
});

test('a rule that holds something back for good is told, and nothing is dropped meanwhile', async () => {
  await applyCluster(aClusterOf(2))(client);
  await until('two peers', hasPeers(2));
  await filled();
  await applyCluster(aClusterOf(1, { scaleDown: { policy: 'Forbid' } }))(client);
  await simulation.pass(60_000);
  const held = (await told()).filter((event) => !/ (ClusterFormed|PeerJoined|ScalingUp|Ready) /.test(event));
  expect(held).toHaveLength(1);
  expect(held[0]).toMatch(/^Normal Held .* is held by scaling-down-is-wanted: spec.scaleDown.policy is Forbid$/);
  const counts = copiesOfPoints(simulation.world.hosts);
  expect(NUMBERS.filter((number) => counts.get(number) !== 2)).toEqual([]);
});

test('what does not pass by itself is a warning', async () => {
  await applyCluster(aClusterOf(1, { apikey: 'hunter2' }))(client);
  await until('one peer', hasPeers(1));
  await applyCluster(aClusterOf(1, { apikey: 'hunter2', image: 'qdrant/qdrant:v1.21.0' }))(client);
  await until('it is told', (state) => statusIn(state)?.reason === 'UpgradePathInvalid');
  await applyCluster(aClusterOf(1, { apikey: 'hunter2', image: ' ' }))(client);
  await until('it is told', (state) => statusIn(state)?.reason === 'InvalidSpec');
  const events = await told();
  expect(events.filter((event) => event.startsWith('Warning'))).toEqual([
    'Warning UpgradePathInvalid from 1.19.0 to 1.21.0: go through 1.20 first; annotate qdrant.operator/allow-version-jump=true to do it all the same',
    'Warning InvalidSpec spec.image is empty; name an image with its tag',
  ]);
  expect(events.join()).not.toContain('hunter2');
});

test('volumes that grow are told', async () => {
  await client.patch(StorageClass, { name: 'standard' }, { type: 'merge', body: { allowVolumeExpansion: true } });
  await applyCluster(aClusterOf(1))(client);
  await until('one peer', hasPeers(1));
  await applyCluster(aClusterOf(1, { persistence: { size: '2Gi' } }))(client);
  const sizeIn = (state: State) =>
    setIn(state)?.spec?.volumeClaimTemplates?.[0]?.spec?.resources?.requests?.['storage'];
  await until('the template has the new size', (state) => hasPeers(1)(state) && sizeIn(state) === '2Gi');
  const events = (await told()).slice(2);
  expect(events[0]).toBe('Normal VolumeExpanded qdrant-storage-vectors-0: it has 1Gi, and 2Gi is wanted');
  expect(reasonsIn(events)).toEqual(['VolumeExpanded', 'StatefulSetRecreated']);
});
