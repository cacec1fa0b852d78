/** What the architecture of the operator says may go wrong, and what then has to be so all the same. */
import { Simulation, type State } from '@polder/embedded/simulation';
import { type Client, ConfigMap, PersistentVolumeClaim, Secret, StatefulSet } from '@polder/kube';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { QdrantCluster } from '../src/index.ts';
import {
  aClusterOf,
  applyCluster,
  hasPeers,
  isSettled,
  type QdrantWorld,
  qdrantWorld,
  setIn,
  statusIn,
  vectors,
} from './world.ts';

// What takes minutes in there takes seconds here, and more of them on a machine that has other things to do.
vi.setConfig({ testTimeout: 120_000 });

let simulation: Simulation<QdrantWorld>;
let client: Client;
beforeEach(async () => {
  simulation = await new Simulation({ seed: 1, world: qdrantWorld() }).start();
  client = simulation.client;
});
afterEach(() => simulation.end());

const until = (what: string, isSo: (state: State) => boolean) => simulation.until(what, isSo, 900_000);
const annotate = (value: string) =>
  client.patch(QdrantCluster, vectors, { type: 'merge', body: { metadata: { annotations: { note: value } } } });

/** How often the first peer was asked for its view: once in each pass. */
const passes = () =>
  simulation.world.hosts.qdrant.requests.filter(({ host, path }) => host.startsWith('vectors-0') && path === '/cluster')
    .length;

test('a hundred changes that come while a cluster is looked at are one more look', async () => {
  await applyCluster(aClusterOf(1))(client);
  await until('one peer', hasPeers(1));
  await simulation.pass(10_000);
  const before = passes();
  simulation.world.hosts.qdrant.setFaults('http://vectors-0.vectors-headless.default:6335', { latencyMs: 2_000 });
  await annotate('first');
  await until('it is looked at', () => passes() === before + 1);
  for (let change = 0; change < 100; change++) await annotate(String(change));
  await simulation.pass(60_000);
  expect(passes()).toBe(before + 2);
});

describe('whoever changes a StatefulSet by hand gets it back as it was:', () => {
  beforeEach(async () => {
    const spec = aClusterOf(1, {
      resources: { limits: { memory: '1Gi' } },
      tolerations: [{ key: 'dedicated', operator: 'Exists' }],
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, preference: { matchExpressions: [{ key: 'disk', operator: 'Exists' }] } },
        ],
      },
    });
    await applyCluster(spec)(client);
    await until('one peer', hasPeers(1));
  });

  const AFFINITY = '/spec/template/spec/affinity/nodeAffinity/preferredDuringSchedulingIgnoredDuringExecution';
  const container = '/spec/template/spec/containers/0';
  test.each<[string, string, unknown]>([
    ['replicas', '/spec/replicas', 3],
    ['image', `${container}/image`, 'qdrant/qdrant:v1.20.0'],
    ['resources', `${container}/resources/limits/memory`, '9Gi'],
    ['env', `${container}/env/3/value`, 'false'],
    ['volumes', '/spec/template/spec/volumes/0/configMap/name', 'another'],
    ['affinity', `${AFFINITY}/0/weight`, 9],
    ['tolerations', '/spec/template/spec/tolerations/0/key', 'another'],
    ['the way pods are replaced', '/spec/updateStrategy', { type: 'RollingUpdate' }],
  ])('%s', async (_what, path, value) => {
    const before = setIn(simulation.state)?.spec;
    await client.patch(StatefulSet, vectors, { type: 'json', operations: [{ op: 'replace', path, value }] });
    expect(setIn(simulation.state)?.spec).not.toEqual(before);
    await until('it is as it was', (state) => JSON.stringify(setIn(state)?.spec) === JSON.stringify(before));
    expect(simulation.state.list(StatefulSet)).toHaveLength(1);
  });
});

test('a cache that does not hear of a Secret makes no second key', async () => {
  simulation.server.faults.on({ verb: 'watch', plural: 'secrets', userAgent: 'operator' }, { do: 'delay', ms: 60_000 });
  await applyCluster(aClusterOf(1, { apikey: 'true' }))(client);
  const key = (state: State) => state.get(Secret, { ...vectors, name: 'vectors-apikey' });
  await until('there is a key', (state) => key(state) !== undefined);
  const first = key(simulation.state);
  await until('one peer', hasPeers(1));
  expect(key(simulation.state)?.metadata.uid).toBe(first?.metadata.uid);
  expect(key(simulation.state)?.data).toEqual(first?.data);
});

test('a peer that comes keeps its volume, although the write that asked for it was called a failure', async () => {
  await applyCluster(aClusterOf(2))(client);
  await until('two peers', hasPeers(2));
  const { faults } = simulation.server;
  const userAgent = 'operator';
  // When it tries again, all that it has heard of is the volume.
  const heals = ['statefulsets', 'pods'].map((plural) =>
    faults.on({ plural, verb: 'watch', userAgent }, { do: 'silence' }),
  );
  faults.on({ plural: 'statefulsets', verb: 'patch', userAgent, count: 1 }, { do: 'fail', when: 'after' });
  faults.on({ subresource: 'status', verb: 'patch', userAgent, count: 1 }, { do: 'slow', ms: 50 });
  await applyCluster(aClusterOf(3))(client);
  const uids = () => simulation.state.list(PersistentVolumeClaim).map(({ metadata }) => metadata.uid);
  await until('there are three volumes', () => uids().length === 3);
  const before = uids();
  await simulation.pass(10_000);
  for (const heal of heals) heal();
  await until('three peers', hasPeers(3));
  expect(uids()).toEqual(before);
});

test('what changes while no event arrives is done at the next look that comes without one', async () => {
  await applyCluster(aClusterOf(1))(client);
  await until('one peer', hasPeers(1));
  const heal = simulation.server.faults.on({ verb: 'watch', userAgent: 'operator' }, { do: 'silence' });
  await client.patch(StatefulSet, vectors, {
    type: 'json',
    operations: [{ op: 'replace', path: '/spec/replicas', value: 0 }],
  });
  await simulation.pass(60_000);
  expect(setIn(simulation.state)?.spec?.replicas).toBe(0);
  heal();
  await until('it is as it was', (state) => setIn(state)?.spec?.replicas === 1);
});

describe('a cluster that can not be cleaned up', () => {
  const stuck = async () => {
    await applyCluster(aClusterOf(1, { deletionPolicy: { pvc: 'Delete' } }))(client);
    await until('one peer', hasPeers(1));
    simulation.server.faults.on(
      { verb: 'delete', plural: 'persistentvolumeclaims', userAgent: 'operator' },
      { do: 'fail', when: 'before' },
    );
    await client.delete(QdrantCluster, vectors);
  };

  test('counts its attempts where the next operator finds them, and is let go of after ten', async () => {
    await stuck();
    await until('it was tried', (state) => (statusIn(state)?.cleanupAttempts ?? 0) >= 3);
    const before = statusIn(simulation.state)?.cleanupAttempts ?? 0;
    simulation.living('operator')?.kill();
    simulation.revive('operator');
    await until('it is tried again', (state) => (statusIn(state)?.cleanupAttempts ?? 99) > before);
    expect(statusIn(simulation.state)?.cleanupAttempts).toBe(before + 1);
    await until('it is gone', (state) => statusIn(state) === undefined);
    expect(simulation.state.list(PersistentVolumeClaim)).toHaveLength(1);
  });

  test('is let go of at once by whoever says so', async () => {
    await stuck();
    await until('it was tried', (state) => (statusIn(state)?.cleanupAttempts ?? 0) >= 1);
    const body = { metadata: { annotations: { 'qdrant.operator/force-delete': 'true' } } };
    await client.patch(QdrantCluster, vectors, { type: 'merge', body });
    await until('it is gone', (state) => statusIn(state) === undefined);
    expect(simulation.state.list(PersistentVolumeClaim)).toHaveLength(1);
  });
});

test('a status that is written while events come is no reason to miss one', async () => {
  await applyCluster(aClusterOf(1))(client);
  await until('one peer', hasPeers(1));
  for (const log_level of ['DEBUG', 'INFO', 'WARN', 'ERROR']) {
    await applyCluster(aClusterOf(1, { config: { log_level } }))(client);
    await simulation.pass(300);
  }
  await until('the last one is done', isSettled);
  expect(simulation.state.get(ConfigMap, vectors)?.data?.['production.yaml']).toContain('ERROR');
  const generation = simulation.state.get(QdrantCluster, vectors)?.metadata.generation;
  expect(statusIn(simulation.state)?.observedGeneration).toBe(generation);
});
