/** The example of Qdrant as its reader types it: grown, shrunk, killed on the way, and every point is still there. */
import { request } from 'node:https';
import { join } from 'node:path';
import { type Client, findCondition, isNotFound, PersistentVolumeClaim, Pod, Secret } from '@polder/kube';
import { QdrantCluster, QdrantCollection } from '@polder/qdrant/kinds';
import { expect, test } from 'vitest';
import { CHECKOUT, Workplace } from './program.ts';

/** Peers come and go one by one, and shards travel one by one. */
const PATIENCE = { timeout: 240_000, interval: 250 };

const vectors = { namespace: 'default', name: 'vectors' };
const ofVectors = { namespace: 'default', labelSelector: 'clustername=vectors' };
const NUMBERS = Array.from({ length: 60 }, (_, at) => at + 1);

const statusOf = async (client: Client) => (await client.get(QdrantCluster, vectors)).status;

/** So many peers, each of them well, and nothing under way. */
async function becomes(client: Client, replicas: number): Promise<void> {
  const seen = async () => {
    const { metadata, status } = await client.get(QdrantCluster, vectors);
    const { qdrantStatus, peers, observedGeneration } = status ?? {};
    const pods = (await client.list(Pod, ofVectors)).items.length;
    return { qdrantStatus, peers: peers?.length, pods, isSeen: observedGeneration === metadata.generation };
  };
  const wanted = { qdrantStatus: 'Healthy', peers: replicas, pods: replicas, isSeen: true };
  await expect.poll(seen, PATIENCE).toEqual(wanted);
}

const scale = (client: Client, replicas: number) =>
  client.patch(QdrantCluster, vectors, { type: 'merge', body: { spec: { replicas } } });

/** Asks the peer in a pod, as a user of the cluster would. */
async function ask<T>(client: Client, pod: string, method: string, path: string, body?: object): Promise<T> {
  const { data } = await client.get(Secret, { namespace: 'default', name: 'vectors-apikey' });
  const { status } = await client.get(Pod, { namespace: 'default', name: pod });
  const response = await fetch(`http://${status?.podIP}:6333${path}`, {
    method,
    headers: { 'api-key': Buffer.from(data?.['api-key'] ?? '', 'base64').toString() },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(response.status, `${method} ${path} of ${pod}`).toBe(200);
  const { result }: { readonly result: T } = JSON.parse(await response.text());
  return result;
}

async function numbersSeenBy(client: Client, pod: string): Promise<readonly number[]> {
  const path = '/collections/products/points/scroll';
  const { points } = await ask<{ points: { id: number }[] }>(client, pod, 'POST', path, { limit: 1_000 });
  return points.map(({ id }) => id).toSorted((a, b) => a - b);
}

test('examples/qdrant: a cluster grows, shrinks and is killed on the way, and keeps every point', {
  timeout: 600_000,
}, async () => {
  await using place = new Workplace();
  const start = async (...manifests: readonly string[]) => {
    const up = place.polder('up', ...manifests);
    await expect.poll(() => up.said.out, PATIENCE).toContain('everything is ready');
    return { up, client: await place.connect() };
  };
  let { up, client } = await start('-f', join(CHECKOUT, 'examples/qdrant'));
  await becomes(client, 3);
  const points = NUMBERS.map((id) => ({ id, vector: [id, 0, 0, 1] }));
  await ask(client, 'vectors-1', 'PUT', '/collections/products/points?wait=true', { points });

  await scale(client, 5);
  await becomes(client, 5);
  const shards = await ask<{ local_shards: object[] }>(client, 'vectors-4', 'GET', '/collections/products/cluster');
  expect(shards.local_shards.length).toBeGreaterThan(1);
  expect(await numbersSeenBy(client, 'vectors-4')).toEqual(NUMBERS);

  await scale(client, 2);
  const draining = async () => findCondition((await statusOf(client))?.conditions, 'Draining')?.status;
  await expect.poll(draining, PATIENCE).toBe('True');
  up.child.kill('SIGKILL');
  await up.exit;
  await client.close();
  // Without the manifest: it would ask for three peers again.
  ({ up, client } = await start());
  await becomes(client, 2);
  for (const pod of ['vectors-0', 'vectors-1']) expect(await numbersSeenBy(client, pod)).toEqual(NUMBERS);

  await client.delete(QdrantCluster, vectors);
  const collection = { namespace: 'default', name: 'products' };
  await client.delete(QdrantCollection, collection);
  const left = () =>
    Promise.all([
      client.get(QdrantCluster, vectors).then(() => 'there', goneIfNotFound),
      client.get(QdrantCollection, collection).then(() => 'there', goneIfNotFound),
    ]);
  await expect.poll(left, PATIENCE).toEqual(['gone', 'gone']);
  await expect.poll(async () => (await client.list(Pod, ofVectors)).items, PATIENCE).toEqual([]);
  await expect.poll(async () => (await client.list(PersistentVolumeClaim, ofVectors)).items, PATIENCE).toEqual([]);
  await client.close();
  up.child.kill('SIGINT');
  expect(await up.exit).toBe(0);
});

const SAFE = `
apiVersion: qdrant.operator/v1alpha1
kind: QdrantCluster
metadata: {name: vectors}
spec: {replicas: 2, image: "qdrant/qdrant:v1.19.0", apikey: full, readApikey: look, tls: {enabled: true}}
`;

test('over TLS and with keys, peers join and the operator finds them', { timeout: 300_000 }, async () => {
  await using place = new Workplace();
  const up = place.polder('up', '-f', place.write('safe.yaml', SAFE));
  await expect.poll(() => up.said.out, PATIENCE).toContain('everything is ready');
  const client = await place.connect();
  await becomes(client, 2);
  const { data } = await client.get(Secret, { namespace: 'default', name: 'vectors-server-cert' });
  const { status } = await client.get(Pod, { namespace: 'default', name: 'vectors-1' });
  const answered = (key: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const servername = 'vectors-1.vectors-headless.default';
      const ca = Buffer.from(data?.['cacert.pem'] ?? '', 'base64');
      const where = { host: status?.podIP, port: 6333, path: '/collections', servername, ca };
      request({ ...where, headers: { 'api-key': key } }, (response) => resolve(response.resume().statusCode))
        .once('error', reject)
        .end();
    });
  expect([await answered('full'), await answered('look'), await answered('guess')]).toEqual([200, 200, 401]);
  await client.close();
});

function goneIfNotFound(error: unknown): string {
  if (!isNotFound(error)) throw error;
  return 'gone';
}
