import {
  configMap,
  configMaps,
  deployment,
  deployments,
  pod,
  pods,
  service,
  services,
  statefulSet,
  statefulSets,
} from './objects.ts';
import { expect, topic } from './suite.ts';
import { Watch } from './watch-reader.ts';
import type { Answer, Body } from './wire.ts';

const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };

interface Table {
  readonly kind: string;
  readonly apiVersion: string;
  readonly columnDefinitions: readonly { readonly name: string; readonly type: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: Body }[];
}

function tableOf(answer: Answer): Table {
  expect(answer.status).toBe(200);
  const table: Table = JSON.parse(answer.text);
  expect(table).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
  return table;
}

const columns = (table: Table, priority = 0) =>
  table.columnDefinitions.filter((column) => column.priority <= priority).map(({ name }) => name);

/** The cells of the first row by column, without the age. */
function firstRow(table: Table): Record<string, unknown> {
  const cells = table.rows[0]?.cells ?? [];
  const entries = table.columnDefinitions.map(({ name }, index) => [name, cells[index]] as const);
  return Object.fromEntries(entries.filter(([name]) => name !== 'Age'));
}

export const tables = topic('tables', (promise) => {
  promise('of pods: readiness, status, restarts', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    await wire.must(wire.create(path, pod('a', { nodeName: 'n1' })));
    const table = tableOf(await wire.get(path, TABLE));
    expect(columns(table)).toEqual(['Name', 'Ready', 'Status', 'Restarts', 'Age']);
    expect(columns(table, 1).slice(5)).toEqual(['IP', 'Node', 'Nominated Node', 'Readiness Gates']);
    expect(firstRow(table)).toEqual({
      Name: 'a',
      Ready: '0/1',
      Status: 'Pending',
      Restarts: '0',
      IP: '<none>',
      Node: 'n1',
      'Nominated Node': '<none>',
      'Readiness Gates': '<none>',
    });
  });

  promise('of a pod that is going say so', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    await wire.must(wire.create(path, pod('a', { nodeName: 'n1' })));
    await wire.must(wire.delete(`${path}/a`));
    expect(firstRow(tableOf(await wire.get(path, TABLE)))).toMatchObject({ Status: 'Terminating' });
  });

  promise('of a pod whose container waits give the reason', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    await wire.must(wire.create(path, pod('a', { nodeName: 'n1' })));
    await wire.must(
      wire.patch('merge', `${path}/a/status`, {
        status: {
          phase: 'Running',
          podIP: '10.0.0.9',
          containerStatuses: [
            {
              name: 'main',
              image: 'a',
              imageID: '',
              ready: false,
              restartCount: 4,
              state: { waiting: { reason: 'CrashLoopBackOff' } },
            },
          ],
        },
      }),
    );
    expect(firstRow(tableOf(await wire.get(path, TABLE)))).toMatchObject({
      Ready: '0/1',
      Status: 'CrashLoopBackOff',
      Restarts: '4',
      IP: '10.0.0.9',
    });
  });

  promise('of deployments', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    await wire.must(wire.create(path, deployment('a', { replicas: 2 })));
    await wire.must(
      wire.patch('merge', `${path}/a/status`, {
        status: { replicas: 2, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1 },
      }),
    );
    const table = tableOf(await wire.get(path, TABLE));
    expect(firstRow(table)).toEqual({
      Name: 'a',
      Ready: '1/2',
      'Up-to-date': 2,
      Available: 1,
      Containers: 'main',
      Images: 'example.com/main:1',
      Selector: 'app=a',
    });
    expect(columns(table)).toEqual(['Name', 'Ready', 'Up-to-date', 'Available', 'Age']);
  });

  promise('of stateful sets', async ({ wire, namespace }) => {
    const path = statefulSets(await namespace());
    await wire.must(wire.create(path, statefulSet('a', { replicas: 2 })));
    const table = tableOf(await wire.get(path, TABLE));
    expect(columns(table)).toEqual(['Name', 'Ready', 'Age']);
    expect(firstRow(table)).toMatchObject({ Name: 'a', Ready: '0/2' });
  });

  promise('of services', async ({ wire, namespace }) => {
    const path = services(await namespace());
    await wire.must(
      wire.create(
        path,
        service('a', {
          ports: [
            { name: 'web', port: 80 },
            { name: 'dns', port: 53, protocol: 'UDP' },
          ],
        }),
      ),
    );
    const table = tableOf(await wire.get(path, TABLE));
    expect(columns(table)).toEqual(['Name', 'Type', 'Cluster-IP', 'External-IP', 'Port(s)', 'Age']);
    expect(firstRow(table)).toMatchObject({
      Name: 'a',
      Type: 'ClusterIP',
      'Cluster-IP': expect.stringMatching(/^10\./),
      'External-IP': '<none>',
      'Port(s)': '80/TCP,53/UDP',
      Selector: 'app=a',
    });
  });

  promise('of config maps count the data', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a', { x: '1', y: '2' })));
    expect(firstRow(tableOf(await wire.get(path, TABLE)))).toEqual({ Name: 'a', Data: 2 });
  });

  promise('of namespaces show the phase', async ({ wire, namespace }) => {
    const ns = await namespace();
    expect(firstRow(tableOf(await wire.get(`/api/v1/namespaces/${ns}`, TABLE)))).toEqual({
      Name: ns,
      Status: 'Active',
    });
  });

  promise('show the age', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a')));
    const table = tableOf(await wire.get(path, TABLE));
    expect(table.rows[0]?.cells.at(-1)).toMatch(/^\d+s$/);
  });

  promise('carry the metadata of each row', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a', { k: 'v' })));
    const [row] = tableOf(await wire.get(path, TABLE)).rows;
    expect(row?.object).toMatchObject({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { name: 'a' },
    });
    expect(row?.object).not.toHaveProperty('data');
  });

  promise('carry the whole object, or nothing, when asked', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a', { k: 'v' })));
    const whole = tableOf(await wire.get(`${path}?includeObject=Object`, TABLE));
    expect(whole.rows[0]?.object).toMatchObject({ kind: 'ConfigMap', data: { k: 'v' } });
    const none = tableOf(await wire.get(`${path}?includeObject=None`, TABLE));
    expect(none.rows[0]?.object).toBeNull();
  });

  promise('of one object have one row', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a')));
    expect(tableOf(await wire.get(`${path}/a`, TABLE)).rows).toHaveLength(1);
  });

  promise('come in pages', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a')));
    await wire.must(wire.create(path, configMap('b')));
    const answer = await wire.get(`${path}?limit=1`, TABLE);
    expect(tableOf(answer).rows).toHaveLength(1);
    expect(answer.body.metadata).toMatchObject({ continue: expect.any(String), remainingItemCount: 1 });
  });

  promise('of a watch carry the columns once', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a')));
    await wire.must(wire.create(path, configMap('b')));
    await using events = await Watch.open(wire, `${path}?watch=true`, TABLE);
    const seen = [await events.next(), await events.next()];
    expect(seen).toMatchObject([
      {
        type: 'ADDED',
        object: {
          kind: 'Table',
          columnDefinitions: expect.any(Array),
          rows: [{ cells: ['a', 0, expect.any(String)] }],
        },
      },
      {
        type: 'ADDED',
        object: { kind: 'Table', columnDefinitions: null, rows: [{ cells: ['b', 0, expect.any(String)] }] },
      },
    ]);
  });

  promise('of custom resources without columns show name and age', async ({ wire, namespace, customResource }) => {
    const custom = await customResource();
    const path = custom.collection(await namespace());
    await wire.must(wire.create(path, custom.widget('a')));
    const table = tableOf(await wire.get(path, TABLE));
    expect(columns(table)).toEqual(['Name', 'Age']);
  });

  promise('of custom resources show the columns of the definition', async ({ wire, namespace, customResource }) => {
    const custom = await customResource({
      columns: [
        { name: 'Size', type: 'integer', jsonPath: '.spec.size', description: 'How big it is.' },
        { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
        { name: 'First', type: 'string', jsonPath: '.spec.list[0]' },
        { name: 'Since', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        { name: 'Missing', type: 'string', jsonPath: '.spec.missing' },
        { name: 'Detail', type: 'string', jsonPath: '.spec.detail', priority: 1 },
      ],
    });
    const path = custom.collection(await namespace());
    await wire.must(
      wire.create(
        path,
        custom.widget('a', {
          spec: { size: 3, list: ['x', 'y'], detail: 'long' },
          status: {
            conditions: [
              { type: 'Other', status: 'False' },
              { type: 'Ready', status: 'True' },
            ],
          },
        }),
      ),
    );
    const table = tableOf(await wire.get(path, TABLE));
    expect(columns(table)).toEqual(['Name', 'Size', 'Ready', 'First', 'Since', 'Missing']);
    expect(firstRow(table)).toEqual({
      Name: 'a',
      Size: 3,
      Ready: 'True',
      First: 'x',
      Since: expect.stringMatching(/^\d+s$/),
      Missing: null,
      Detail: 'long',
    });
    expect(table.columnDefinitions[1]).toEqual({
      name: 'Size',
      type: 'integer',
      format: '',
      description: 'How big it is.',
      priority: 0,
    });
  });
});
