import { configMap, configMaps, deployment, deployments, pod, pods, service, services } from './objects.ts';
import { expect, topic } from './suite.ts';

const container = (name: string, more: Readonly<Record<string, unknown>> = {}) => ({
  name,
  image: `example.com/${name}:1`,
  ...more,
});

export const patch = topic('patch', (promise) => {
  promise('merge: sets, adds and removes (null)', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a', { set: '1', gone: '2', kept: '3' })));
    const answer = await wire.patch('merge', `${path}/a`, { data: { set: 'x', gone: null, added: 'y' } });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({ set: 'x', kept: '3', added: 'y' });
  });

  promise('merge: puts a whole list in place of the old one', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    await wire.must(wire.create(path, pod('a', {}, { finalizers: ['example.com/a', 'example.com/b'] })));
    const body = await wire.must(wire.patch('merge', `${path}/a`, { metadata: { finalizers: ['example.com/b'] } }));
    expect(body.metadata.finalizers).toEqual(['example.com/b']);
  });

  promise('merge: with a stale resourceVersion answers 409', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const made = await wire.must(wire.create(path, configMap('a')));
    await wire.must(wire.patch('merge', `${path}/a`, { data: { k: '1' } }));
    const { resourceVersion } = made.metadata;
    const answer = await wire.patch('merge', `${path}/a`, { metadata: { resourceVersion }, data: { k: '2' } });
    expect(answer.status).toBe(409);
    expect(answer.body.reason).toBe('Conflict');
  });

  promise('merge: of a missing object answers 404', async ({ wire, namespace }) => {
    const answer = await wire.patch('merge', `${configMaps(await namespace())}/a`, { data: {} });
    expect(answer.status).toBe(404);
  });

  promise('merge: a body that is no object is refused', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a')));
    const answer = await wire.patch('merge', `${path}/a`, '[');
    expect(answer.status).toBe(400);
    expect(answer.body.reason).toBe('BadRequest');
  });

  promise('json: add, replace, remove, move, copy, test', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a', { one: '1', two: '2', three: '3', four: '4' })));
    const body = await wire.must(
      wire.patch('json', `${path}/a`, [
        { op: 'test', path: '/data/one', value: '1' },
        { op: 'add', path: '/data/five', value: '5' },
        { op: 'replace', path: '/data/one', value: 'x' },
        { op: 'remove', path: '/data/two' },
        { op: 'move', from: '/data/three', path: '/data/moved' },
        { op: 'copy', from: '/data/four', path: '/data/copied' },
      ]),
    );
    expect(body.data).toEqual({ one: 'x', four: '4', five: '5', moved: '3', copied: '4' });
  });

  promise('json: pointers escape /', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a', undefined, { annotations: { 'example.com/a': '1' } })));
    const body = await wire.must(
      wire.patch('json', `${path}/a`, [{ op: 'replace', path: '/metadata/annotations/example.com~1a', value: '2' }]),
    );
    expect(body.metadata.annotations).toEqual({ 'example.com/a': '2' });
  });

  promise('json: inserts into a list by index and appends with -', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a', undefined, { finalizers: ['example.com/b'] })));
    const body = await wire.must(
      wire.patch('json', `${path}/a`, [
        { op: 'add', path: '/metadata/finalizers/0', value: 'example.com/a' },
        { op: 'add', path: '/metadata/finalizers/-', value: 'example.com/c' },
      ]),
    );
    expect(body.metadata.finalizers).toEqual(['example.com/a', 'example.com/b', 'example.com/c']);
  });

  promise('json: a failing test answers 422 Invalid and changes nothing', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a', { k: '1' })));
    const answer = await wire.patch('json', `${path}/a`, [
      { op: 'replace', path: '/data/k', value: '2' },
      { op: 'test', path: '/data/k', value: '1' },
    ]);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ reason: 'Invalid', code: 422 });
    expect(answer.body.message).toMatch(/^the server rejected our request due to an error in our request$/);
    expect((await wire.get(`${path}/a`)).body.data).toEqual({ k: '1' });
  });

  promise('json: removing what is not there is refused', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a', { k: '1' })));
    const answer = await wire.patch('json', `${path}/a`, [{ op: 'remove', path: '/data/missing' }]);
    expect(answer.status).toBe(422);
  });

  promise('strategic: merges containers by name and keeps the others', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    const made = deployment('a');
    const template = { ...made.spec.template, spec: { containers: [container('one'), container('two')] } };
    await wire.must(wire.create(path, { ...made, spec: { ...made.spec, template } }));
    const body = await wire.must(
      wire.patch('strategic', `${path}/a`, {
        spec: { template: { spec: { containers: [{ name: 'two', image: 'example.com/two:2' }] } } },
      }),
    );
    expect(body.spec['template']).toMatchObject({
      spec: {
        containers: [
          { name: 'one', image: 'example.com/one:1' },
          { name: 'two', image: 'example.com/two:2' },
        ],
      },
    });
  });

  promise('strategic: puts a new container in front, as the real merge does', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    await wire.must(wire.create(path, deployment('a')));
    const body = await wire.must(
      wire.patch('strategic', `${path}/a`, { spec: { template: { spec: { containers: [container('added')] } } } }),
    );
    expect(body.spec['template']).toMatchObject({ spec: { containers: [{ name: 'added' }, { name: 'main' }] } });
  });

  promise('strategic: removes a list item with $patch: delete', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    const made = deployment('a');
    const template = { ...made.spec.template, spec: { containers: [container('one'), container('two')] } };
    await wire.must(wire.create(path, { ...made, spec: { ...made.spec, template } }));
    const body = await wire.must(
      wire.patch('strategic', `${path}/a`, {
        spec: { template: { spec: { containers: [{ name: 'one', $patch: 'delete' }] } } },
      }),
    );
    const [first, second] = containersOf(body.spec['template']);
    expect(first?.name).toBe('two');
    expect(second).toBeUndefined();
  });

  promise('strategic: replaces a whole map or list with $patch: replace', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    await wire.must(wire.create(path, deployment('a')));
    const body = await wire.must(
      wire.patch('strategic', `${path}/a`, {
        spec: { template: { spec: { containers: [container('only'), { $patch: 'replace' }] } } },
      }),
    );
    expect(containersOf(body.spec['template']).map(({ name }) => name)).toEqual(['only']);
  });

  promise('strategic: merges env by name inside the merged container', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    const made = deployment('a');
    const env = [
      { name: 'A', value: '1' },
      { name: 'B', value: '2' },
    ];
    const template = { ...made.spec.template, spec: { containers: [container('main', { env })] } };
    await wire.must(wire.create(path, { ...made, spec: { ...made.spec, template } }));
    const body = await wire.must(
      wire.patch('strategic', `${path}/a`, {
        spec: { template: { spec: { containers: [{ name: 'main', env: [{ name: 'B', value: 'x' }] }] } } },
      }),
    );
    expect(containersOf(body.spec['template'])[0]?.env).toEqual([
      { name: 'A', value: '1' },
      { name: 'B', value: 'x' },
    ]);
  });

  promise('strategic: merges service ports by port', async ({ wire, namespace }) => {
    const path = services(await namespace());
    await wire.must(
      wire.create(
        path,
        service('a', {
          ports: [
            { name: 'web', port: 80 },
            { name: 'tls', port: 443 },
          ],
        }),
      ),
    );
    const body = await wire.must(
      wire.patch('strategic', `${path}/a`, { spec: { ports: [{ port: 443, targetPort: 8443 }] } }),
    );
    expect(body.spec['ports']).toEqual([
      { name: 'web', protocol: 'TCP', port: 80, targetPort: 80 },
      { name: 'tls', protocol: 'TCP', port: 443, targetPort: 8443 },
    ]);
  });

  promise('strategic: adds to finalizers, which merge as a set', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a', undefined, { finalizers: ['example.com/a'] })));
    const body = await wire.must(
      wire.patch('strategic', `${path}/a`, { metadata: { finalizers: ['example.com/b', 'example.com/a'] } }),
    );
    expect(body.metadata.finalizers.toSorted()).toEqual(['example.com/a', 'example.com/b']);
  });

  promise('strategic: removes from a set with $deleteFromPrimitiveList', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a', undefined, { finalizers: ['example.com/a', 'example.com/b'] })));
    const body = await wire.must(
      wire.patch('strategic', `${path}/a`, {
        metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] },
      }),
    );
    expect(body.metadata.finalizers).toEqual(['example.com/b']);
  });

  promise('strategic: orders a list with $setElementOrder', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    await wire.must(wire.create(path, deployment('a')));
    const body = await wire.must(
      wire.patch('strategic', `${path}/a`, {
        spec: {
          template: {
            spec: {
              '$setElementOrder/containers': [{ name: 'main' }, { name: 'added' }],
              containers: [container('added')],
            },
          },
        },
      }),
    );
    expect(containersOf(body.spec['template']).map(({ name }) => name)).toEqual(['main', 'added']);
  });

  promise('strategic: keeps only the named keys with $retainKeys', async ({ wire, namespace }) => {
    const path = deployments(await namespace());
    await wire.must(wire.create(path, deployment('a')));
    const body = await wire.must(
      wire.patch('strategic', `${path}/a`, { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }),
    );
    expect(body.spec['strategy']).toEqual({ type: 'Recreate' });
  });

  promise('strategic: is not for custom resources', async ({ wire, namespace, customResource }) => {
    const custom = await customResource();
    const path = custom.collection(await namespace());
    await wire.must(wire.create(path, custom.widget('a')));
    const answer = await wire.patch('strategic', `${path}/a`, { spec: { size: 1 } });
    expect(answer.status).toBe(415);
    expect(answer.body).toMatchObject({ reason: 'UnsupportedMediaType', code: 415 });
  });

  promise('with dryRun=All shows the outcome and stores nothing', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a', { k: '1' })));
    const dry = await wire.must(wire.patch('merge', `${path}/a?dryRun=All`, { data: { k: '2' } }));
    expect(dry.data).toEqual({ k: '2' });
    expect((await wire.get(`${path}/a`)).body.data).toEqual({ k: '1' });
  });

  promise('that leaves everything as it is keeps version and managed fields', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const made = await wire.must(wire.create(path, configMap('a', { k: '1' })));
    const same = await wire.must(wire.patch('merge', `${path}/a?fieldManager=other`, { data: { k: '1' } }));
    expect(same.metadata).toEqual(made.metadata);
  });

  promise('cannot rename', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a')));
    const answer = await wire.patch('merge', `${path}/a`, { metadata: { name: 'b' } });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toBe('the name of the object (b) does not match the name on the URL (a)');
  });
});

interface Container {
  readonly name: string;
  readonly env?: unknown;
}

function containersOf(template: unknown): readonly Container[] {
  const parsed: { spec: { containers: Container[] } } = JSON.parse(JSON.stringify(template));
  return parsed.spec.containers;
}
