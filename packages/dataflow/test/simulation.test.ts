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
import { ConfigMap, type KubernetesObject, Pod, PodDisruptionBudget, Secret, ServiceAccount } from '@polder/kube';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { DataFlow } from '../src/index.ts';
import { kinds } from './kinds.ts';
import {
  applyFlow,
  deploymentIn,
  type FlowWorld,
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

let runs = 0;
afterAll(() => console.log(`${runs} runs, each of a flow, its operator and its cluster from the start`));

/** Processors are asked so seldom that a run of half an hour is a short one. */
const world = () => {
  runs++;
  return flowWorld({ intervals: { metricsMs: 300_000, countsMs: 600_000 } }, openDoor);
};

const suspended = { maintenance: { suspended: true } };
const flow = (name: string) => ({ namespace: 'default', name });

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

/** What a pod was told to read: the spec that there was when it was made. (A change of replicas goes to the old template first.) */
const told = new WeakMap<State, Map<string, boolean>>();

function readersIn(state: State): readonly string[] {
  const known = told.get(state) ?? new Map<string, boolean>();
  told.set(state, known);
  const isPolled =
    state.get(ConfigMap, flow('dataflow-orders-spec'))?.data?.['spec.json']?.includes('"postgresql"') === true;
  const names = state
    .list(Pod)
    .filter((pod) => !hasEnded(pod))
    .map(({ metadata }) => metadata.name);
  for (const name of names) if (!known.has(name)) known.set(name, isPolled);
  return names.filter((name) => known.get(name));
}

/** A Deployment that makes pods only after others waits for their containers, not for what is left of them in the API. */
const hasEnded = ({ status }: Pod) => status?.phase === 'Succeeded' || status?.phase === 'Failed';

const hasAccount = ({ spec }: Pod) => spec?.serviceAccountName === 'df-orders-processor';

const invariants: Invariants<FlowWorld> = {
  'a polled source has one reader'(state) {
    const readers = readersIn(state);
    if (readers.length > 1) throw new Error(`there are ${readers.join(', ')}`);
  },
  'what a pod mounts and runs as is there'(state) {
    for (const pod of state.list(Pod).filter(hasAccount)) {
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
  /** Parts of the whole: the runs are twice as many as the writes. */
  test.each<[string, Scenario]>([
    [
      'while a Secret is rotated',
      [putSecret('postgres://two'), applyFlow(polledFlow()), putSecret('postgres://three')],
    ],
    [
      'while it becomes one that polls',
      [
        applyFlow(kafkaFlow({ replicas: 2 })),
        putSecret('postgres://three'),
        applyFlow(polledFlow({ checkpointReset: true })),
      ],
    ],
  ])(
    'if the operator is killed at any of its writes %s',
    async (_while, scenario) => {
      const writes = await crashAtEveryWrite({ world, scenario, isConverged, invariants });
      console.log(`killed before and after each of ${writes} writes`);
      expect(writes).toBeGreaterThan(10);
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

  test.each(seeds(15))(
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

describe('the way to a spec does not matter,', () => {
  const kafkaSource = fc.constantFrom('a', 'b').map((topic) => {
    return { type: 'kafka', kafka: { brokers: ['k:9092'], topic, consumerGroup: 'g' } };
  });
  const polledSource = (name: string) => {
    const config = { connectionStringSecretRef: { name, key: 'url' }, table: 'orders' };
    return { type: 'postgresql', config };
  };
  const invalidSource = { type: 'kafka', kafka: { topic: 'without brokers' } };
  const anySpec = (source: fc.Arbitrary<object>, replicas: readonly number[]) =>
    fc.record(
      {
        source,
        sink: fc.constant({ type: 'kafka', config: { brokers: ['k:9092'], topic: 'out' } }),
        replicas: fc.constantFrom(...replicas),
        resources: fc.constantFrom({ limits: { memory: '1Gi' } }, { limits: { memory: '2Gi' } }),
        nodeSelector: fc.constant({ 'kubernetes.io/os': 'linux' }),
        maintenance: fc.record({ suspended: fc.boolean() }),
        terminationGracePeriodSeconds: fc.constantFrom(5, 60),
        transformations: fc.array(
          fc.constantFrom({ type: 'snakeCase', config: {} }, { type: 'camelCase', camelCase: {} }),
          { maxLength: 2 },
        ),
      },
      { requiredKeys: ['source', 'sink'] },
    );
  const sources = fc.oneof(
    kafkaSource,
    fc.constantFrom(polledSource('database'), polledSource('missing'), invalidSource),
  );
  const way = fc.array(anySpec(sources, [0, 1, 2]), { minLength: 1, maxLength: 4 });

  /** What others have done about a Deployment or a budget, and say of it, is the way. */
  const view = (object: KubernetesObject) =>
    ['Deployment', 'PodDisruptionBudget'].includes(object.kind) && 'spec' in object
      ? { labels: object.metadata.labels, spec: object.spec }
      : object;

  // What an invalid spec leaves running is what ran before, so each walk ends with a valid one. What is left of a checkpoint
  // that is not used any more is the one trace that a way leaves.
  test.each([
    ['to one that shares a topic', anySpec(kafkaSource, [0, 1, 3]), kinds.filter((kind) => kind !== ConfigMap)],
    ['to one that polls', anySpec(fc.constant(polledSource('database')), [0, 1]), kinds],
  ])(
    '%s, through any others, valid or not',
    async (_end, end, compared) => {
      await fc.assert(
        fc.asyncProperty(way, end, async (before, last) => {
          await stateWalk<FlowWorld, object>({
            world,
            specs: [...before, last],
            apply: async (client, spec) => {
              await putSecret('postgres://db')(client);
              await applyFlow(spec)(client);
            },
            isConverged: isSettled,
            view,
            kinds: [DataFlow, ...compared],
          });
        }),
        { numRuns: 10 },
      );
    },
    PATIENT,
  );
});
