import { configMap, configMaps, deployments, pod, pods, service, services } from './objects.ts';
import { expect, topic } from './suite.ts';
import type { Body } from './wire.ts';

type Fields = Readonly<Record<string, unknown>>;

const container = (name: string, more: Fields = {}) => ({ name, image: `example.com/${name}:1`, ...more });

/** A Deployment as a manager would apply it, with these fields in the pod's spec. */
const workload = (podSpec: Fields) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'a' },
  spec: {
    selector: { matchLabels: { app: 'a' } },
    template: { metadata: { labels: { app: 'a' } }, spec: podSpec },
  },
});

const withPorts = (...ports: Fields[]) => workload({ containers: [container('main', { ports })] });

const withEnv = (...env: Fields[]) => workload({ containers: [container('main', { env })] });

const withArgs = (...args: string[]) => workload({ containers: [container('main', { args })] });

const withVolume = (name: string) =>
  workload({
    volumes: [{ name, emptyDir: {} }],
    containers: [container('main', { volumeMounts: [{ name, mountPath: `/${name}` }] })],
  });

const withPort = (name: string, port: number) => service('a', { ports: [{ name, port, protocol: 'TCP' }] });

const withOwner = (name: string) =>
  configMap('a', undefined, {
    finalizers: [`example.com/${name}`],
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid: name }],
  });

const withCondition = (type: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a' },
  status: { conditions: [{ type, status: 'True' }] },
});

const podSpecOf = (body: Body): Fields => {
  const parsed: { spec: Fields } = JSON.parse(JSON.stringify(body.spec['template']));
  return parsed.spec;
};

export const applyMerges = topic('server-side apply of lists and maps', (promise) => {
  promise('merges containers by name: each manager has its own', async ({ wire, namespace }) => {
    const path = `${deployments(await namespace())}/a`;
    await wire.must(wire.apply(path, workload({ containers: [container('one')] }), { manager: 'one' }));
    const body = await wire.must(wire.apply(path, workload({ containers: [container('two')] }), { manager: 'two' }));
    expect(podSpecOf(body)['containers']).toMatchObject([{ name: 'one' }, { name: 'two' }]);
    const less = await wire.must(wire.apply(path, workload({ containers: [container('three')] }), { manager: 'two' }));
    expect(podSpecOf(less)['containers']).toMatchObject([{ name: 'one' }, { name: 'three' }]);
  });

  promise('owns list items by their keys', async ({ wire, namespace }) => {
    const path = `${deployments(await namespace())}/a`;
    const ports = [{ containerPort: 80, protocol: 'TCP' }];
    const body = await wire.must(wire.apply(path, workload({ containers: [container('main', { ports })] })));
    expect(body.metadata.managedFields[0]?.fieldsV1).toMatchObject({
      'f:spec': {
        'f:selector': {},
        'f:template': {
          'f:metadata': { 'f:labels': { 'f:app': {} } },
          'f:spec': {
            'f:containers': {
              'k:{"name":"main"}': {
                '.': {},
                'f:image': {},
                'f:name': {},
                'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
              },
            },
          },
        },
      },
    });
  });

  promise(
    'merges container ports by port and protocol, protocol being TCP unless said',
    async ({ wire, namespace }) => {
      const path = `${deployments(await namespace())}/a`;
      await wire.must(wire.apply(path, withPorts({ containerPort: 53, name: 'tcp' }), { manager: 'one' }));
      const body = await wire.must(
        wire.apply(path, withPorts({ containerPort: 53, protocol: 'UDP', name: 'udp' }), { manager: 'two' }),
      );
      expect(podSpecOf(body)['containers']).toMatchObject([
        {
          ports: [
            { containerPort: 53, name: 'tcp', protocol: 'TCP' },
            { containerPort: 53, name: 'udp', protocol: 'UDP' },
          ],
        },
      ]);
    },
  );

  promise('merges env by name', async ({ wire, namespace }) => {
    const path = `${deployments(await namespace())}/a`;
    await wire.must(wire.apply(path, withEnv({ name: 'A', value: '1' }), { manager: 'one' }));
    const body = await wire.must(wire.apply(path, withEnv({ name: 'B', value: '2' }), { manager: 'two' }));
    expect(podSpecOf(body)['containers']).toMatchObject([
      {
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '2' },
        ],
      },
    ]);
  });

  promise('replaces args as a whole, since that list is atomic', async ({ wire, namespace }) => {
    const path = `${deployments(await namespace())}/a`;
    await wire.must(wire.apply(path, withArgs('a', 'b'), { manager: 'one' }));
    const refused = await wire.apply(path, withArgs('c'), { manager: 'two' });
    expect(refused.body.details.causes[0]?.field).toBe('.spec.template.spec.containers[name="main"].args');
    const body = await wire.must(wire.apply(path, withArgs('c'), { manager: 'two', force: true }));
    expect(podSpecOf(body)['containers']).toMatchObject([{ args: ['c'] }]);
  });

  promise('merges volumes by name and their mounts by path', async ({ wire, namespace }) => {
    const path = `${deployments(await namespace())}/a`;
    await wire.must(wire.apply(path, withVolume('one'), { manager: 'one' }));
    const spec = podSpecOf(await wire.must(wire.apply(path, withVolume('two'), { manager: 'two' })));
    expect(spec['volumes']).toMatchObject([{ name: 'one' }, { name: 'two' }]);
    expect(spec['containers']).toMatchObject([{ volumeMounts: [{ mountPath: '/one' }, { mountPath: '/two' }] }]);
  });

  promise('merges service ports by port and protocol', async ({ wire, namespace }) => {
    const path = `${services(await namespace())}/a`;
    await wire.must(wire.apply(path, withPort('web', 80), { manager: 'one' }));
    const body = await wire.must(wire.apply(path, withPort('tls', 443), { manager: 'two' }));
    expect(body.spec['ports']).toMatchObject([
      { name: 'web', port: 80 },
      { name: 'tls', port: 443 },
    ]);
  });

  promise('treats a selector as one value', async ({ wire, namespace }) => {
    const path = `${services(await namespace())}/a`;
    await wire.must(wire.apply(path, service('a', { selector: { app: 'a', old: 'x' } })));
    const body = await wire.must(wire.apply(path, service('a', { selector: { app: 'a' } })));
    expect(body.spec['selector']).toEqual({ app: 'a' });
    expect(body.metadata.managedFields[0]?.fieldsV1).toMatchObject({ 'f:spec': { 'f:selector': {} } });
  });

  promise('merges labels and annotations key by key', async ({ wire, namespace }) => {
    const path = `${configMaps(await namespace())}/a`;
    await wire.must(
      wire.apply(path, configMap('a', undefined, { labels: { one: '1' }, annotations: { one: '1' } }), {
        manager: 'one',
      }),
    );
    const body = await wire.must(
      wire.apply(path, configMap('a', undefined, { labels: { two: '2' }, annotations: { two: '2' } }), {
        manager: 'two',
      }),
    );
    expect(body.metadata).toMatchObject({ labels: { one: '1', two: '2' }, annotations: { one: '1', two: '2' } });
  });

  promise('merges finalizers as a set and owner references by uid', async ({ wire, namespace }) => {
    const path = `${configMaps(await namespace())}/a`;
    await wire.must(wire.apply(path, withOwner('one'), { manager: 'one' }));
    const body = await wire.must(wire.apply(path, withOwner('two'), { manager: 'two' }));
    expect(body.metadata.finalizers).toEqual(['example.com/one', 'example.com/two']);
    expect(body.metadata).toMatchObject({ ownerReferences: [{ uid: 'one' }, { uid: 'two' }] });
    const less = await wire.must(wire.apply(path, configMap('a'), { manager: 'one' }));
    expect(less.metadata.finalizers).toEqual(['example.com/two']);
  });

  promise('merges conditions by type', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    await wire.must(wire.create(path, pod('a')));
    await wire.must(wire.apply(`${path}/a/status`, withCondition('example.com/one'), { manager: 'one' }));
    const body = await wire.must(wire.apply(`${path}/a/status`, withCondition('example.com/two'), { manager: 'two' }));
    expect(body.status).toMatchObject({
      conditions: [
        { type: 'example.com/one', status: 'True' },
        { type: 'example.com/two', status: 'True' },
      ],
    });
    const less = await wire.must(
      wire.apply(`${path}/a/status`, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }, { manager: 'one' }),
    );
    expect(less.status).toMatchObject({ conditions: [{ type: 'example.com/two' }] });
  });

  promise('refuses a list that names a key twice', async ({ wire, namespace }) => {
    const path = `${deployments(await namespace())}/a`;
    const answer = await wire.apply(path, workload({ containers: [container('main'), container('main')] }));
    expect(answer.status).toBe(500);
    expect(answer.body.message).toContain('duplicate entries for key [name="main"]');
  });

  promise(
    'of custom resources merges lists by the keys that their schema names',
    async ({ wire, namespace, customResource }) => {
      const custom = await customResource({
        spec: {
          type: 'object',
          properties: {
            items: {
              type: 'array',
              'x-kubernetes-list-type': 'map',
              'x-kubernetes-list-map-keys': ['id'],
              items: {
                type: 'object',
                required: ['id'],
                properties: { id: { type: 'string' }, size: { type: 'integer' } },
              },
            },
            tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
            steps: { type: 'array', items: { type: 'string' } },
          },
        },
      });
      const path = `${custom.collection(await namespace())}/a`;
      await wire.must(
        wire.apply(path, custom.widget('a', { spec: { items: [{ id: 'x', size: 1 }], tags: ['p'], steps: ['1'] } }), {
          manager: 'one',
        }),
      );
      const body = await wire.must(
        wire.apply(path, custom.widget('a', { spec: { items: [{ id: 'y', size: 2 }], tags: ['q'] } }), {
          manager: 'two',
        }),
      );
      expect(body.spec).toEqual({
        items: [
          { id: 'x', size: 1 },
          { id: 'y', size: 2 },
        ],
        tags: ['p', 'q'],
        steps: ['1'],
      });
      expect(body.metadata.managedFields[1]?.fieldsV1).toEqual({
        'f:spec': {
          'f:items': { 'k:{"id":"y"}': { '.': {}, 'f:id': {}, 'f:size': {} } },
          'f:tags': { 'v:"q"': {} },
        },
      });
    },
  );
});
