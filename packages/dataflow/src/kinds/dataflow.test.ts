import { createApiServer } from '@polder/embedded/apiserver';
import { Client, CustomResourceDefinition, crdOf, structuralProblems } from '@polder/kube';
import { describe, expect, test } from 'vitest';
import { kafkaSpec, polledSpec } from '../../test/states.ts';
import { DataFlow, type GivenSpec } from './dataflow.ts';

const server = createApiServer();
const client = new Client({ transport: server.transport(), userAgent: 'test' });
await client.create(CustomResourceDefinition, crdOf(DataFlow));

const create = (spec: GivenSpec, name?: string) => {
  const metadata = { namespace: 'default', ...(name === undefined ? { generateName: 'f-' } : { name }) };
  return client.create(DataFlow, { metadata, spec });
};

test('the definition is one that an API server takes, under the names that users know', () => {
  const crd = crdOf(DataFlow);
  expect(structuralProblems(crd)).toEqual([]);
  expect(crd.metadata.name).toBe('dataflows.dataflow.dataflow.io');
  expect(crd.spec.names).toEqual({
    kind: 'DataFlow',
    listKind: 'DataFlowList',
    plural: 'dataflows',
    singular: 'dataflow',
    shortNames: ['df'],
  });
  expect(JSON.stringify(crd).length).toBeLessThan(256 * 1024);
});

test('both shapes are taken and stay as they are', async () => {
  expect((await create(polledSpec())).spec).toEqual(polledSpec());
});

test('kubectl get shows how flows are doing', async () => {
  const { metadata } = await create(kafkaSpec());
  const status = { phase: 'Running', message: 'ok', processedCount: 17, errorCount: 2 } as const;
  await client.apply(
    DataFlow,
    { metadata: { namespace: 'default', name: metadata.name }, status },
    {
      fieldManager: 'test',
      subresource: 'status',
    },
  );
  const response = await server.handle({
    method: 'GET',
    path: `/apis/dataflow.dataflow.io/v1/namespaces/default/dataflows/${metadata.name}`,
    headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
  });
  const table: { columnDefinitions: { name: string }[]; rows: { cells: unknown[] }[] } = JSON.parse(
    await response.text(),
  );
  expect(table.columnDefinitions.map(({ name }) => name)).toEqual([
    'Name',
    'Phase',
    'Source',
    'Sink',
    'Processed',
    'Errors',
    'Message',
    'Age',
  ]);
  expect(table.rows[0]?.cells.slice(1, 7)).toEqual(['Running', 'kafka', 'kafka', 17, 2, 'ok']);
});

describe('the server refuses by itself', () => {
  test.each<[string, object, string]>([
    ['several processors of a polled source', polledSpec({ replicas: 2 }), 'spec.replicas: Invalid value'],
    ['half a window', kafkaSpec({ maintenance: { duration: '2h' } }), 'startTime and duration are given together'],
    [
      'an affinity of another kind',
      { ...kafkaSpec(), affinity: { nodeAffinity: 'ssd' } },
      'spec.affinity.nodeAffinity',
    ],
    [
      'a source without its block',
      { ...kafkaSpec(), source: { type: 'trino' } },
      'trino source configuration is required',
    ],
  ])('%s', async (_what, spec, message) => {
    await expect(create(JSON.parse(JSON.stringify(spec)))).rejects.toThrow(message);
  });

  test('a name that is too long for a label', async () => {
    await expect(create(kafkaSpec(), 'n'.repeat(64))).rejects.toThrow('the name must have at most 63 characters');
    await expect(create(kafkaSpec(), 'n'.repeat(63))).resolves.toBeDefined();
  });
});
