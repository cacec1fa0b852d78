import { Simulation, type State } from '@polder/embedded/simulation';
import {
  type Client,
  ConfigMap,
  Deployment,
  EventsV1Event,
  type Kind,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  Role,
  RoleBinding,
  Secret,
  ServiceAccount,
} from '@polder/kube';
import { afterEach, describe, expect, test } from 'vitest';
import type { Settings } from '../src/index.ts';
import { DataFlow } from '../src/index.ts';
import {
  applyFlow,
  createFlow,
  deploymentIn,
  type FlowWorld,
  flowRef,
  flowWorld,
  isSettled,
  kafkaFlow,
  polledFlow,
  putSecret,
  statusIn,
} from './world.ts';

let simulation: Simulation<FlowWorld>;
afterEach(() => simulation.end());

async function start(options: Partial<Settings> = {}): Promise<Client> {
  simulation = await new Simulation({ seed: 1, world: flowWorld(options) }).start();
  return simulation.client;
}

const until = (what: string, isSo: (state: State) => boolean) => simulation.until(what, isSo, 300_000);
const settled = () => until('the flow is settled', isSettled);
const message = () => statusIn(simulation.state)?.message;
const phaseIs = (phase: string) => (state: State) => statusIn(state)?.phase === phase;
const hashOf = (pod: Pod | undefined) => pod?.metadata.annotations?.['dataflow.dataflow.io/hash'];
const podsIn = (state: State) => state.list(Pod, 'default');
async function events(): Promise<readonly string[]> {
  await simulation.pass(5_000);
  const { items } = await simulation.client.list(EventsV1Event);
  const ours = items.filter(({ regarding }) => regarding?.kind === 'DataFlow');
  return ours.map(({ type, reason }) => `${type} ${reason}`).toSorted();
}
const writes = () => simulation.living('operator')?.writes ?? [];
const patch = (body: object) => (client: Client) => client.patch(DataFlow, flowRef, { type: 'merge', body });

test('a flow becomes a processor, with one write for each object, two of its status, and two events', async () => {
  const client = await start();
  await createFlow(kafkaFlow())(client);
  await settled();
  expect(statusIn(simulation.state)).toMatchObject({ phase: 'Running', message: 'Processor pod is running' });
  expect(writes().map(({ request }) => /\w+(\/status)?(?=\?|$)/.exec(request)?.[0])).toEqual([
    'spec',
    'orders',
    'orders/status',
    'events',
    'events',
    'orders/status',
  ]);
  expect(await events()).toEqual(['Normal ConfigMapCreated', 'Normal DeploymentCreated']);
});

test('an operator that is killed is followed by one that finds all in place, and writes nothing', async () => {
  const client = await start();
  await putSecret('postgres://db')(client);
  await createFlow(polledFlow({ resources: { requests: { cpu: '100m', memory: '64Mi' } } }))(client);
  await settled();
  await simulation.pass(60_000);
  simulation.living('operator')?.kill();
  simulation.revive('operator');
  await simulation.pass(600_000);
  expect(writes()).toEqual([]);
});

test('what is deleted takes all that was made for it along', async () => {
  const client = await start();
  await putSecret('postgres://db')(client);
  await createFlow(polledFlow())(client);
  await settled();
  await client.delete(DataFlow, flowRef);
  const kinds: readonly Kind[] = [Deployment, ReplicaSet, Pod, Role, RoleBinding, ConfigMap, Secret, ServiceAccount];
  const ours = (state: State) =>
    kinds
      .flatMap((kind) => state.list(kind, 'default'))
      .filter(({ metadata }) => metadata.labels?.['app'] === 'dataflow-processor');
  expect(ours(simulation.state)).toHaveLength(9);
  await until('all is gone', (state) => ours(state).length === 0);
  expect(simulation.state.get(Secret, { namespace: 'default', name: 'database' })).toBeDefined();
});

test('a flow that waits for its Secret says so, runs once it is there, and is replaced when it is rotated', async () => {
  const client = await start();
  await createFlow(polledFlow())(client);
  await until('it says what it lacks', phaseIs('Error'));
  expect(message()).toContain('failed to get secret default/database (for its key url): not found');
  expect(deploymentIn(simulation.state)).toBeUndefined();
  await putSecret('postgres://one')(client);
  await settled();
  const [before] = podsIn(simulation.state);
  await putSecret('postgres://two')(client);
  await until('another pod runs', (state) => isSettled(state) && hashOf(podsIn(state)[0]) !== hashOf(before));
  const secret = simulation.state.get(Secret, { namespace: 'default', name: 'dataflow-orders-secrets' });
  expect(Buffer.from(secret?.data?.['secrets.json'] ?? '', 'base64').toString()).toBe(
    '{"/source/postgresql/connectionString":"postgres://two"}',
  );
  await client.delete(Secret, { namespace: 'default', name: 'database' });
  await until('it says what it lacks', phaseIs('Error'));
  expect(podsIn(simulation.state)).toHaveLength(1);
});

test('an image of the operator is the image of its processors', async () => {
  const operator = { namespace: 'kube-system', name: 'polder' };
  const client = await start({ processorImage: undefined, operator });
  const image = (tag: string) =>
    client.apply(
      Deployment,
      {
        metadata: operator,
        spec: {
          selector: { matchLabels: { app: 'polder' } },
          template: {
            metadata: { labels: { app: 'polder' } },
            spec: { containers: [{ name: 'operator', image: `polder:${tag}` }] },
          },
        },
      },
      { fieldManager: 'user', force: true },
    );
  await createFlow(kafkaFlow())(client);
  await until('it waits for an image', phaseIs('Pending'));
  expect(message()).toContain('there is no Deployment kube-system/polder');
  await image('1');
  await settled();
  await image('2');
  const imageOf = (state: State) => podsIn(state).map(({ spec }) => spec?.containers[0]?.image);
  await until('the new image runs', (state) => isSettled(state) && imageOf(state).includes('polder:2'));
});

describe('a flow that is suspended', () => {
  test('stops, keeps its checkpoint, and goes on', async () => {
    const client = await start();
    await putSecret('postgres://db')(client);
    await createFlow(polledFlow())(client);
    await settled();
    const checkpoint = { namespace: 'default', name: 'df-orders-checkpoint' };
    await client.patch(ConfigMap, checkpoint, { type: 'merge', body: { data: { postgresql: '17' } } });
    await patch({ spec: { maintenance: { suspended: true } } })(client);
    await until('it has stopped', (state) => isSettled(state) && podsIn(state).length === 0);
    expect(statusIn(simulation.state)).toMatchObject({ phase: 'Stopped', message: 'Processor suspended manually' });
    await patch({ spec: { maintenance: null } })(client);
    await until('it runs again', (state) => isSettled(state) && phaseIs('Running')(state));
    expect(simulation.state.get(ConfigMap, checkpoint)?.data).toEqual({ postgresql: '17' });
  });

  test('stops even if its spec has become invalid', async () => {
    const client = await start();
    await putSecret('postgres://db')(client);
    await createFlow(polledFlow())(client);
    await settled();
    await client.delete(Secret, { namespace: 'default', name: 'database' });
    await patch({ spec: { maintenance: { suspended: true } } })(client);
    await until('it has stopped', (state) => podsIn(state).length === 0);
    expect(message()).toContain('Failed to resolve secrets');
  });
});

test('windows open and close by themselves', async () => {
  const client = await start();
  const startTime = new Date(simulation.clock.now() + 600_000).toISOString();
  await createFlow(kafkaFlow({ maintenance: { startTime, duration: '10m' } }))(client);
  await settled();
  await simulation.until('the window opens', phaseIs('Stopped'), 660_000);
  expect(statusIn(simulation.state)?.maintenanceStatus).toMatchObject({ inMaintenance: true });
  await simulation.until('the window closes', phaseIs('Running'), 660_000);
  expect(statusIn(simulation.state)?.maintenanceStatus).toMatchObject({ inMaintenance: false });
});

test.each([
  ['the spec', { spec: { checkpointReset: true } }],
  ['an annotation', { metadata: { annotations: { 'dataflow.dataflow.io/reset-checkpoint': 'true' } } }],
])('a reset asked for by %s empties the checkpoint once, between two processors', async (_how, body) => {
  const client = await start();
  await putSecret('postgres://db')(client);
  await createFlow(polledFlow())(client);
  await settled();
  const checkpoint = { namespace: 'default', name: 'df-orders-checkpoint' };
  await client.patch(ConfigMap, checkpoint, { type: 'merge', body: { data: { postgresql: '17' } } });
  const [before] = podsIn(simulation.state);
  await patch(body)(client);
  const isNew = (state: State) => podsIn(state).some(({ metadata }) => metadata.uid !== before?.metadata.uid);
  await until('it runs again', (state) => isSettled(state) && isNew(state));
  expect(simulation.state.get(ConfigMap, checkpoint)?.data ?? {}).toEqual({});
  const flow = simulation.state.get(DataFlow, flowRef);
  expect(flow?.spec['checkpointReset']).toBeUndefined();
  expect(flow?.metadata.annotations ?? {}).toEqual({});
});

test('a spec that got past the door makes nothing, and the flow says all that is wrong with it', async () => {
  const client = await start();
  const spec = kafkaFlow({
    transformations: [{ type: 'filter', config: { condition: '' } }],
    checkpointSaveInterval: '0s',
  });
  await createFlow(spec)(client);
  await until('it is judged', phaseIs('Error'));
  expect(message()).toMatch(/spec\.transformations\[0\]\.config\.condition.*spec\.checkpointSaveInterval/);
  expect(deploymentIn(simulation.state)).toBeUndefined();
  expect(await events()).toEqual(['Warning InvalidSpec']);
});

test('what Kubernetes refuses is told in its words', async () => {
  const client = await start();
  await createFlow(kafkaFlow({ nodeSelector: { disk: 'not a label!' } }))(client);
  await until('it is refused', phaseIs('Error'));
  expect(message()).toMatch(/^Failed to create what the flow needs: .*nodeSelector/);
});

test('a processor that crashes is told by its last words, and when it runs again', async () => {
  const client = await start();
  await createFlow(kafkaFlow())(client);
  await settled();
  const [pod] = podsIn(simulation.state);
  const annotate = (annotations: object) =>
    client.patch(
      Pod,
      { namespace: 'default', name: pod?.metadata.name ?? '' },
      { type: 'merge', body: { metadata: { annotations } } },
    );
  await annotate({
    'simulate.polder.io/exit-code': '1',
    'simulate.polder.io/exit-message': 'polder: no route to k:9092',
  });
  await until('it has crashed', phaseIs('Error'));
  expect(message()).toBe('Processor failed with exit code 1: polder: no route to k:9092');
  await annotate({ 'simulate.polder.io/exit-code': null, 'simulate.polder.io/exit-message': null });
  await simulation.until('it runs again', (state) => isSettled(state), 900_000);
  expect(await events()).toEqual(expect.arrayContaining(['Normal ProcessorRunning', 'Warning ProcessorFailed']));
});

test('replicas have a disruption budget, and one has none', async () => {
  const client = await start();
  await createFlow(kafkaFlow({ replicas: 3 }))(client);
  await settled();
  expect(message()).toBe('3 of 3 processor pods are running');
  expect(simulation.state.list(PodDisruptionBudget)).toHaveLength(1);
  await applyFlow(kafkaFlow({ replicas: 1 }))(client);
  await until('it is gone', (state) => isSettled(state) && state.list(PodDisruptionBudget).length === 0);
});

test('counts add up over pods and restarts, and idle flows write nothing', async () => {
  const client = await start();
  await createFlow(kafkaFlow())(client);
  await settled();
  const { meter } = simulation.world;
  const [pod] = podsIn(simulation.state);
  if (!pod) throw new Error('there is no pod');
  const processed = (count: number) => (state: State) => statusIn(state)?.processedCount === count;
  meter.set(pod, { started: 1, processed: 100, errors: 1 });
  await until('it is counted', processed(100));
  meter.set(pod, { started: 2, processed: 150, errors: 0 });
  await until('it is counted', processed(250));
  await client.delete(Pod, { namespace: 'default', name: pod.metadata.name });
  await until(
    'another one runs',
    (state) => isSettled(state) && podsIn(state).every(({ metadata }) => metadata.uid !== pod.metadata.uid),
  );
  const [next] = podsIn(simulation.state);
  if (!next) throw new Error('there is no pod');
  meter.set(next, { started: 3, processed: 1, errors: 0 });
  await until('it is counted', processed(251));
  expect(statusIn(simulation.state)).toMatchObject({ errorCount: 1, processors: [{ uid: next.metadata.uid }] });
  const before = writes().length;
  await simulation.pass(600_000);
  expect(writes()).toHaveLength(before);
  for (let count = 2; count <= 60; count++) {
    meter.set(next, { started: 3, processed: count, errors: 0 });
    await simulation.pass(10_000);
  }
  expect(writes().length - before).toBeLessThanOrEqual(11);
});
