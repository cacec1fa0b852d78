import { configMap, configMaps, pod, pods } from './objects.ts';
import { expect, topic } from './suite.ts';
import type { Body, Wire } from './wire.ts';

const names = (list: Body) => list.items.map((item) => item.metadata.name);

async function fill(wire: Wire, path: string, ...all: readonly string[]): Promise<void> {
  for (const name of all)
    await wire.must(wire.create(path, configMap(name, undefined, { labels: { name, parity: parity(name) } })));
}

const parity = (name: string) => (name.charCodeAt(0) % 2 === 0 ? 'even' : 'odd');

export const list = topic('list', (promise) => {
  promise('is a List of its kind, ordered by name, with a version', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await fill(wire, path, 'c', 'a', 'b');
    const { status, body } = await wire.get(path);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      apiVersion: 'v1',
      kind: 'ConfigMapList',
      metadata: { resourceVersion: expect.stringMatching(/^[1-9]\d*$/) },
    });
    expect(names(body)).toEqual(['a', 'b', 'c']);
    expect(body.metadata).not.toHaveProperty('remainingItemCount');
  });

  promise('of built-in kinds leaves apiVersion and kind out of the items', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await fill(wire, path, 'a');
    const { body } = await wire.get(path);
    expect(body.items[0]).not.toHaveProperty('kind');
    expect(body.items[0]).not.toHaveProperty('apiVersion');
  });

  promise('of nothing has an empty array', async ({ wire, namespace }) => {
    const { body } = await wire.get(configMaps(await namespace()));
    expect(body.items).toEqual([]);
  });

  promise('of a namespace that is not there is empty, not an error', async ({ wire, fresh }) => {
    const { status, body } = await wire.get(configMaps(fresh('missing')));
    expect(status).toBe(200);
    expect(body.items).toEqual([]);
  });

  promise('over all namespaces goes by namespace, then name', async ({ wire, namespace, fresh }) => {
    const label = fresh('run');
    const [one = '', two = ''] = [await namespace(), await namespace()].toSorted();
    for (const [ns, name] of [
      [two, 'a'],
      [one, 'b'],
      [one, 'a'],
    ] as const) {
      await wire.must(wire.create(configMaps(ns), configMap(name, undefined, { labels: { run: label } })));
    }
    const { body } = await wire.get(`/api/v1/configmaps?labelSelector=run%3D${label}`);
    expect(body.items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual([
      `${one}/a`,
      `${one}/b`,
      `${two}/a`,
    ]);
  });

  for (const [selector, found] of [
    ['parity=odd', ['a', 'c']],
    ['parity==odd', ['a', 'c']],
    ['parity!=odd', ['b', 'd']],
    ['name in (a,b)', ['a', 'b']],
    ['name notin (a,b)', ['c', 'd']],
    ['parity', ['a', 'b', 'c', 'd']],
    ['!parity', []],
    ['parity=odd,name!=a', ['c']],
  ] as const) {
    promise(`selects by label: ${selector}`, async ({ wire, namespace }) => {
      const path = configMaps(await namespace());
      await fill(wire, path, 'a', 'b', 'c', 'd');
      const { body } = await wire.get(`${path}?labelSelector=${encodeURIComponent(selector)}`);
      expect(names(body)).toEqual(found);
    });
  }

  promise('refuses a label selector that is none', async ({ wire, namespace }) => {
    const answer = await wire.get(`${configMaps(await namespace())}?labelSelector=${encodeURIComponent('a in b')}`);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toMatch(/^unable to parse requirement: found 'b' expected: '\('$/);
  });

  promise('selects by the name and the namespace as fields of every kind', async ({ wire, namespace }) => {
    const ns = await namespace();
    await fill(wire, configMaps(ns), 'a', 'b');
    const { body } = await wire.get(
      `/api/v1/configmaps?fieldSelector=${encodeURIComponent(`metadata.name=b,metadata.namespace=${ns}`)}`,
    );
    expect(names(body)).toEqual(['b']);
  });

  promise('selects by field with !=', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await fill(wire, path, 'a', 'b');
    const { body } = await wire.get(`${path}?fieldSelector=${encodeURIComponent('metadata.name!=a')}`);
    expect(names(body)).toEqual(['b']);
  });

  promise('selects pods by node and phase', async ({ wire, namespace }) => {
    const path = pods(await namespace());
    await wire.must(wire.create(path, pod('here', { nodeName: 'n1' })));
    await wire.must(wire.create(path, pod('there', { nodeName: 'n2' })));
    const { body } = await wire.get(
      `${path}?fieldSelector=${encodeURIComponent('spec.nodeName=n1,status.phase=Pending')}`,
    );
    expect(names(body)).toEqual(['here']);
  });

  promise('refuses a field that the kind has no selector for', async ({ wire, namespace }) => {
    const answer = await wire.get(`${configMaps(await namespace())}?fieldSelector=data.k%3Dv`);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ reason: 'BadRequest' });
    expect(answer.body.message).toBe(
      '"data.k" is not a known field selector: only "metadata.name", "metadata.namespace"',
    );
  });

  promise('comes in pages that together are the whole, each item once', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await fill(wire, path, 'a', 'b', 'c', 'd', 'e');
    const first = (await wire.get(`${path}?limit=2`)).body;
    expect(names(first)).toEqual(['a', 'b']);
    expect(first.metadata.remainingItemCount).toBe(3);
    const second = (await wire.get(`${path}?limit=2&continue=${encodeURIComponent(first.metadata.continue ?? '')}`))
      .body;
    expect(names(second)).toEqual(['c', 'd']);
    expect(second.metadata.remainingItemCount).toBe(1);
    const third = (await wire.get(`${path}?limit=2&continue=${encodeURIComponent(second.metadata.continue ?? '')}`))
      .body;
    expect(names(third)).toEqual(['e']);
    expect(third.metadata.continue ?? '').toBe('');
    expect(third.metadata).not.toHaveProperty('remainingItemCount');
  });

  promise('shows in later pages the state of the first', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await fill(wire, path, 'a', 'b', 'd');
    const first = (await wire.get(`${path}?limit=1`)).body;
    await fill(wire, path, 'c');
    await wire.must(wire.delete(`${path}/d`));
    const rest = (await wire.get(`${path}?continue=${encodeURIComponent(first.metadata.continue ?? '')}`)).body;
    expect(names(rest)).toEqual(['b', 'd']);
    expect(rest.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  promise('in pages with a label selector does not count what remains', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await fill(wire, path, 'a', 'b', 'c');
    const { body } = await wire.get(`${path}?limit=1&labelSelector=parity%3Dodd`);
    expect(names(body)).toEqual(['a']);
    expect(body.metadata.continue).toEqual(expect.any(String));
    expect(body.metadata).not.toHaveProperty('remainingItemCount');
  });

  promise('refuses a continue token that is none with 400', async ({ wire, namespace }) => {
    const answer = await wire.get(`${configMaps(await namespace())}?limit=1&continue=nonsense`);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ reason: 'BadRequest' });
    expect(answer.body.message).toMatch(/^invalid continue token: continue key is not valid/);
  });

  promise('refuses a continue token together with a version', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await fill(wire, path, 'a', 'b');
    const first = (await wire.get(`${path}?limit=1`)).body;
    const token = encodeURIComponent(first.metadata.continue ?? '');
    const answer = await wire.get(
      `${path}?limit=1&continue=${token}&resourceVersion=${first.metadata.resourceVersion}`,
    );
    expect(answer.status).toBe(400);
    expect(answer.body.message).toBe('specifying resource version is not allowed when using continue');
  });

  promise('at version 0 may be answered from memory, and is', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await fill(wire, path, 'a');
    const { status, body } = await wire.get(`${path}?resourceVersion=0`);
    expect(status).toBe(200);
    expect(body.kind).toBe('ConfigMapList');
  });

  promise('not older than a write shows the write', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const made = await wire.must(wire.create(path, configMap('a')));
    const { body } = await wire.get(
      `${path}?resourceVersion=${made.metadata.resourceVersion}&resourceVersionMatch=NotOlderThan`,
    );
    expect(names(body)).toEqual(['a']);
  });

  promise('exactly at a version shows the state of then', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    const made = await wire.must(wire.create(path, configMap('a')));
    await fill(wire, path, 'b');
    const { body } = await wire.get(
      `${path}?resourceVersion=${made.metadata.resourceVersion}&resourceVersionMatch=Exact`,
    );
    expect(names(body)).toEqual(['a']);
    expect(body.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  promise('refuses resourceVersionMatch without a version', async ({ wire, namespace }) => {
    const answer = await wire.get(`${configMaps(await namespace())}?resourceVersionMatch=Exact`);
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes[0]).toMatchObject({
      field: 'resourceVersionMatch',
      reason: 'FieldValueForbidden',
      message: 'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    });
  });

  promise(
    'at a version that does not exist yet waits a little, then answers 504 Timeout',
    async ({ wire, namespace }) => {
      const answer = await wire.get(`${configMaps(await namespace())}?resourceVersion=999999999999`);
      expect(answer.status).toBe(504);
      expect(answer.headers['retry-after']).toBe('1');
      expect(answer.body).toMatchObject({
        reason: 'Timeout',
        details: {
          causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
          retryAfterSeconds: 1,
        },
      });
      expect(answer.body.message).toMatch(/^Timeout: Too large resource version: 999999999999, current: \d+$/);
    },
  );

  promise('refuses a version that is no number', async ({ wire, namespace }) => {
    const answer = await wire.get(`${configMaps(await namespace())}?resourceVersion=abc`);
    expect(answer.status).toBe(400);
  });

  promise('answers with metadata alone when asked for PartialObjectMetadataList', async ({ wire, namespace }) => {
    const path = configMaps(await namespace());
    await wire.must(wire.create(path, configMap('a', { secret: 'x' })));
    const { body } = await wire.get(path, {
      accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
    });
    expect(body).toMatchObject({
      apiVersion: 'meta.k8s.io/v1',
      kind: 'PartialObjectMetadataList',
      metadata: { resourceVersion: expect.any(String) },
    });
    expect(body.items[0]).toMatchObject({ metadata: { name: 'a' } });
    expect(body.items[0]).not.toHaveProperty('data');
  });
});
