/** The emitted CRDs before a real API server: it takes them, and it names the same fields of a bad object as we do. */
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { ApiError, Client, kubeconfig, socketTransport } from '../client/index.ts';
import { CustomResourceDefinition } from './builtin.ts';
import { crdOf, type Kind, structuralProblems, validate } from './index.ts';
import { aPipeline, ClusterThing, Everything, OldClusterThing, Pipeline } from './testdata/kinds.ts';

let client: Client;

beforeAll(async () => {
  const transport = socketTransport(await kubeconfig([inject('kubeconfig')]));
  client = new Client({ transport, userAgent: 'polder-kinds-test' });
});
afterAll(() => client.close());

test.each([
  ['a kind with every feature', crdOf(Pipeline)],
  ['a kind with core types inside', crdOf(Everything)],
  ['a kind in two versions', crdOf(ClusterThing, OldClusterThing)],
])('%s is accepted without a word, strictly read', async (_, crd) => {
  const made = await client.create(CustomResourceDefinition, crd, { dryRun: true, fieldValidation: 'Strict' });
  expect(made.spec.versions[0]?.schema).toEqual(crd.spec.versions[0]?.schema);
});

test('a CRD that structuralProblems objects to is refused by the server too', async () => {
  const crd = crdOf(ClusterThing);
  const broken = structuredClone(crd);
  const schema = { ...broken.spec.versions[0]?.schema?.openAPIV3Schema, properties: { spec: { maxLength: 3 } } };
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } };
  const bad = { ...crd, spec: { ...crd.spec, versions: [version] } };
  expect(structuralProblems(bad)).toContainEqual({ path: 'v1.spec', message: 'has no type' });
  await expect(client.create(CustomResourceDefinition, bad, { dryRun: true })).rejects.toMatchObject({ status: 422 });
});

describe('an object of a kind', () => {
  const kind: Kind = Pipeline;

  beforeAll(async () => {
    await client.create(CustomResourceDefinition, crdOf(Pipeline));
    await vi.waitFor(() => client.list(kind), { timeout: 60_000, interval: 200 });
  });
  afterAll(() => client.delete(CustomResourceDefinition, { name: 'pipelines.kinds.polder.dev' }));

  const create = (spec: object) =>
    client.create(
      kind,
      { ...aPipeline(spec), metadata: { name: 'p', namespace: 'default' } },
      {
        dryRun: true,
        fieldValidation: 'Strict',
      },
    );
  const refusal = async (spec: object): Promise<ApiError> => {
    const error: unknown = await create(spec).catch((reason: unknown) => reason);
    if (error instanceof ApiError) return error;
    throw new Error(`the server took ${JSON.stringify(spec)}`, { cause: error });
  };

  test.each([
    {},
    {
      sinks: [
        { type: 'postgres', table: 't', batchSize: 3 },
        { type: 'none', 'dry-run': true, namespace: 'n' },
      ],
    },
    { surge: 3, either: 'x', note: null, settings: [1, { deep: null }], open: { known: true, other: 1 } },
    { replicas: null, maxReplicas: null, labels: { 'a.b/c': 'x', gone: null } },
    { resources: { limits: { cpu: '500m', memory: 3 } }, affinity: { nodeAffinity: {} }, joined: { left: true } },
    { template: { spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 1 }] }] } } },
    { since: '2026-02-28T12:00:00.5+01:00', ratio: 0.5, login: '12345678', env: [{ name: 'A' }, { name: 'B' }] },
  ])('that validate accepts is accepted: %j', async (spec) => {
    expect(validate(Pipeline, aPipeline(spec))).toEqual([]);
    await expect(create(spec)).resolves.toMatchObject({
      spec: { image: 'w:1', delivery: 'at-least-once', replicas: 1 },
    });
  });

  test.each([
    { replicas: 101, delivery: 'maybe', image: '', ratio: 1, maxReplicas: 0, since: 'now' },
    { topics: [] },
    { topics: ['A'] },
    { topics: ['a', 'b', 'a'] },
    { topics: 'a' },
    { image: null },
    { surge: true },
    { labels: { a: 3 } },
    { labels: { a: 'x'.repeat(64) } },
    { since: '2026-02-30T12:00:00Z' },
    { env: [{ name: 'A' }, { name: 'A' }] },
    { sink: {} },
    { sink: { type: 'pigeon' } },
    { sink: { type: 'kafka', table: 't' } },
    { sink: { type: 'none', batchSize: 3 } },
    { sinks: [{ type: 'none' }, { type: 'postgres', 'dry-run': true }] },
    { open: {} },
    { resources: { limits: { cpu: 'much' } } },
    { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{}] } } },
  ])('that validate refuses is refused for the same fields: %j', async (spec) => {
    const paths = new Set(validate(Pipeline, aPipeline(spec)).map(({ path }) => path));
    expect(paths).not.toEqual(new Set());
    const { causes } = await refusal(spec);
    // After a broken field the server says once more that it did not come to the rules.
    const fields = causes.map(({ field }) => field).filter((field) => field !== undefined && field !== '<nil>');
    expect(new Set(fields)).toEqual(paths);
  });

  test('with an unknown field is refused by a strict server in the place that validate names', async () => {
    const { message } = await refusal({ replica: 3, sink: { type: 'kafka', topic: 'a', batchsize: 3 } });
    expect(message).toContain('unknown field "spec.replica"');
    expect(message).toContain('unknown field "spec.sink.batchsize"');
    const problems = validate(Pipeline, aPipeline({ replica: 3, sink: { type: 'kafka', topic: 'a', batchsize: 3 } }));
    expect(problems.map(({ path }) => path)).toEqual(['spec.replica', 'spec.sink.batchsize']);
  });

  test('is held to the rules by the server, in the words of the kind', async () => {
    expect((await refusal({ replicas: 4, maxReplicas: 3 })).message).toContain('replicas may not exceed maxReplicas');
    const sink = { type: 'kafka', topic: 'single', partitions: 3 };
    expect((await refusal({ sink })).message).toContain('the topic single has no partitions');
    expect((await refusal({ sink: { type: 'none', topic: 'a' } })).message).toContain('topic is only for type kafka');
  });
});
