/** One size, step by step, on a control plane of its own. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Cache,
  Client,
  CustomResourceDefinition,
  crdOf,
  kubeconfig,
  Pod,
  resourceNameOf,
  silentLogger,
  socketTransport,
  systemClock,
} from '@polder/kube';
import { sleep } from '@polder/kube/clock';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { useOfChildren } from '../cluster/process-use.ts';
import { quantile } from '../runtime/figure.ts';
import { type Call, type MeteringProxy, meteringProxy } from './metering-proxy.ts';
import { OperatorProcess } from './operator-process.ts';
import { NAMESPACE, type PodServer, type Subject } from './subject.ts';

export interface Measured {
  /** From the first resource that is created until all of them are as they should be. */
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Of all else until then: etcd, the API server and its controllers, the nodes, and what stands for the pods. */
  readonly otherCpuSeconds: number;
  /** For each resource, as all that follows to `kilobytes`. */
  readonly passes: number;
  readonly calls: number;
  readonly writes: number;
  readonly statusWrites: number;
  readonly events: number;
  readonly kilobytes: number;
  /** To one of the objects that are made for a resource: the most. */
  readonly writesPerChild: number;
  /** Before there is a resource. */
  readonly emptyRssMb: number;
  readonly rssMb: number;
  readonly peakRssMb: number;
  readonly idleWrites: number;
  readonly idleCpuSeconds: number;
  readonly driftMs: number;
  /** In all, but for events: who leads now is told. */
  readonly restartWrites: number;
  readonly restartEvents: number;
  /** How many objects are others after it. */
  readonly restartChanges: number;
  readonly restartCpuSeconds: number;
}

const NODES = 3;
const IDLE_MS = 60_000;
/** After so long without a call to the API server, an operator has done what there was to do. */
const QUIET_MS = 3_000;
const DRIFTS = 20;
const USERS = 16;

export async function measure(subject: Subject, count: number, say: (line: string) => void): Promise<Measured> {
  const dir = mkdtempSync(join(tmpdir(), 'polder-bench-'));
  const cluster = await startControlPlane({ dir, controllers: true, nodes: NODES });
  const client = new Client({ transport: socketTransport(await kubeconfig([cluster.kubeconfig])), userAgent: 'bench' });
  const proxy = await meteringProxy(cluster);
  const pods = await subject.servePods();
  try {
    for (const kind of subject.kinds) await client.create(CustomResourceDefinition, crdOf(kind));
    await subject.prepare(client);
    const operator = await OperatorProcess.start(subject, proxy.kubeconfig, pods);
    await becomesQuiet(proxy);
    const emptyRssMb = operator.use.rssMb;

    say(`creating ${count} ${subject.each}s`);
    const converged = await converge(subject, client, count, operator, proxy);
    say(`idle for ${IDLE_MS / 1000} s`);
    const idle = await idling(operator, proxy);
    say(`${DRIFTS} times, ${subject.drift.what}`);
    const driftMs = await drifting(subject, client, count);
    await becomesQuiet(proxy);
    const peakRssMb = operator.peakRssMb;
    await operator.stop();
    say('starting the operator again');
    const restarted = await restarting(subject, client, count, proxy, pods);
    return { ...converged, ...idle, driftMs, emptyRssMb, peakRssMb, ...restarted };
  } finally {
    pods.close();
    proxy.close();
    await client.close();
    await cluster.stop();
  }
}

async function converge(
  subject: Subject,
  client: Client,
  count: number,
  operator: OperatorProcess,
  proxy: MeteringProxy,
) {
  const [startedAt, before, all] = [performance.now(), operator.use, useOfChildren()];
  const [calls, bytes, passes] = [proxy.calls.length, proxy.bytes(), await operator.passes()];
  const ready = becomesReady(subject, client, count);
  await inParallel(count, (number) => subject.create(client, number));
  await ready;
  const seconds = (performance.now() - startedAt) / 1000;
  const cpuSeconds = operator.use.cpuSeconds - before.cpuSeconds;
  const otherCpuSeconds = useOfChildren().cpuSeconds - all.cpuSeconds - cpuSeconds;
  await becomesQuiet(proxy);
  const made = proxy.calls.slice(calls).filter((call) => !isLease(call));
  const writes = made.filter(isWrite);
  const of = (wanted: (call: Call) => boolean) => writes.filter(wanted).length / count;
  return {
    seconds,
    cpuSeconds,
    otherCpuSeconds,
    passes: ((await operator.passes()) - passes) / count,
    calls: made.length / count,
    writes: writes.length / count,
    statusWrites: of(({ resource }) => resource.endsWith('/status')),
    events: of(isEvent),
    kilobytes: (proxy.bytes() - bytes) / 1000 / count,
    writesPerChild: mostWritten(subject, writes),
  };
}

/** By a watch: to ask for all of them again and again would take the API server more time than the operator does. */
async function becomesReady({ awaited }: Subject, client: Client, count: number): Promise<void> {
  const cache = new Cache({ client, clock: systemClock, random: Math.random, log: silentLogger });
  const all = awaited.map(({ kind, times, isReady }) => {
    const store = cache.of(kind);
    return store.until(() => store.size === count * times && store.list().every(isReady));
  });
  cache.start();
  await Promise.all(all);
  await cache.stop();
}

/** A write to a collection makes an object, and says in its body which one: each is the only one to that object. */
function mostWritten({ children }: Subject, writes: readonly Call[]): number {
  const resources = new Set(children.map((kind) => kind.plural));
  const times = new Map<string, number>();
  for (const { resource, method, path } of writes) {
    if (resources.has(resource) && method !== 'POST') times.set(path, (times.get(path) ?? 0) + 1);
  }
  return Math.max(0, ...times.values());
}

/** The Lease is not counted: to renew it is what an operator does while it does nothing. */
async function idling(operator: OperatorProcess, proxy: MeteringProxy) {
  const [before, calls] = [operator.use, proxy.calls.length];
  await sleep(systemClock, IDLE_MS);
  const { cpuSeconds, rssMb } = operator.use;
  return { rssMb, idleWrites: writesSince(proxy, calls).length, idleCpuSeconds: cpuSeconds - before.cpuSeconds };
}

/** From the answer to a change until it is undone; the median. */
async function drifting({ drift }: Subject, client: Client, count: number): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < DRIFTS; n++) {
    const number = Math.floor((n * count) / DRIFTS);
    await drift.change(client, number);
    const changedAt = performance.now();
    while (!(await drift.isUndone(client, number))) await sleep(systemClock, 5);
    times.push(performance.now() - changedAt);
  }
  return quantile(times, 0.5);
}

async function restarting(subject: Subject, client: Client, count: number, proxy: MeteringProxy, pods: PodServer) {
  const [calls, before] = [proxy.calls.length, await versions(subject, client)];
  const operator = await OperatorProcess.start(subject, proxy.kubeconfig, pods);
  // One that still waits for the lease is quiet, too.
  while ((await operator.passes().catch(() => 0)) < count) await sleep(systemClock, 500);
  await becomesQuiet(proxy, calls);
  const { cpuSeconds } = operator.use;
  await operator.stop();
  const written = writesSince(proxy, calls);
  const after = await versions(subject, client);
  return {
    restartWrites: written.filter((call) => !isEvent(call)).length,
    restartEvents: written.filter(isEvent).length,
    restartChanges: [...after].filter(([uid, version]) => before.get(uid) !== version).length,
    restartCpuSeconds: cpuSeconds,
  };
}

/** In which version all resources and all that was made for them are, by uid. */
async function versions({ kinds, children }: Subject, client: Client): Promise<ReadonlyMap<string, string>> {
  const all = new Map([...kinds, ...children, Pod].map((kind) => [resourceNameOf(kind), kind]));
  const lists = await Promise.all(all.values().map((kind) => client.list(kind, { namespace: NAMESPACE })));
  return new Map(
    lists.flatMap(({ items }) => items.map(({ metadata }) => [metadata.uid ?? '', metadata.resourceVersion ?? ''])),
  );
}

const isWrite = ({ method }: Call) => method !== 'GET';
const isEvent = ({ resource }: Call) => resource === 'events';
const isLease = ({ resource }: Call) => resource === 'leases';

function writesSince({ calls }: MeteringProxy, first: number): readonly Call[] {
  return calls.slice(first).filter((call) => isWrite(call) && !isLease(call));
}

/** Waits until an operator has nothing left to ask or to say, after it has asked for more than `before`. */
async function becomesQuiet({ calls }: MeteringProxy, before = 0): Promise<void> {
  for (;;) {
    await sleep(systemClock, 100);
    const last = calls.slice(before).findLast((call) => !isLease(call));
    if (last && performance.now() - last.at > QUIET_MS) return;
  }
}

async function inParallel(count: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: USERS }, worker));
}
