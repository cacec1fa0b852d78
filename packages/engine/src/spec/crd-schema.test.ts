import { createApiServer } from '@polder/embedded/apiserver';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CrdSchema, crdSchema } from './crd-schema.ts';
import { aFlow, anyFlow, flowOfSecrets, kafkaSink, kafkaSource, wholeFlow } from './test-flows.ts';
import { validate } from './validate.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const FLOWS = '/apis/dataflow.dataflow.io/v1/namespaces/default/dataflows';

/** A server that has the kind, with nothing but the schema to judge it by. */
async function aServer() {
  const server = createApiServer();
  async function post(path: string, body: unknown): Promise<{ status: number; answer: Answer }> {
    const response = await server.handle({ method: 'POST', path, headers: {}, body: JSON.stringify(body) });
    const answer: Answer = JSON.parse(await response.text());
    return { status: response.status, answer };
  }
  const names = { kind: 'DataFlow', listKind: 'DataFlowList', plural: 'dataflows', singular: 'dataflow' };
  const openAPIV3Schema = { type: 'object', required: ['spec'], properties: { spec: crdSchema() } };
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }];
  const spec = { group: 'dataflow.dataflow.io', scope: 'Namespaced', names, versions };
  const metadata = { name: 'dataflows.dataflow.dataflow.io' };
  const apiVersion = 'apiextensions.k8s.io/v1';
  const created = await post(CRDS, { apiVersion, kind: 'CustomResourceDefinition', metadata, spec });
  expect(created).toMatchObject({ status: 201 });
  const flow = { apiVersion: 'dataflow.dataflow.io/v1', kind: 'DataFlow', metadata: { generateName: 'f-' } };
  return (flowSpec: unknown, query = '') => post(`${FLOWS}${query}`, { ...flow, spec: flowSpec });
}

const post = await aServer();

interface Answer {
  readonly message?: string;
  readonly spec?: unknown;
}

test('a server takes the schema and keeps every field of a valid flow, in both shapes', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyFlow.filter((spec) => validate(spec).errors.length === 0),
      async (spec) => {
        const { status, answer } = await post(spec, '?fieldValidation=Strict');
        expect(answer.message).toBeUndefined();
        expect({ status, spec: answer.spec }).toEqual({ status: 201, spec });
      },
    ),
    { numRuns: 50 },
  );
});

test.each([
  ['references to Secrets alone', flowOfSecrets],
  ['every field', wholeFlow],
])('a server takes %s', async (_name, spec) => {
  expect(await post(spec, '?fieldValidation=Strict')).toMatchObject({ status: 201, answer: { spec } });
});

test('a server takes what stands for nothing', async () => {
  const ref = { name: 'n', key: 'k' };
  const kafka = { brokers: [], brokersSecretRef: ref, topic: '', topicSecretRef: ref, format: '' };
  const spec = aFlow({ source: { type: 'kafka', kafka }, maintenance: { repeat: '', startTime: '', duration: '' } });
  expect(validate(spec).errors).toEqual([]);
  expect(await post(spec)).toMatchObject({ status: 201 });
});

describe('a server without the webhook refuses in the same words', () => {
  test.each<[string, unknown]>([
    ['an unknown type', aFlow({ source: { type: 'x' } })],
    ['no block', aFlow({ source: { type: 'kafka' } })],
    ['no block of a transformation', aFlow({ transformations: [{ type: 'flatten' }] })],
    ['no table', aFlow({ sink: { type: 'nessie', nessie: { baseURL: 'http://n', namespace: 'n' } } })],
    ['no namespace', aFlow({ sink: { type: 'nessie', nessie: { baseURL: 'http://n', table: 't' } } })],
    [
      'no block in a route',
      aFlow({
        transformations: [{ type: 'router', config: { routes: [{ condition: 'a', sink: { type: 'trino' } }] } }],
      }),
    ],
  ])('%s', async (_name, spec) => {
    const { status, answer } = await post(spec);
    const [error] = validate(spec).errors;
    expect(status).toBe(422);
    expect(answer.message).toContain(`${error?.field}: ${error?.type}`);
    expect(answer.message).toContain(error?.detail);
  });

  test.each<[string, unknown]>([
    ['both shapes', aFlow({ source: { ...kafkaSource, config: kafkaSource.kafka } })],
    ['the block of another type', aFlow({ sink: { ...kafkaSink, trino: {} } })],
    [
      'a reference without a key',
      aFlow({ sink: { type: 'kafka', config: { brokers: ['k'], topicSecretRef: { name: 'n' } } } }),
    ],
    ['no brokers', aFlow({ sink: { type: 'kafka', kafka: { topic: 't' } } })],
    ['a number where a text belongs', aFlow({ sink: { type: 'kafka', config: { brokers: ['k'], topic: 5 } } })],
    ['a duration without a unit', aFlow({ checkpointSaveInterval: '30' })],
    ['a pause of nothing', aFlow({ source: { type: 'trino', config: { pollInterval: 0 } } })],
  ])('%s', async (_name, spec) => {
    expect((await post(spec)).status).toBe(422);
  });
});

test('anything goes only where the types of a config differ, and in what Kubernetes checks', () => {
  expect(openPlaces(crdSchema(), '')).toEqual([
    '.transformations[].config.fields',
    '.resources.claims[]',
    '.affinity',
    '.tolerations[]',
    '.imagePullSecrets[]',
  ]);
});

test('the CRD is small enough for kubectl apply, which keeps a second copy of 256 KiB at most', () => {
  expect(JSON.stringify(crdSchema()).length).toBeLessThan(200_000);
});

function openPlaces(schema: CrdSchema, path: string): readonly string[] {
  return [
    ...(schema['x-kubernetes-preserve-unknown-fields'] === true ? [path] : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) => openPlaces(property, `${path}.${name}`)),
    ...(schema.items ? openPlaces(schema.items, `${path}[]`) : []),
  ];
}
