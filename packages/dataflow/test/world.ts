import { clusterWorld, operator, type State, type World } from '@polder/embedded/simulation';
import { type Client, CustomResourceDefinition, crdOf, Deployment, type Pod, Secret, silentLogger } from '@polder/kube';
import { Type } from 'typebox';
import { DataFlow, DEFAULTS, dataflow, type ReadMetrics, type Settings } from '../src/index.ts';

export const flowRef = { namespace: 'default', name: 'orders' };

export const settings: Settings = { ...DEFAULTS, processorImage: 'polder:1' };

/** A spec that reads and writes Kafka. */
export const kafkaFlow = (more: object = {}) => ({
  source: { type: 'kafka', kafka: { brokers: ['k:9092'], topic: 'in', consumerGroup: 'g' } },
  sink: { type: 'kafka', config: { brokers: ['k:9092'], topic: 'out' } },
  ...more,
});

export const PASSWORD = { name: 'database', key: 'url' };

/** A spec that reads PostgreSQL, whose connection string is in a Secret. */
export const polledFlow = (more: object = {}) => ({
  source: { type: 'postgresql', postgresql: { connectionStringSecretRef: PASSWORD, table: 'orders' } },
  sink: { type: 'kafka', config: { brokers: ['k:9092'], topic: 'out' } },
  ...more,
});

export const createFlow =
  (spec: object, name = flowRef.name) =>
  (client: Client) =>
    client.create(DataFlow, { metadata: { ...flowRef, name }, spec: { ...spec } });

export const applyFlow = (spec: object) => (client: Client) =>
  client.apply(DataFlow, { metadata: flowRef, spec: { ...spec } }, { fieldManager: 'user', force: true });

export const putSecret =
  (url: string, name = PASSWORD.name, namespace = flowRef.namespace) =>
  (client: Client) =>
    client.apply(
      Secret,
      { metadata: { namespace, name }, data: { url: Buffer.from(url).toString('base64') } },
      { fieldManager: 'user', force: true },
    );

/** What processors would tell, by the name of their flow; a pod of another flow tells nothing. */
export class Meter {
  readonly #counts = new Map<string, { started: number; processed: number; errors: number }>();

  /** What the processor in a pod has counted since it started. */
  set({ metadata }: Pod, counts: { started: number; processed: number; errors: number }): void {
    this.#counts.set(metadata.uid ?? '', counts);
  }

  readonly read: ReadMetrics = async ({ metadata }) => {
    const { started, processed, errors } = this.#counts.get(metadata.uid ?? '') ?? {
      started: 1,
      processed: 0,
      errors: 0,
    };
    const labels = `namespace="${metadata.namespace}",name="${metadata.labels?.['dataflow.dataflow.io/name']}"`;
    return [
      `process_start_time_seconds ${started}`,
      `dataflow_task_operations_total{${labels},operation="sink_write",status="success"} ${processed}`,
      `dataflow_task_operations_total{${labels},operation="error_sink_write",status="success"} ${errors}`,
    ].join('\n');
  };
}

export interface FlowWorld extends World {
  readonly meter: Meter;
}

const OPEN = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** A cluster with simulated pods, and the operator beside it. */
export function flowWorld(options: Partial<Settings> = {}, crd: CustomResourceDefinition = crdOf(DataFlow)): FlowWorld {
  const meter = new Meter();
  const product = operator(({ clock }) => [
    dataflow({ settings: { ...settings, ...options }, readMetrics: meter.read, clock, log: silentLogger }),
  ]);
  const world = clusterWorld({
    actors: { operator: product },
    prepare: async (client) => {
      await client.create(CustomResourceDefinition, crd);
    },
  });
  return { ...world, meter };
}

/** The kind without its schema: every spec gets past the door, as it does where another version of the kind is installed. */
export const openDoor = crdOf({ ...DataFlow, rules: [], spec: Type.Unsafe(OPEN) });

export const statusIn = (state: State, name = flowRef.name) => state.get(DataFlow, { ...flowRef, name })?.status;
export const deploymentIn = (state: State) => state.get(Deployment, { ...flowRef, name: 'dataflow-orders' });

/** The flow has been looked at as it is now, and everything about it is as it should be. */
export function isSettled(state: State): boolean {
  const flow = state.get(DataFlow, flowRef);
  const ready = flow?.status?.conditions?.find(({ type }) => type === 'Ready');
  return flow?.status?.observedGeneration === flow?.metadata.generation && ready?.status === 'True';
}
