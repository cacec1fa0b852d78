/** Pods as servers of this process, through the API and the network of the cluster. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Client,
  type Container,
  MutatingWebhookConfiguration,
  type NewObject,
  Pod,
  type PodSpec,
  Service,
  StatefulSet,
  systemClock,
} from '@polder/kube';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { WebhookRequest } from '../../apiserver/index.ts';
import { type EmbeddedCluster, startCluster } from '../../cluster.ts';
import { simulated } from '../simulated/index.ts';
import { type StandIn, type StandInPlace, standIns } from './stand-in-runner.ts';

const PORT = 6333;
let folder: string;
let cluster: EmbeddedCluster;
let client: Client;
/** Where the stand-ins of each pod are now, by the pod's name. */
let places: Map<string, StandInPlace>;
let calls: WebhookRequest[];
/** What the slow one did, and what it waits for to close. */
let course: string[];
let gate: PromiseWithResolvers<void>;
/** Pods that answer that they are not well. */
let sick: Set<string>;

/** Says its pod's name. */
const tiny =
  (where: (place: StandInPlace) => readonly [host: string, port: number]): StandIn =>
  async (place) => {
    const { name } = place.pod.metadata;
    const server = createServer((_, answer) => {
      answer.statusCode = sick.has(name) ? 503 : 200;
      answer.end(name);
    });
    const [host, port] = where(place);
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
    const directory = place.directoryAt('/data');
    if (directory) appendFileSync(join(directory, 'starts'), `${name}\n`);
    place.say(`${name} listens`);
    places.set(name, place);
    const bound = server.address();
    if (typeof bound !== 'object' || bound === null) throw new Error('it does not listen on a port');
    return {
      ...(host !== place.address && { moved: new Map([[PORT, { host, port: bound.port }]]) }),
      close: async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  };

beforeEach(async () => {
  [folder, places, calls, sick] = [mkdtempSync(join(tmpdir(), 'stand-in-')), new Map(), [], new Set()];
  [course, gate] = [[], Promise.withResolvers()];
  const table = {
    'example/slow': async () => {
      course.push('opens');
      return {
        close: async () => {
          await gate.promise;
          course.push('has closed');
        },
      };
    },
    'example/tiny': tiny(({ address }) => [address, PORT]),
    // As on a system that has no loopback address for each pod.
    'example/moved': tiny(() => ['127.0.0.1', 0]),
    'example/broken': async () => {
      throw new Error('no licence');
    },
  };
  cluster = await startCluster({
    images: [...standIns(table, { folder, clock: systemClock }), { images: '*', runner: simulated(systemClock) }],
    provisioner: { pathOf: (volume) => join(folder, 'volumes', volume), onVolumeDeleted: async () => {} },
    postToWebhook: async (request) => {
      calls.push(request);
      throw new Error('nobody is meant to answer');
    },
  });
  client = new Client({ transport: cluster.server.transport(), userAgent: 'user' });
  await cluster.ready;
});
afterEach(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true });
});

const inDefault = (name: string) => ({ namespace: 'default', name });
const container = (image: string, more: Partial<Container> = {}): Container => ({
  name: 'c',
  image,
  ports: [{ name: 'http', containerPort: PORT }],
  readinessProbe: { httpGet: { port: 'http' }, periodSeconds: 1, failureThreshold: 1 },
  ...more,
});
const labels = { app: 'web' };
const aPod = (name: string, image = 'example/tiny', spec: Partial<PodSpec> = {}): NewObject<Pod> => ({
  metadata: { ...inDefault(name), labels },
  spec: { containers: [container(image)], terminationGracePeriodSeconds: 1, ...spec },
});
const service = (name: string, spec: NonNullable<Service['spec']>) =>
  client.create(Service, { metadata: inDefault(name), spec: { selector: labels, ...spec } });
const until = (isSo: () => Promise<void>) => vi.waitFor(isSo, { timeout: 15_000, interval: 50 });
const main = async (name: string) => (await client.get(Pod, inDefault(name))).status?.containerStatuses?.[0];
const becomes = (name: string, expected: object) => until(async () => expect(await main(name)).toMatchObject(expected));

/** What answers at a name of the cluster, or that nothing does. */
async function ask(host: string, port: number): Promise<string> {
  const found = cluster.network.resolve(host, port);
  if (found === undefined) return 'nobody';
  return (await fetch(`http://${found.host}:${found.port}/`)).text();
}
const answers = (host: string, port: number, expected: string) =>
  until(async () => expect(await ask(host, port)).toBe(expected));

describe('a stand-in', () => {
  test('is ready when its probe says so, and its pod says how it is run', async () => {
    await client.create(Pod, aPod('a'));
    await becomes('a', { ready: true });
    const { metadata, status } = await client.get(Pod, inDefault('a'));
    expect(metadata.annotations).toMatchObject({ 'polder.io/runner': 'stand-in' });
    expect(await ask(status?.podIP ?? '', PORT)).toBe('a');
    sick.add('a');
    await becomes('a', { ready: false, restartCount: 0 });
  });

  test('that crashes is restarted, and its log goes on', async () => {
    await client.create(Pod, aPod('a'));
    await becomes('a', { ready: true });
    places.get('a')?.crash(7, 'out of memory');
    await becomes('a', {
      ready: true,
      restartCount: 1,
      lastState: { terminated: { exitCode: 7, message: 'out of memory' } },
    });
    places.get('a')?.say('and again');
    const log = async (previous: boolean) => Array.fromAsync(client.logs(inDefault('a'), { previous }));
    await until(async () => expect(await log(false)).toEqual(['a listens', 'and again']));
    expect(await log(true)).toEqual(['a listens']);
  });

  test('that can not start says why', async () => {
    await client.create(Pod, aPod('a', 'example/broken'));
    await until(async () =>
      expect((await main('a'))?.lastState?.terminated).toMatchObject({ exitCode: 1, message: 'no licence' }),
    );
  });

  test('leaves what runs beside it in peace', async () => {
    const exporter = { name: 'exporter', image: 'example/unknown' };
    await client.create(
      Pod,
      aPod('a', 'example/tiny:v1.2', { containers: [container('example/tiny:v1.2'), exporter] }),
    );
    await until(async () => {
      const { status } = await client.get(Pod, inDefault('a'));
      expect(status?.containerStatuses?.map(({ ready }) => ready)).toEqual([true, true]);
    });
  });

  test('is gone with its pod', async () => {
    await client.create(Pod, aPod('a'));
    await becomes('a', { ready: true });
    const address = (await client.get(Pod, inDefault('a'))).status?.podIP ?? '';
    await client.delete(Pod, inDefault('a'));
    await until(() => expect(client.get(Pod, inDefault('a'))).rejects.toMatchObject({ status: 404 }));
    await expect(ask(address, PORT)).rejects.toThrow('fetch failed');
  });
});

test('of two pods of one name, deleted by force or not, only one runs at a time', async () => {
  const slow = aPod('a', 'example/slow', { containers: [{ name: 'c', image: 'example/slow' }] });
  await client.create(Pod, slow);
  await becomes('a', { ready: true });
  await client.delete(Pod, inDefault('a'), { gracePeriodSeconds: 0 });
  await client.create(Pod, slow);
  await becomes('a', { state: { waiting: { reason: 'ContainerCreating' } } });
  gate.resolve();
  await becomes('a', { ready: true, restartCount: 0 });
  expect(course).toEqual(['opens', 'has closed', 'opens']);
});

test('a StatefulSet of stand-ins is reached by the names of its pods, and finds its data again', async () => {
  await service('web', { clusterIP: 'None', ports: [{ port: PORT }] });
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  await client.create(StatefulSet, {
    metadata: inDefault('web'),
    spec: {
      serviceName: 'web',
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container('example/tiny', { volumeMounts })] } },
      volumeClaimTemplates: [
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    },
  });
  await answers('web-0.web.default.svc', PORT, 'web-0');
  await answers('web-1.web.default.svc.cluster.local', PORT, 'web-1');
  expect(cluster.network.resolve('web-2.web.default.svc', PORT)).toBeUndefined();
  const each = ['web-0', 'web-1'].flatMap((name) => cluster.network.addressesOf(`${name}.web.default`));
  expect(cluster.network.addressesOf('web.default.svc').toSorted()).toEqual(each.toSorted());
  expect(cluster.network.addressesOf('web-2.web.default')).toEqual([]);
  const directory = places.get('web-0')?.directoryAt('/data') ?? '';
  const { uid } = (await client.get(Pod, inDefault('web-0'))).metadata;
  await client.delete(Pod, inDefault('web-0'));
  await until(async () => {
    const { metadata, status } = await client.get(Pod, inDefault('web-0'));
    expect(metadata.uid).not.toBe(uid);
    expect(status?.containerStatuses).toMatchObject([{ ready: true }]);
  });
  expect(readFileSync(join(directory, 'starts'), 'utf8')).toBe('web-0\nweb-0\n');
});

describe('a service', () => {
  test('reaches its pods in turn, by its name and its address, and only those that are ready', async () => {
    await service('web', { ports: [{ name: 'api', port: 80, targetPort: 'http' }] });
    await service('other', { ports: [{ port: 8080, targetPort: PORT }] });
    await client.create(Pod, aPod('a'));
    await client.create(Pod, aPod('b'));
    const { spec } = await client.get(Service, inDefault('web'));
    const inTurn = async (host: string) => [await ask(host, 80), await ask(host, 80)].toSorted();
    await until(async () => expect(await inTurn('web.default.svc')).toEqual(['a', 'b']));
    expect(await inTurn('web.default')).toEqual(['a', 'b']);
    expect(await inTurn(spec?.clusterIP ?? '')).toEqual(['a', 'b']);
    // What others ask for does not disturb the turns.
    const mixed = [await ask('web.default', 80)];
    await ask('other.default', 8080);
    mixed.push(await ask('web.default', 80));
    expect(mixed.toSorted()).toEqual(['a', 'b']);
    sick.add('a');
    await until(async () => expect(await inTurn('web.default.svc')).toEqual(['b', 'b']));
    expect(await ask('web.default.svc', 81)).toBe('nobody');
    expect(await ask('web.elsewhere.svc', 80)).toBe('nobody');
  });

  test('finds ports that had to move, until their pod is gone', async () => {
    await service('web', { ports: [{ port: 80, targetPort: PORT }] });
    await client.create(Pod, aPod('a', 'example/moved'));
    await becomes('a', { ready: true });
    await answers('web.default.svc', 80, 'a');
    const address = (await client.get(Pod, inDefault('a'))).status?.podIP ?? '';
    expect(cluster.network.resolve(address, PORT)?.host).toBe('127.0.0.1');
    await client.delete(Pod, inDefault('a'));
    await until(() => expect(client.get(Pod, inDefault('a'))).rejects.toMatchObject({ status: 404 }));
    expect(cluster.network.resolve(address, PORT)).toEqual({ host: address, port: PORT });
  });

  test('whose pods are simulated reaches nobody', async () => {
    await service('web', { ports: [{ port: 80, targetPort: PORT }] });
    await client.create(Pod, aPod('a', 'nginx'));
    await becomes('a', { ready: true });
    expect(await ask('web.default.svc', 80)).toBe('nobody');
  });

  test('of a webhook is where the API server calls it', async () => {
    await service('hook', { ports: [{ port: 443, targetPort: PORT }] });
    await client.create(Pod, aPod('a'));
    await becomes('a', { ready: true });
    const address = (await client.get(Pod, inDefault('a'))).status?.podIP ?? '';
    await until(async () => expect(cluster.network.resolve('hook.default', 443)).toBeDefined());
    await client.create(MutatingWebhookConfiguration, {
      metadata: { name: 'hook' },
      webhooks: [
        {
          name: 'hook.example.com',
          clientConfig: { service: { namespace: 'default', name: 'hook', path: '/mutate' } },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['services'] }],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          failurePolicy: 'Ignore',
        },
      ],
    });
    await service('another', { ports: [{ port: 80 }] });
    expect(calls).toMatchObject([
      { url: expect.stringContaining(`https://${address}:${PORT}/mutate`), serverName: 'hook.default.svc' },
    ]);
  });
});
