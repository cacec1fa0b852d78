import { Simulation } from '@polder/embedded/simulation';
import {
  type Client,
  ConfigMap,
  type JsonPatchOperation,
  type Kind,
  type KubernetesObject,
  keyOf,
  Secret,
} from '@polder/kube';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { drift, leavesOf, other, valueAt } from '../../../tools/blackbox/fields.ts';
import { DataFlow } from '../src/index.ts';
import { planFlow } from '../src/plan/index.ts';
import { kindOf } from './kinds.ts';
import { observed } from './states.ts';
import {
  createFlow,
  type FlowWorld,
  flowRef,
  flowWorld,
  isSettled,
  kafkaFlow,
  openDoor,
  polledFlow,
  putSecret,
  settings,
} from './world.ts';

const PATIENT = 300_000;

let simulation: Simulation<FlowWorld>;
let client: Client;
beforeEach(async () => {
  const intervals = { metricsMs: 300_000, countsMs: 600_000 };
  simulation = await new Simulation({ seed: 1, world: flowWorld({ intervals }, openDoor) }).start();
  client = simulation.client;
});
afterEach(() => simulation.end());

const flows: [string, object][] = [
  ['a flow with secrets and a checkpoint', polledFlow()],
  ['a flow with replicas', kafkaFlow({ replicas: 2, nodeSelector: { 'kubernetes.io/os': 'linux' } })],
];

/** The objects of the flow as its plan has them, each with its kind. */
async function startFlow(spec: object): Promise<readonly { kind: Kind; object: KubernetesObject }[]> {
  await putSecret('postgres://db')(client);
  await createFlow(spec)(client);
  await simulation.until('the flow is settled', isSettled, 60_000);
  const flow = await client.get(DataFlow, flowRef);
  const secret = await client.get(Secret, { namespace: 'default', name: 'database' });
  const seen = observed({ secrets: new Map([[keyOf(secret.metadata), secret]]) });
  return planFlow(flow, seen, new Date(simulation.clock.now()), settings).objects.map((object) => ({
    kind: kindOf(object),
    object,
  }));
}

describe.each(flows)('%s', (_name, spec) => {
  test(
    'has every field of every object back that somebody changes or removes',
    async () => {
      const objects = await startFlow(spec);
      let reverted = 0;
      for (const { kind, object } of objects) {
        for (const { pointer, value } of leavesOf(object)) {
          const changes: readonly JsonPatchOperation[] = [
            { op: 'replace', path: pointer, value: other(value) },
            { op: 'remove', path: pointer },
          ];
          for (const op of changes) {
            const before = valueAt(await client.get(kind, object.metadata), pointer);
            if (!(await drift(client, kind, object, op))) continue;
            const isBack = () => valueAt(simulation.state.get(kind, object.metadata), pointer) === before;
            await simulation.until(`${op.op} of ${pointer} in ${object.kind} is reverted`, isBack, 30_000);
            reverted++;
          }
        }
      }
      console.log(`${reverted} drifts reverted`);
      expect(reverted).toBeGreaterThan(60);
    },
    PATIENT,
  );

  test(
    'has every object back that somebody deletes',
    async () => {
      for (const { kind, object } of await startFlow(spec)) {
        const { metadata } = await client.get(kind, object.metadata);
        await client.delete(kind, object.metadata);
        const isBack = () => {
          const uid = simulation.state.get(kind, object.metadata)?.metadata.uid;
          return uid !== undefined && uid !== metadata.uid && isSettled(simulation.state);
        };
        await simulation.until(`${object.kind} ${object.metadata.name} is back`, isBack, 60_000);
      }
      expect(isSettled(simulation.state)).toBe(true);
    },
    PATIENT,
  );
});

test('what others add stays', async () => {
  await startFlow(polledFlow());
  const checkpoint = { namespace: 'default', name: 'df-orders-checkpoint' };
  const added = { metadata: { labels: { team: 'shop' } }, data: { postgresql: '17' } };
  await client.patch(ConfigMap, checkpoint, { type: 'merge', body: added });
  await client.patch(ConfigMap, checkpoint, { type: 'merge', body: { metadata: { labels: { app: 'other' } } } });
  const labels = () => simulation.state.get(ConfigMap, checkpoint)?.metadata.labels;
  await simulation.until('what is ours is back', () => labels()?.['app'] === 'dataflow-processor', 30_000);
  expect(labels()).toMatchObject({ team: 'shop' });
  expect(simulation.state.get(ConfigMap, checkpoint)?.data).toEqual({ postgresql: '17' });
});
