/** Peers as the containers of a StatefulSet, on the embedded cluster: sockets, volumes, keys, certificates. */
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedCluster, simulated, standIns, startCluster } from '@polder/embedded';
import {
  Client,
  ConfigMap,
  type Container,
  createAuthority,
  issue,
  PersistentVolumeClaim,
  Pod,
  Secret,
  Service,
  StatefulSet,
  systemClock,
} from '@polder/kube';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Clock, type QdrantStandIn, qdrantStandIn } from '../../qdrant/src/index.ts';
import { isObject, type Json, parseJson, printJson } from '../../qdrant/src/json.ts';
import { numbersTo, randomOf } from './world.ts';

// Probes, grace periods and backoffs are those of real containers.
vi.setConfig({ testTimeout: 60_000 });

let folder: string;
let qdrant: QdrantStandIn;
let cluster: EmbeddedCluster;
let client: Client;

type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number];

const NAMES = [0, 1, 2].map((at) => `vectors-${at}`);
const BLOCK = '127.77.0.0';
const inDefault = (name: string) => ({ namespace: 'default', name });
const labels = { app: 'vectors' };
const until = (isSo: () => Promise<void> | void) => vi.waitFor(isSo, { timeout: 30_000, interval: 50 });

/** Qdrant is to take its usual time, and the test is not: what is a second there is a tenth of one here. */
const hurried: Clock = {
  now: () => systemClock.now(),
  after: (ms, callback) => systemClock.after(ms / 10, callback),
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'qdrant-'));
  qdrant = qdrantStandIn({
    clock: hurried,
    random: randomOf(1),
    addressesOf: (host) => cluster.network.addressesOf(host),
  });
  cluster = await startCluster({
    loopback: BLOCK,
    images: [
      ...standIns({ 'qdrant/qdrant': qdrant.run }, { folder: join(folder, 'pods'), clock: systemClock }),
      { images: '*', runner: simulated(systemClock) },
    ],
    provisioner: {
      pathOf: (volume) => join(folder, 'volumes', volume),
      onVolumeDeleted: async ({ metadata }) =>
        rmSync(join(folder, 'volumes', metadata.name), { recursive: true, force: true }),
    },
  });
  client = new Client({ transport: cluster.server.transport(), userAgent: 'user' });
  await cluster.ready;
});
afterEach(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true });
});

/** As an operator would have it: one template for all, the first one being whom everybody joins. */
const container = (more: Partial<Container> = {}): Container => ({
  name: 'qdrant',
  image: 'qdrant/qdrant:v1.19.0',
  args: ['--uri', 'http://$(POD_NAME).vectors-headless.default:6335'],
  env: [
    { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    { name: 'QDRANT_BOOTSTRAP', value: 'http://vectors-0.vectors-headless.default:6335' },
    { name: 'QDRANT__CLUSTER__ENABLED', value: 'true' },
  ],
  ports: [{ name: 'http', containerPort: 6333 }],
  readinessProbe: { httpGet: { path: '/readyz', port: 'http' }, periodSeconds: 1 },
  volumeMounts: [{ name: 'qdrant-storage', mountPath: '/qdrant/storage' }],
  ...more,
});

async function deploy(one: Container, replicas: number, volumes: readonly Volume[] = []) {
  await client.create(Service, {
    metadata: inDefault('vectors-headless'),
    spec: { clusterIP: 'None', selector: labels, publishNotReadyAddresses: true, ports: [{ port: 6333 }] },
  });
  await client.create(StatefulSet, {
    metadata: inDefault('vectors'),
    spec: {
      serviceName: 'vectors-headless',
      replicas,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [one], terminationGracePeriodSeconds: 1, volumes: [...volumes] },
      },
      volumeClaimTemplates: [
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'qdrant-storage' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    },
  });
}

const whereIs = (at: number) => {
  const found = cluster.network.resolve(`vectors-${at}.vectors-headless.default`, 6333);
  if (!found) throw new Error(`vectors-${at} is nowhere`);
  return found;
};

async function ask(at: number, method: string, path: string, body?: Json): Promise<Json> {
  const { host, port } = whereIs(at);
  const response = await fetch(`http://${host}:${port}${path}`, {
    method,
    ...(body !== undefined && { body: printJson(body) }),
  });
  const answer = parseJson(await response.text());
  if (!isObject(answer) || !response.ok) throw new Error(`${method} ${path}: ${printJson(answer)}`);
  return answer['result'] ?? null;
}

const allAreReady = (...names: readonly string[]) =>
  until(async () => {
    for (const name of names) {
      const { status, metadata } = await client.get(Pod, inDefault(name));
      expect(status?.containerStatuses).toMatchObject([{ ready: true }]);
      expect(metadata.deletionTimestamp).toBeUndefined();
    }
  });

const upsert = (at: number, last: number) =>
  ask(at, 'PUT', '/collections/a/points?wait=true', {
    points: numbersTo(last).map((id) => ({ id, vector: [id, 0, 0, 1] })),
  });
const count = (at: number) => ask(at, 'POST', '/collections/a/points/count', {});
const vectors = { size: 4, distance: 'Dot' };

/** First the one whom the others join: those that come before it crash, and wait for longer and longer. */
async function deployThree(): Promise<void> {
  await deploy(container(), 1);
  await allAreReady('vectors-0');
  await client.patch(StatefulSet, inDefault('vectors'), { type: 'merge', body: { spec: { replicas: 3 } } });
  await allAreReady(...NAMES);
}

/** Deletes a pod and waits until another one of its name is ready. */
async function replace(name: string, between: () => Promise<unknown> = async () => {}): Promise<void> {
  const { uid } = (await client.get(Pod, inDefault(name))).metadata;
  await between();
  await client.delete(Pod, inDefault(name));
  await until(async () => expect((await client.get(Pod, inDefault(name))).metadata.uid).not.toBe(uid));
}

test('a StatefulSet of peers becomes one cluster, and each finds its id and its points again', async () => {
  await deployThree();
  await ask(1, 'PUT', '/collections/a', { vectors, shard_number: 3, replication_factor: 2 });
  await upsert(2, 50);
  const before = await ask(1, 'GET', '/cluster');
  await replace('vectors-1');
  await allAreReady(...NAMES);
  expect(await ask(1, 'GET', '/cluster')).toMatchObject(
    isObject(before) ? { peer_id: before['peer_id'], peers: before['peers'] } : {},
  );
  expect(await count(1)).toEqual({ count: 50 });
  expect(qdrant.cluster.requests.length).toBeGreaterThan(5);
});

test('who is told the name of the headless Service joins through whichever peer serves, and never begins anew', async () => {
  const through = (bootstrap: string) =>
    client.apply(
      ConfigMap,
      { metadata: inDefault('vectors'), data: { bootstrap } },
      { fieldManager: 'user', force: true },
    );
  const own = container();
  const [podName, , clustered] = own.env ?? [];
  const told = { name: 'QDRANT_BOOTSTRAP', valueFrom: { configMapKeyRef: { name: 'vectors', key: 'bootstrap' } } };
  await through('http://vectors-0.vectors-headless.default:6335');
  await deploy({ ...own, env: [podName, told, clustered].filter((one) => one !== undefined) }, 1);
  await allAreReady('vectors-0');
  await through('http://vectors-headless.default:6335');
  await client.patch(StatefulSet, inDefault('vectors'), { type: 'merge', body: { spec: { replicas: 3 } } });
  await allAreReady(...NAMES);
  // The first of all comes back with an empty volume: it finds the others.
  await replace('vectors-0', () => client.delete(PersistentVolumeClaim, inDefault('qdrant-storage-vectors-0')));
  await allAreReady(...NAMES);
  const members = async (at: number) => {
    const seen = await ask(at, 'GET', '/cluster');
    return isObject(seen) ? seen['peers'] : undefined;
  };
  await until(async () => expect(await members(0)).toEqual(await members(1)));
  expect(Object.keys(Object(await members(0)))).toHaveLength(3);
});

test('a lost volume is a new peer, which its former self keeps out: the container crashes and says why', async () => {
  await deployThree();
  await ask(0, 'PUT', '/collections/a', { vectors, shard_number: 3, replication_factor: 2 });
  const claim = inDefault('qdrant-storage-vectors-2');
  await replace('vectors-2', () => client.delete(PersistentVolumeClaim, claim));
  await until(async () => {
    const { status } = await client.get(Pod, inDefault('vectors-2'));
    expect(status?.containerStatuses?.[0]?.lastState?.terminated).toMatchObject({
      exitCode: 101,
      message: expect.stringContaining('which still has shards'),
    });
  });
});

test('keys and defaults come from mounted files, variables win over them', async () => {
  await client.create(ConfigMap, {
    metadata: inDefault('vectors'),
    data: {
      'production.yaml': 'storage:\n  collection:\n    replication_factor: 2\nservice:\n  api_key: overridden\n',
    },
  });
  await client.create(Secret, {
    metadata: inDefault('vectors-auth'),
    stringData: { 'local.yaml': 'service:\n  read_only_api_key: "look"\n' },
  });
  const one = container();
  await deploy(
    {
      ...one,
      env: [...(one.env ?? []), { name: 'QDRANT__SERVICE__API_KEY', value: 'full' }],
      volumeMounts: [
        ...(one.volumeMounts ?? []),
        { name: 'config', mountPath: '/qdrant/config/production.yaml', subPath: 'production.yaml' },
        { name: 'auth', mountPath: '/qdrant/config/local.yaml', subPath: 'local.yaml' },
      ],
    },
    1,
    [
      { name: 'config', configMap: { name: 'vectors' } },
      { name: 'auth', secret: { secretName: 'vectors-auth' } },
    ],
  );
  await allAreReady('vectors-0');
  const { host, port } = whereIs(0);
  const status = async (key: string, method = 'GET') => {
    const headers = { 'api-key': key };
    const response = await fetch(`http://${host}:${port}/collections/a`, {
      method,
      headers,
      ...(method === 'PUT' && { body: '{}' }),
    });
    return response.status;
  };
  expect(await status('overridden')).toBe(401);
  expect(await status('look', 'PUT')).toBe(403);
  expect(await status('full', 'PUT')).toBe(200);
  const described = await fetch(`http://${host}:${port}/collections/a`, { headers: { 'api-key': 'look' } });
  expect(await described.json()).toMatchObject({ result: { config: { params: { replication_factor: 2 } } } });
});

test('a certificate from a Secret is what clients meet', async () => {
  const [now, validMs] = [Date.now(), 3_600_000];
  const authority = await createAuthority({ name: 'vectors', now, validMs });
  const pair = await issue(authority, {
    name: 'vectors-0',
    use: 'server',
    dnsNames: ['vectors-0.vectors-headless.default'],
    now,
    validMs,
  });
  await client.create(Secret, {
    metadata: inDefault('vectors-tls'),
    stringData: { 'cert.pem': pair.certificate, 'key.pem': pair.key },
  });
  const one = container();
  await deploy(
    {
      ...one,
      env: [...(one.env ?? []), { name: 'QDRANT__SERVICE__ENABLE_TLS', value: 'true' }],
      readinessProbe: { httpGet: { path: '/readyz', port: 'http', scheme: 'HTTPS' }, periodSeconds: 1 },
      volumeMounts: [...(one.volumeMounts ?? []), { name: 'tls', mountPath: '/qdrant/tls' }],
    },
    1,
    [{ name: 'tls', secret: { secretName: 'vectors-tls' } }],
  );
  await allAreReady('vectors-0');
  const status = await new Promise((resolve, reject) => {
    const options = {
      ...whereIs(0),
      path: '/healthz',
      ca: authority.certificate,
      servername: 'vectors-0.vectors-headless.default',
    };
    request(options, (response) => resolve(response.resume().statusCode))
      .once('error', reject)
      .end();
  });
  expect(status).toBe(200);
});

test('what clients meet on the wire: lengths, streams, closed connections, and ports that accept', async () => {
  await deploy(container(), 1);
  await allAreReady('vectors-0');
  await ask(0, 'PUT', '/collections/a', { vectors });
  const { host, port } = whereIs(0);
  const headersOf = async (path: string) => (await fetch(`http://${host}:${port}${path}`)).headers;
  expect((await headersOf('/healthz')).get('content-length')).toBe('20');
  expect((await headersOf('/nope')).get('content-type')).toBeNull();
  expect((await headersOf('/collections/a/shards/0/snapshot')).get('transfer-encoding')).toBe('chunked');
  qdrant.cluster.setFaults('http://vectors-0.vectors-headless.default:6335', { answer: () => 'close' });
  await expect(headersOf('/healthz')).rejects.toThrow('fetch failed');
  for (const other of [6334, 6335]) {
    const at = cluster.network.resolve('vectors-0.vectors-headless.default', other) ?? { host, port: other };
    const socket = connect(at.port, at.host);
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    socket.destroy();
  }
});

test('a container without a URI crashes, and says what it needs', async () => {
  await deploy(container({ args: [], command: ['/bin/bash', '-c', './config/initialize.sh'] }), 1);
  await until(async () => {
    const { status } = await client.get(Pod, inDefault('vectors-0'));
    expect(status?.containerStatuses?.[0]?.lastState?.terminated?.message).toContain('a peer needs --uri');
  });
});
