/** What the API makes of the answers of a real API server: the words by which it tells them apart are the server's own. */
import {
  Client,
  CustomResourceDefinition,
  crdOf,
  type Kind,
  kubeconfig,
  silentLogger,
  socketTransport,
  systemClock,
} from '@polder/kube';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { qdrantApi } from '../src/index.ts';
import { kinds } from '../src/kinds/index.ts';

let client: Client;
let app: ReturnType<typeof qdrantApi>;
beforeAll(async () => {
  client = new Client({
    transport: socketTransport(await kubeconfig([inject('kubeconfig')])),
    userAgent: 'polder-api-test',
  });
  app = qdrantApi({ client, token: 'secret', clock: systemClock, log: silentLogger, timeoutMs: 10_000 });
});
afterAll(async () => {
  for (const kind of kinds) await client.delete(CustomResourceDefinition, { name: `${kind.plural}.${kind.group}` });
  await client.close();
});

async function call(method: string, path: string, body?: object) {
  const headers = { authorization: 'Bearer secret', 'content-type': 'application/json' };
  const sent = body ? { body: JSON.stringify(body) } : {};
  const answer = await app.request(`/api/v1${path}`, { method, headers, ...sent });
  const told: unknown = await answer.json();
  return { status: answer.status, body: told };
}
const products = { name: 'products', cluster: 'vectors', vectors: { size: 4 } };

test('kinds that are not installed are missed by name', async () => {
  const message = 'the cluster does not have the kind: polder crds | kubectl apply -f -';
  expect(await call('GET', '/collections')).toMatchObject({ status: 500, body: { message } });
  expect(await call('GET', '/collections/products')).toMatchObject({ status: 500, body: { message } });
  expect(await call('POST', '/collections', products)).toMatchObject({ status: 500, body: { message } });
});

describe('with the kinds', () => {
  beforeAll(async () => {
    for (const kind of kinds) await client.create(CustomResourceDefinition, crdOf(kind));
    const served: readonly Kind[] = kinds;
    for (const kind of served) await vi.waitFor(() => client.list(kind), { timeout: 60_000, interval: 200 });
  });

  test('of one name at the same time, one collection is made', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => call('POST', '/collections', products)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(4);
    expect(await call('GET', '/collections/products')).toMatchObject({ status: 200, body: { vectorSize: 4 } });
    expect(await call('DELETE', '/collections/products')).toMatchObject({ status: 200 });
    expect(await call('DELETE', '/collections/products')).toMatchObject({ status: 404, body: { name: 'products' } });
  });

  test('a namespace that is not there is told from a kind that is not', async () => {
    expect(await call('POST', '/collections?namespace=nowhere', products)).toEqual({
      status: 404,
      body: { error: 'Namespace not found', name: 'nowhere' },
    });
  });

  test('what is no name of an object is told field by field', async () => {
    expect(await call('POST', '/collections', { ...products, name: '-products' })).toMatchObject({
      status: 400,
      body: { error: 'Validation failed', details: [expect.stringContaining('metadata.name: Invalid value')] },
    });
  });

  test('a template reaches its collection', async () => {
    const vectors = { size: 8, quantization: { scalar: { type: 'int8' } } };
    expect(await call('POST', '/templates', { name: 'small', shards: 3, vectors })).toMatchObject({ status: 201 });
    const made = await call('POST', '/collections', { name: 'articles', cluster: 'vectors', template: 'small' });
    expect(made).toMatchObject({ status: 201 });
    expect(await call('GET', '/collections/articles')).toMatchObject({ body: { shards: 3, vectorSize: 8 } });
    const backupId = 'vectors/articles/2026-03-01-02-00';
    expect(await call('POST', '/restore/collections/articles', { backupId })).toMatchObject({ status: 201 });
    expect(await call('GET', '/restore/collections/articles')).toMatchObject({ body: { count: 1 } });
  });
});
