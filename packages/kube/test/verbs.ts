import { expect } from 'vitest';
import {
  type Client,
  ConfigMap,
  Deployment,
  isAlreadyExists,
  isConflict,
  isInvalid,
  isNotFound,
  Namespace,
  Pod,
  Slimmer,
  type Status,
} from '../src/index.ts';

const container = { name: 'web', image: 'example.com/web:1' };
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } };
const failing = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

/** What the client promises of each verb, on whatever API server it talks to. */
export const VERBS: Readonly<Record<string, (client: Client, namespace: string) => Promise<void>>> = {
  'creates, once, and gives a name if only its beginning is given': async (client, namespace) => {
    const named = await client.create(ConfigMap, { metadata: { namespace, name: 'a' }, data: { k: 'v' } });
    expect(named).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { k: 'v' } });
    expect(isAlreadyExists(await failing(client.create(ConfigMap, { metadata: { namespace, name: 'a' } })))).toBe(true);
    const generated = await client.create(ConfigMap, { metadata: { namespace, generateName: 'b-' } });
    expect(generated.metadata.name).toMatch(/^b-.{5}$/);
  },

  'gets, and says what is not there': async (client, namespace) => {
    await client.create(ConfigMap, { metadata: { namespace, name: 'a' } });
    expect((await client.get(ConfigMap, { namespace, name: 'a' })).metadata.name).toBe('a');
    expect(isNotFound(await failing(client.get(ConfigMap, { namespace, name: 'typo' })))).toBe(true);
  },

  'lists by namespace and label, in pages, each item whole': async (client, namespace) => {
    for (const name of ['a', 'b', 'c']) {
      await client.create(ConfigMap, {
        metadata: { namespace, name, labels: { parity: name === 'b' ? 'even' : 'odd' } },
      });
    }
    const { items } = await client.list(ConfigMap, { namespace, labelSelector: 'parity=odd' });
    expect(items.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(['ConfigMap a', 'ConfigMap c']);
    const pages: string[][] = [];
    for await (const page of client.pages(ConfigMap, { namespace, limit: 2 })) {
      pages.push(page.items.map(({ metadata }) => metadata.name));
    }
    expect(pages).toEqual([['a', 'b'], ['c']]);
  },

  'updates what nobody has changed since': async (client, namespace) => {
    const read = await client.create(ConfigMap, { metadata: { namespace, name: 'a' } });
    await client.update(ConfigMap, { ...read, data: { by: 'first' } });
    expect(isConflict(await failing(client.update(ConfigMap, { ...read, data: { by: 'second' } })))).toBe(true);
  },

  'patches in three ways': async (client, namespace) => {
    const ref = { namespace, name: 'web' };
    const selector = { matchLabels: { app: 'web' } };
    await client.create(Deployment, { metadata: ref, spec: { selector, template } });
    const json = { type: 'json', operations: [{ op: 'replace', path: '/spec/replicas', value: 3 }] } as const;
    expect((await client.patch(Deployment, ref, json)).spec?.replicas).toBe(3);
    const merge = { type: 'merge', body: { metadata: { labels: { a: 'b' } } } } as const;
    expect((await client.patch(Deployment, ref, merge)).metadata.labels).toEqual({ a: 'b' });
    const sidecar = { spec: { template: { spec: { containers: [{ name: 'sidecar', image: 'example.com/s:1' }] } } } };
    const strategic = await client.patch(Deployment, ref, { type: 'strategic', body: sidecar });
    expect(strategic.spec?.template.spec?.containers.map(({ name }) => name).toSorted()).toEqual(['sidecar', 'web']);
    const test = { type: 'json', operations: [{ op: 'test', path: '/spec/replicas', value: 9 }] } as const;
    expect(isInvalid(await failing(client.patch(Deployment, ref, test)))).toBe(true);
  },

  'applies: owns, conflicts, takes over, gives up, and never brings back what was deleted': async (
    client,
    namespace,
  ) => {
    const ref = { namespace, name: 'a' };
    const first = await client.apply(
      ConfigMap,
      { metadata: ref, data: { k: 'one', mine: 'x' } },
      { fieldManager: 'one' },
    );
    const other = { metadata: ref, data: { k: 'two' } };
    expect(isConflict(await failing(client.apply(ConfigMap, other, { fieldManager: 'two' })))).toBe(true);
    await client.apply(ConfigMap, other, { fieldManager: 'two', force: true });
    const left = await client.apply(ConfigMap, { metadata: ref, data: {} }, { fieldManager: 'one' });
    expect(left.data).toEqual({ k: 'two' });
    await client.delete(ConfigMap, ref);
    const { uid = '' } = first.metadata;
    const again = client.apply(ConfigMap, { metadata: { ...ref, uid }, data: { k: 'three' } }, { fieldManager: 'one' });
    expect(isConflict(await failing(again))).toBe(true);
    expect(isNotFound(await failing(client.get(ConfigMap, ref)))).toBe(true);
  },

  'deletes this very object, or marks it while a finalizer holds it': async (client, namespace) => {
    const metadata = { namespace, name: 'a', finalizers: ['test.polder.dev/hold'] };
    const { metadata: made } = await client.create(ConfigMap, { metadata });
    expect(isConflict(await failing(client.delete(ConfigMap, made, { preconditions: { uid: 'another' } })))).toBe(true);
    const marked: ConfigMap | Status = await client.delete(ConfigMap, made, { preconditions: { uid: made.uid ?? '' } });
    expect(marked).toMatchObject({ kind: 'ConfigMap', metadata: { deletionTimestamp: expect.any(String) } });
    await client.patch(ConfigMap, made, { type: 'merge', body: { metadata: { finalizers: null } } });
    expect(isNotFound(await failing(client.get(ConfigMap, made)))).toBe(true);
  },

  'deletes all that a selection matches': async (client, namespace) => {
    for (const name of ['a', 'b']) await client.create(ConfigMap, { metadata: { namespace, name, labels: { name } } });
    await client.deleteCollection(ConfigMap, { namespace, labelSelector: 'name=a' });
    expect((await client.list(ConfigMap, { namespace })).items.map(({ metadata }) => metadata.name)).toEqual(['b']);
  },

  'writes status apart from the rest': async (client, namespace) => {
    const ref = { namespace, name: 'web' };
    await client.create(Deployment, { metadata: ref, spec: { selector: { matchLabels: { app: 'web' } }, template } });
    const body = { spec: { replicas: 9 }, status: { observedGeneration: 7 } };
    const patched = await client.patch(Deployment, ref, { type: 'merge', body }, { subresource: 'status' });
    expect(patched).toMatchObject({ spec: { replicas: 1 }, status: { observedGeneration: 7 } });
  },

  scales: async (client, namespace) => {
    const ref = { namespace, name: 'web' };
    await client.create(Deployment, { metadata: ref, spec: { selector: { matchLabels: { app: 'web' } }, template } });
    expect((await client.setScale(Deployment, ref, 4)).spec?.replicas).toBe(4);
    expect((await client.getScale(Deployment, ref)).spec?.replicas).toBe(4);
  },

  'tries without doing': async (client, namespace) => {
    await client.create(ConfigMap, { metadata: { namespace, name: 'a' } }, { dryRun: true });
    expect(isNotFound(await failing(client.get(ConfigMap, { namespace, name: 'a' })))).toBe(true);
  },

  'watches what changes, without managed fields if asked': async (client, namespace) => {
    const { metadata } = await client.list(ConfigMap, { namespace });
    await client.create(ConfigMap, { metadata: { namespace, name: 'a' } });
    await client.delete(ConfigMap, { namespace, name: 'a' });
    const seen: string[] = [];
    const since = { namespace, resourceVersion: metadata.resourceVersion, slimmer: new Slimmer(), timeoutSeconds: 20 };
    for await (const batch of client.watch(ConfigMap, since)) {
      for (const { type, object } of batch) {
        expect('metadata' in object && 'managedFields' in object.metadata).toBe(false);
        seen.push(type);
      }
      if (seen.length >= 2) break;
    }
    expect(seen).toEqual(['ADDED', 'DELETED']);
  },

  'says why there is no log': async (client, namespace) => {
    const lines = client.logs({ namespace, name: 'nobody' });
    expect(isNotFound(await failing(lines.next()))).toBe(true);
    await client.create(Pod, { metadata: { namespace, name: 'web' }, spec: { containers: [container] } });
    expect((await client.get(Pod, { namespace, name: 'web' })).spec?.containers[0]?.image).toBe(container.image);
  },
};

export async function freshNamespace(client: Client): Promise<string> {
  const { metadata } = await client.create(Namespace, { metadata: { generateName: 'verbs-' } });
  return metadata.name;
}
