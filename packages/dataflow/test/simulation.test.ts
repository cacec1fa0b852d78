import {
  crashAtEveryWrite,
  disturbanceNames,
  disturbed,
  type Invariants,
  quiet,
  type Scenario,
  type State,
  seeds,
  simulate,
  stateWalk,
} from '@polder/embedded/simulation';
import {
  ConfigMap,
  Deployment,
  type Kind,
  Pod,
  PodDisruptionBudget,
  Role,
  RoleBinding,
  Secret,
  ServiceAccount,
} from '@polder/kube';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DataFlow } from '../src/index.ts';
import {
  applyFlow,
  deploymentIn,
  type FlowWorld,
  flowRef,
  flowWorld,
  isSettled,
  kafkaFlow,
  openDoor,
  polledFlow,
  putSecret,
  statusIn,
} from './world.ts';

/** Runs are many and machines differ. */
const PATIENT = 600_000;

/** Processors are asked so seldom that a run of half an hour is a short one. */
const world = () => flowWorld({ intervals: { metricsMs: 300_000, countsMs: 600_000 } }, openDoor);

const suspended = { maintenance: { suspended: true } };
const flow = (name: string) => ({ namespace: 'default', name });
const kinds: readonly Kind[] = [ConfigMap, Secret, ServiceAccount, Role, RoleBinding, PodDisruptionBudget, Deployment];

/** Everything that a flow can have comes and goes: secrets, a checkpoint, replicas, both strategies. */
const scenario: Scenario = [
  putSecret('postgres://one'),
  applyFlow(polledFlow()),
  putSecret('postgres://two'),
  applyFlow(kafkaFlow({ replicas: 3 })),
  applyFlow(kafkaFlow(suspended)),
  applyFlow(polledFlow({ checkpointReset: true })),
  putSecret('postgres://three'),
];

function isConverged(state: State): boolean {
  const secret = state.get(Secret, flow('dataflow-orders-secrets'))?.data?.['secrets.json'] ?? '';
  const deployment = deploymentIn(state);
  return (
    isSettled(state) &&
    statusIn(state)?.phase === 'Running' &&
    Buffer.from(secret, 'base64').includes('postgres://three') &&
    deployment?.spec?.strategy?.type === 'Recreate' &&
    state.list(PodDisruptionBudget).length === 0 &&
    state.get(ServiceAccount, flow('df-orders-processor')) !== undefined &&
    state.list(Pod).length === 1
  );
}

const isPolled = ({ spec }: Pod) => spec?.serviceAccountName === 'df-orders-processor';

const invariants: Invariants<FlowWorld> = {
  'a polled source has one reader'(state) {
    const pods = state.list(Pod).filter(isPolled);
    if (pods.length > 1) throw new Error(`there are ${pods.map(({ metadata }) => metadata.name).join(', ')}`);
  },
  'what a pod mounts and runs as is there'(state) {
    for (const pod of state.list(Pod).filter(isPolled)) {
      for (const [kind, name] of [
        [ServiceAccount, 'df-orders-processor'] as const,
        [Secret, 'dataflow-orders-secrets'] as const,
      ]) {
        if (!state.list<ServiceAccount | Secret>(kind).some(({ metadata }) => metadata.name === name))
          throw new Error(`${name} of pod ${pod.metadata.name} is gone`);
      }
    }
  },
  'no secret is in a ConfigMap'(state) {
    for (const { metadata, data } of state.list(ConfigMap)) {
      if (JSON.stringify(data ?? {}).includes('postgres://')) throw new Error(`${metadata.name} has one`);
    }
  },
};

describe('a flow ends as it was asked for last, never with two readers of one source, and is then left alone,', () => {
  test(
    'if the operator is killed at any of its writes',
    async () => {
      const writes = await crashAtEveryWrite({ world, scenario, isConverged, invariants });
      console.log(`killed before and after each of ${writes} writes`);
      expect(writes).toBeGreaterThan(25);
    },
    PATIENT,
  );

  test.each(disturbanceNames)(
    'after %s',
    async (by) => {
      const { state } = await disturbed({ world, scenario, isConverged, invariants, by });
      expect(isConverged(state)).toBe(true);
    },
    PATIENT,
  );

  test.each(seeds(5))(
    'whatever happens to the operator and to the cluster (seed %i)',
    async (seed) => {
      const simulation = await simulate({ seed, world, scenario, until: isConverged, invariants });
      expect(isConverged(simulation.state)).toBe(true);
      simulation.end();
    },
    PATIENT,
  );

  test(
    'for hours',
    async () => {
      expect(await quiet({ world, scenario, isConverged, forMs: 4 * 3_600_000 })).toBeUndefined();
    },
    PATIENT,
  );
});

describe('the way to a spec does not matter', () => {
  const secretRef = fc.constantFrom({ name: 'database', key: 'url' }, { name: 'missing', key: 'url' });
  const spec = fc.record(
    {
      source: fc.oneof(
        fc
          .record({
            brokers: fc.constant(['k:9092']),
            topic: fc.constantFrom('a', 'b'),
            consumerGroup: fc.constant('g'),
          })
          .map((kafka) => ({ type: 'kafka', kafka })),
        secretRef.map((connectionStringSecretRef) => ({
          type: 'postgresql',
          config: { connectionStringSecretRef, table: 't' },
        })),
        fc.constant({ type: 'kafka', kafka: { topic: 'without brokers' } }),
      ),
      sink: fc.constant({ type: 'kafka', config: { brokers: ['k:9092'], topic: 'out' } }),
      replicas: fc.constantFrom(0, 1, 2),
      resources: fc.constantFrom({}, { limits: { memory: '1Gi' } }),
      nodeSelector: fc.constantFrom({}, { 'kubernetes.io/os': 'linux' }),
      maintenance: fc.record({ suspended: fc.boolean() }),
      checkpointPersistence: fc.boolean(),
      terminationGracePeriodSeconds: fc.constantFrom(5, 60),
      transformations: fc.array(fc.constantFrom({ type: 'snakeCase' }, { type: 'camelCase' }), { maxLength: 2 }),
    },
    { requiredKeys: ['source', 'sink'] },
  );

  /** The flow has been looked at, and either all is as it should be or somebody has to act. */
  function isDecided(state: State): boolean {
    const { metadata, status } = state.get(DataFlow, flowRef) ?? {};
    const isTrue = (type: string) => status?.conditions?.some((one) => one.type === type && one.status === 'True');
    const isSeen = metadata !== undefined && status?.observedGeneration === metadata.generation;
    return isSeen && (isTrue('Ready') === true || isTrue('Stalled') === true);
  }

  const valid = { ...kafkaFlow() };

  test(
    'through any others, valid or not',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(spec, { minLength: 1, maxLength: 4 }), async (specs) => {
          // What an invalid spec leaves running is what was there before it, so the walk ends with a valid one.
          const walk = {
            world,
            isConverged: isDecided,
            kinds: kinds.filter((kind) => kind !== ConfigMap && kind !== Secret),
          };
          await stateWalk({ ...walk, specs: [...specs, valid], apply: (client, one) => applyFlow(one)(client) });
        }),
        { numRuns: 10 },
      );
    },
    PATIENT,
  );
});
