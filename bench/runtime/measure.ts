/** One run of one peer, step by step. Every process is fresh; the cluster is the same for all. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Client } from '@polder/kube/client';
import { countingProxy } from './counting-proxy.ts';
import { type Figure, missing, quantile } from './figure.ts';
import { type Peer, PeerProcess, type QueueKind } from './peer.ts';
import { markPod } from './pods.ts';

const EVENTS = 20_000;
const GETS = 300;
const KEYS = 200_000;
const WRITES = 300;
const OUTAGE_MS = 3_000;
/** After which a watch counts as gone for good. */
const PATIENCE_MS = 20_000;

export interface Cluster {
  readonly kubeconfig: string;
  readonly url: string;
  /** Ends the API server as a crash would, and starts it again. */
  kill(): Promise<void>;
  restart(): Promise<void>;
}

export interface Measured {
  readonly rssMb: Figure;
  readonly peakRssMb: Figure;
  readonly syncCpuSeconds: Figure;
  readonly startCpuSeconds: Figure;
  readonly stallMs: Figure;
  readonly eventCpuMs: Figure;
  readonly priorityQueueRate: Figure;
  readonly plainQueueRate: Figure;
  readonly connections: Figure;
  readonly backAfterSeconds: Figure;
  readonly readableP50Ms: Figure;
  readonly readableP99Ms: Figure;
}

export interface Load {
  readonly cluster: Cluster;
  readonly client: Client;
  readonly pods: number;
  /** The command line of the server that replays changes. */
  readonly replay: (kubeconfig: string, certificate: string, key: string) => readonly string[];
}

export async function measure(peer: Peer, isOurs: boolean, load: Load): Promise<Measured> {
  return {
    priorityQueueRate: await measureQueue(peer, 'priority'),
    plainQueueRate: await measureQueue(peer, 'plain'),
    ...(await measureConnections(peer, load.cluster)),
    ...(await measureEvents(peer, load)),
    ...(await measureCache(peer, isOurs, load)),
  };
}

async function measureQueue(peer: Peer, kind: QueueKind): Promise<Figure> {
  if (!peer.queue) return NOT_MEASURED;
  const child = new PeerProcess(peer.queue(kind, KEYS));
  const { cpuSeconds } = await child.next('queue');
  await child.end();
  return KEYS / cpuSeconds / 1e6;
}

async function measureConnections(peer: Peer, cluster: Cluster): Promise<Pick<Measured, 'connections'>> {
  if (!peer.gets) return { connections: NOT_MEASURED };
  const proxy = await countingProxy(Number(new URL(cluster.url).port));
  const child = new PeerProcess(peer.gets(kubeconfigAt(cluster, proxy.port), GETS));
  await child.next('done');
  await child.end();
  await proxy.close();
  return { connections: proxy.connections() };
}

/** The API server is a stand-in here: no real one changes pods fast enough to keep a watcher busy. */
async function measureEvents(peer: Peer, { cluster, replay }: Load): Promise<Pick<Measured, 'eventCpuMs'>> {
  const folder = dirname(cluster.kubeconfig);
  const server = new PeerProcess(
    replay(cluster.kubeconfig, join(folder, 'apiserver.crt'), join(folder, 'apiserver.key')),
  );
  const { port } = await server.next('listening');
  const child = new PeerProcess(peer.cache(kubeconfigAt(cluster, port)));
  await child.next('synced');
  child.tell(`events ${EVENTS}`);
  await child.next('ready');
  server.tell(`send ${EVENTS}`);
  const { cpuSeconds } = await child.next('events');
  await child.end();
  await server.end();
  return { eventCpuMs: (cpuSeconds * 1000) / EVENTS };
}

/** The administrator's kubeconfig, for another port of this machine. */
function kubeconfigAt(cluster: Cluster, port: number): string {
  const path = `${cluster.kubeconfig}.${port}`;
  writeFileSync(path, readFileSync(cluster.kubeconfig, 'utf8').replaceAll(cluster.url, `https://127.0.0.1:${port}`));
  return path;
}

async function measureCache(
  peer: Peer,
  isOurs: boolean,
  { cluster, client, pods }: Load,
): Promise<Omit<Measured, 'priorityQueueRate' | 'plainQueueRate' | 'connections' | 'eventCpuMs'>> {
  const child = new PeerProcess(peer.cache(cluster.kubeconfig));
  try {
    const { report: _, objects, stallMs, ...synced } = await child.next('synced');
    if (objects !== pods) throw new Error(`${peer.name} has ${objects} pods in its cache; there are ${pods}`);

    return {
      ...synced,
      stallMs: stallMs ?? missing('n/a'),
      ...(isOurs ? await measureWrites(child) : NO_WRITES),
      backAfterSeconds: await measureOutage(child, cluster, client),
    };
  } finally {
    await child.end();
  }
}

/** It has none, or the same one as the column before. */
const NOT_MEASURED = missing('');
const NO_WRITES = { readableP50Ms: missing('n/a'), readableP99Ms: missing('n/a') };

async function measureWrites(child: PeerProcess): Promise<Pick<Measured, 'readableP50Ms' | 'readableP99Ms'>> {
  child.tell(`writes ${WRITES}`);
  const { readableAfterMs } = await child.next('writes');
  return { readableP50Ms: quantile(readableAfterMs, 0.5), readableP99Ms: quantile(readableAfterMs, 0.99) };
}

/** From the moment the API server is ready again until the peer has seen a change made after that. */
async function measureOutage(child: PeerProcess, cluster: Cluster, client: Client): Promise<Figure> {
  const mark = `outage-${performance.now()}`;
  child.tell(`see ${mark}`);
  await child.next('ready');
  await cluster.kill();
  await after(OUTAGE_MS);
  await cluster.restart();
  const readyAt = performance.now();
  await markPod(client, 0, mark);
  const seen = await Promise.race([child.next('seen'), after(PATIENCE_MS)]);
  return seen ? (performance.now() - readyAt) / 1000 : missing(`not within ${PATIENCE_MS / 1000} s`);
}

function after(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms);
  });
}
