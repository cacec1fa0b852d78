import { configMap, configMaps, pod, pods } from './objects.ts';
import { expect, topic } from './suite.ts';
import { Watch } from './watch-reader.ts';

export const watch = topic('watch', (promise) => {
  promise('from a version tells every later change, in order, with the object', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const { metadata } = (await wire.get(path)).body;
    await using events = await Watch.open(wire, `${path}?watch=true&resourceVersion=${metadata.resourceVersion}`);
    await wire.must(wire.create(path, configMap('a', { k: '1' })));
    await wire.must(wire.replace(`${path}/a`, configMap('a', { k: '2' })));
    await wire.must(wire.delete(`${path}/a`));
    await events.until(({ type }) => type === 'DELETED');
    expect(events.status).toBe(200);
    expect(events.summary()).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a']);
    expect(events.seen[0]?.object).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { k: '1' } });
    expect(events.seen[1]?.object.data).toEqual({ k: '2' });
  });

  promise('of a deletion carries the last state with the version of the deletion', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const made = await wire.must(wire.create(path, configMap('a', { k: 'v' })));
    await using events = await Watch.open(wire, `${path}?watch=true&resourceVersion=${made.metadata.resourceVersion}`);
    await wire.must(wire.delete(`${path}/a`));
    const deleted = await events.until(({ type }) => type === 'DELETED');
    expect(deleted.object.data).toEqual({ k: 'v' });
    expect(BigInt(deleted.object.metadata.resourceVersion)).toBeGreaterThan(BigInt(made.metadata.resourceVersion));
  });

  promise('replays what happened since the version it starts from', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const { metadata } = (await wire.get(path)).body;
    await wire.must(wire.create(path, configMap('a')));
    await wire.must(wire.create(path, configMap('b')));
    await wire.must(wire.delete(`${path}/a`));
    await using events = await Watch.open(wire, `${path}?watch=true&resourceVersion=${metadata.resourceVersion}`);
    await events.until(({ type }) => type === 'DELETED');
    expect(events.summary()).toEqual(['ADDED a', 'ADDED b', 'DELETED a']);
  });

  promise('without a version begins with what is there', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a')));
    await wire.must(wire.create(path, configMap('b')));
    await using events = await Watch.open(wire, `${path}?watch=true`);
    await events.until(({ object }) => object.metadata.name === 'b');
    expect(events.summary()).toEqual(['ADDED a', 'ADDED b']);
  });

  promise('of one namespace does not tell about another', async ({ wire, namespace }) => {
    const [here, there] = [configMaps(await namespace()), configMaps(await namespace())];
    const { metadata } = (await wire.get(here)).body;
    await using events = await Watch.open(wire, `${here}?watch=true&resourceVersion=${metadata.resourceVersion}`);
    await wire.must(wire.create(there, configMap('elsewhere')));
    await wire.must(wire.create(here, configMap('a')));
    await events.next();
    expect(events.summary()).toEqual(['ADDED a']);
  });

  promise(
    'with a label selector: an object that begins to match is ADDED, one that ceases is DELETED',
    async ({ wire, namespace }) => {
      const path = configMaps(await namespace());
      const made = await wire.must(wire.create(path, configMap('a')));
      await using events = await Watch.open(
        wire,
        `${path}?watch=true&labelSelector=on%3Dyes&resourceVersion=${made.metadata.resourceVersion}`,
      );
      await wire.must(wire.patch('merge', `${path}/a`, { metadata: { labels: { on: 'yes' } } }));
      await wire.must(wire.patch('merge', `${path}/a`, { data: { k: 'v' } }));
      await wire.must(wire.patch('merge', `${path}/a`, { metadata: { labels: { on: null } } }));
      await events.until(({ type }) => type === 'DELETED');
      expect(events.summary()).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a']);
    },
  );

  promise('of what left the selection shows the last state that matched', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const made = await wire.must(wire.create(path, configMap('a', undefined, { labels: { on: 'yes' } })));
    await using events = await Watch.open(
      wire,
      `${path}?watch=true&labelSelector=on%3Dyes&resourceVersion=${made.metadata.resourceVersion}`,
    );
    const left = await wire.must(wire.patch('merge', `${path}/a`, { metadata: { labels: { on: 'no' } } }));
    const event = await events.until(({ type }) => type === 'DELETED');
    expect(event.object.metadata.labels).toEqual({ on: 'yes' });
    expect(event.object.metadata.resourceVersion).toBe(left.metadata.resourceVersion);
  });

  promise('with a field selector follows one object', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await using events = await Watch.open(wire, `${path}?watch=true&fieldSelector=metadata.name%3Dmine`);
    await wire.must(wire.create(path, configMap('other')));
    await wire.must(wire.create(path, configMap('mine')));
    await events.next();
    expect(events.summary()).toEqual(['ADDED mine']);
  });

  promise('with a field selector: a pod that is bound to the node is ADDED', async ({ wire, namespace, fresh }) => {
    const ns = await namespace();
    const node = fresh('node');
    const made = await wire.must(wire.create(pods(ns), pod('a')));
    await using events = await Watch.open(
      wire,
      `${pods(ns)}?watch=true&fieldSelector=spec.nodeName%3D${node}&resourceVersion=${made.metadata.resourceVersion}`,
    );
    await wire.must(
      wire.create(`${pods(ns)}/a/binding`, { metadata: { name: 'a' }, target: { kind: 'Node', name: node } }),
    );
    const event = await events.next();
    expect(event).toMatchObject({ type: 'ADDED', object: { spec: { nodeName: node } } });
  });

  promise('says nothing when a write changes nothing', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const made = await wire.must(wire.create(path, configMap('a', { k: 'v' })));
    await using events = await Watch.open(wire, `${path}?watch=true&resourceVersion=${made.metadata.resourceVersion}`);
    const same = await wire.must(wire.patch('merge', `${path}/a`, { data: { k: 'v' } }));
    expect(same.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
    await wire.must(wire.create(path, configMap('end')));
    await events.next();
    expect(events.summary()).toEqual(['ADDED end']);
  });

  promise(
    'from a version before all that the server remembers of a kind: 200, then one ERROR event 410 Expired',
    async ({ wire, namespace, customResource }) => {
      const custom = await customResource();
      const path = custom.collection(await namespace());
      await wire.must(wire.create(path, custom.widget('a')));
      await using events = await Watch.open(wire, `${path}?watch=true&resourceVersion=1`);
      const event = await events.next();
      expect(events.status).toBe(200);
      expect(event).toMatchObject({
        type: 'ERROR',
        object: {
          kind: 'Status',
          apiVersion: 'v1',
          status: 'Failure',
          reason: 'Expired',
          code: 410,
          message: expect.stringMatching(/^too old resource version: 1 \(\d+\)$/),
        },
      });
      expect(await events.next()).toBeUndefined();
    },
  );

  promise(
    'as a streaming list: all there is, then a bookmark that marks the end, then changes',
    async ({ wire, namespace }) => {
      const path = configMaps(await namespace());
      await wire.must(wire.create(path, configMap('a')));
      await wire.must(wire.create(path, configMap('b')));
      await using events = await Watch.open(
        wire,
        `${path}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
      );
      const end = await events.until(({ type }) => type === 'BOOKMARK');
      expect(events.summary().toSorted()).toEqual(['ADDED a', 'ADDED b', 'BOOKMARK']);
      expect(end.object).toMatchObject({
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { resourceVersion: expect.any(String), annotations: { 'k8s.io/initial-events-end': 'true' } },
      });
      await wire.must(wire.delete(`${path}/a`));
      expect((await events.next())?.type).toBe('DELETED');
    },
  );

  promise('as a streaming list of nothing goes straight to the bookmark', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await using events = await Watch.open(
      wire,
      `${path}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
    );
    expect((await events.next())?.type).toBe('BOOKMARK');
  });

  promise('as a streaming list with metadata alone', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a', { k: 'v' })));
    await using events = await Watch.open(
      wire,
      `${path}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
      { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' },
    );
    const end = await events.until(({ type }) => type === 'BOOKMARK');
    expect(events.seen[0]?.object).toMatchObject({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { name: 'a' },
    });
    expect(events.seen[0]?.object).not.toHaveProperty('data');
    expect(end.object.kind).toBe('PartialObjectMetadata');
  });

  promise('refuses sendInitialEvents without resourceVersionMatch', async ({ wire, namespace }) => {
    const answer = await wire.get(
      `${configMaps(await namespace())}?watch=true&sendInitialEvents=true&allowWatchBookmarks=true`,
    );
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      reason: 'Invalid',
      details: {
        causes: [
          {
            reason: 'FieldValueForbidden',
            field: 'resourceVersionMatch',
            message: 'Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
          },
        ],
      },
    });
  });

  promise('refuses sendInitialEvents on a list', async ({ wire, namespace }) => {
    const answer = await wire.get(
      `${configMaps(await namespace())}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=0`,
    );
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes[0]).toMatchObject({ field: 'sendInitialEvents', reason: 'FieldValueForbidden' });
  });

  promise(
    'ends by itself after timeoutSeconds, with a last bookmark if those are wanted',
    async ({ wire, namespace }) => {
      const path = configMaps(await namespace());
      const made = await wire.must(wire.create(path, configMap('a')));
      await using events = await Watch.open(
        wire,
        `${path}?watch=true&allowWatchBookmarks=true&timeoutSeconds=3&resourceVersion=${made.metadata.resourceVersion}`,
      );
      const bookmark = await events.until(({ type }) => type === 'BOOKMARK');
      expect(BigInt(bookmark.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(
        BigInt(made.metadata.resourceVersion),
      );
      while ((await events.next()) !== undefined) continue;
      expect(new Set(events.summary())).toEqual(new Set(['BOOKMARK']));
    },
  );

  promise('ends at once, with what was missed, when asked to end early', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const { metadata } = (await wire.get(path)).body;
    await wire.must(wire.create(path, configMap('a')));
    await using events = await Watch.open(
      wire,
      `${path}?watch=1&timeoutSeconds=1&resourceVersion=${metadata.resourceVersion}`,
    );
    await events.next();
    expect(await events.next()).toBeUndefined();
    expect(events.summary()).toEqual(['ADDED a']);
  });

  promise('works under the old /watch/ path', async ({ wire, namespace }) => {
    const ns = await namespace();
    await wire.must(wire.create(configMaps(ns), configMap('a')));
    await using events = await Watch.open(wire, `/api/v1/watch/namespaces/${ns}/configmaps`);
    expect(await events.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } });
  });

  promise('streams JSON', async ({ wire, namespace }) => {
    const response = await wire.transport.request({
      method: 'GET',
      path: `${configMaps(await namespace())}?watch=true&timeoutSeconds=1`,
      headers: { accept: 'application/json' },
      longLived: true,
    });
    await response.text();
    expect(response.headers['content-type']).toBe('application/json');
  });
});
