/** States of a flow, for tests that hand them to a plan: small ones to start from. */
import { type Deployment, type KubernetesObject, keyOf, type Pod, type PodStatus, type Secret } from '@polder/kube';
import type { Reading } from '../src/api/index.ts';
import type { DataFlow, GivenSpec } from '../src/kinds/index.ts';
import { HASH_ANNOTATION } from '../src/objects/index.ts';
import type { Observed } from '../src/observe.ts';
import { planFlow } from '../src/plan/index.ts';
import { DEFAULTS, type Settings } from '../src/settings.ts';

export const NOW = new Date('2026-03-01T12:00:00Z');
export const FLOW_UID = 'flow-uid';

export const settings: Settings = { ...DEFAULTS, processorImage: 'polder:1' };

/** From Kafka to Kafka. */
export const kafkaSpec = (more: GivenSpec = {}): GivenSpec => ({
  source: { type: 'kafka', kafka: { brokers: ['k:9092'], topic: 'in', consumerGroup: 'g' } },
  sink: { type: 'kafka', config: { brokers: ['k:9092'], topic: 'out' } },
  ...more,
});

export const URL_REF = { name: 'database', key: 'url' };

/** From PostgreSQL, whose connection string is in a Secret, to Kafka. */
export const polledSpec = (more: GivenSpec = {}): GivenSpec => ({
  source: { type: 'postgresql', postgresql: { connectionStringSecretRef: URL_REF, table: 'orders' } },
  sink: { type: 'kafka', config: { brokers: ['k:9092'], topic: 'out' } },
  ...more,
});

export function aFlow(
  spec: GivenSpec,
  more: Partial<Omit<DataFlow, 'metadata'>> & { metadata?: object } = {},
): DataFlow {
  const { metadata, ...rest } = more;
  return {
    apiVersion: 'dataflow.dataflow.io/v1',
    kind: 'DataFlow',
    metadata: { namespace: 'shop', name: 'orders', uid: FLOW_UID, generation: 1, ...metadata },
    spec,
    ...rest,
  };
}

export function aSecret(name: string, values: Readonly<Record<string, string>>, namespace = 'shop'): Secret {
  const data = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
  return { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name }, data };
}

export const SECRETS = secretsOf(aSecret('database', { url: 'postgres://shop:hunter2@db/shop' }));

export function secretsOf(...secrets: readonly Secret[]): ReadonlyMap<string, Secret> {
  return new Map(secrets.map((secret) => [keyOf(secret.metadata), secret]));
}

const NO_CHILDREN: Observed['children'] = {
  spec: undefined,
  secrets: undefined,
  checkpoint: undefined,
  account: undefined,
  role: undefined,
  binding: undefined,
  budget: undefined,
  deployment: undefined,
};

/** A cluster that has the Secrets of a flow, and nothing else of it. */
export function observed(
  more: Partial<Omit<Observed, 'children'>> & { readonly children?: Partial<Observed['children']> } = {},
): Observed {
  const { children, ...rest } = more;
  return {
    sets: [],
    pods: [],
    secrets: SECRETS,
    image: { known: true, value: 'polder:1' },
    readings: [],
    ...rest,
    children: { ...NO_CHILDREN, ...children },
  };
}

/** With the head that it has in the cluster: controlled by the flow. */
export function owned<T extends KubernetesObject>(object: T, uid = FLOW_UID): T {
  const owner = { apiVersion: 'dataflow.dataflow.io/v1', kind: 'DataFlow', name: 'orders', uid, controller: true };
  return { ...object, metadata: { ...object.metadata, generation: 1, ownerReferences: [owner] } };
}

/** The Deployment that a plan for the flow would apply, as it is when all its pods are ready. */
export function liveDeployment(flow: DataFlow, status: Deployment['status'] = {}, replicas = 1): Deployment {
  const found = planFlow(flow, observed(), NOW, settings).objects.find(
    (object): object is Deployment => object.kind === 'Deployment',
  );
  if (!found) throw new Error('the plan has no Deployment');
  const all = { observedGeneration: 1, replicas, updatedReplicas: replicas, readyReplicas: replicas };
  return { ...owned(found), status: { ...all, ...status } };
}

export function aPod(deployment: Deployment, status: PodStatus = {}, name = 'dataflow-orders-1'): Pod {
  const { metadata, spec } = deployment.spec?.template ?? {};
  const annotations = { [HASH_ANNOTATION]: metadata?.annotations?.[HASH_ANNOTATION] ?? '' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'shop', name, uid: `uid of ${name}`, annotations },
    ...(spec && { spec }),
    status,
  };
}

/** A pod whose container is in this state. */
export function podIn(
  deployment: Deployment,
  container: Partial<NonNullable<PodStatus['containerStatuses']>[number]>,
  name?: string,
): Pod {
  const whole = { name: 'processor', image: 'polder:1', imageID: '', ready: false, restartCount: 0, ...container };
  return aPod(deployment, { podIP: '10.0.0.1', containerStatuses: [whole] }, name);
}

export const aReading = (more: Partial<Reading> = {}): Reading => ({
  uid: 'a',
  pod: 'dataflow-orders-a',
  started: '1',
  processed: 0,
  errors: 0,
  movedAt: NOW.getTime(),
  isOver: false,
  ...more,
});
