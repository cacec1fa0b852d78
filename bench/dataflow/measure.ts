/** One size, step by step, on a control plane of its own. */
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataFlow } from '@polder/dataflow';
import {
  Client,
  ConfigMap,
  CustomResourceDefinition,
  crdOf,
  Deployment,
  type Kind,
  kubeconfig,
  Pod,
  Role,
  RoleBinding,
  Secret,
  ServiceAccount,
  socketTransport,
  systemClock,
} from '@polder/kube';
import { sleep } from '@polder/kube/clock';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { quantile } from '../runtime/figure.ts';
import { type Call, type MeteringProxy, meteringProxy } from './metering-proxy.ts';
import { OperatorProcess } from './operator-process.ts';

export interface Measured {
  /** From the first flow that is created until all of them run. */
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly callsPerFlow: number;
  readonly writesPerFlow: number;
  readonly statusWritesPerFlow: number;
  readonly eventsPerFlow: number;
  readonly kilobytesPerFlow: number;
  /** Before there is a flow. */
  readonly emptyRssMb: number;
  readonly rssMb: number;
  readonly peakRssMb: number;
  readonly idleWrites: number;
  readonly idleCpuSeconds: number;
  readonly driftMs: number;
  /** Sent; most of them change nothing. */
  readonly restartWritesPerFlow: number;
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

export async function measure(flows: number, say: (line: string) => void): Promise<Measured> {
  const dir = mkdtempSync(join(tmpdir(), 'polder-bench-'));
  const cluster = await startControlPlane({ dir, controllers: true, nodes: NODES });
  const client = new Client({ transport: socketTransport(await kubeconfig([cluster.kubeconfig])), userAgent: 'bench' });
  const proxy = await meteringProxy(cluster);
  const processors = await startProcessors();
  try {
    await client.create(CustomResourceDefinition, crdOf(DataFlow));
    await client.create(Secret, {
      metadata: at('database'),
      data: { url: Buffer.from('postgres://db').toString('base64') },
    });
    const operator = new OperatorProcess(proxy.kubeconfig, processors.address);
    await becomesQuiet(proxy);
    const emptyRssMb = operator.use.rssMb;

    say(`creating ${flows} DataFlows`);
    const converged = await converge(client, flows, operator, proxy);
    say(`idle for ${IDLE_MS / 1000} s`);
    const idle = await idling(operator, proxy);
    say(`changing ${DRIFTS} Deployments`);
    const driftMs = await drifting(client, flows);
    await becomesQuiet(proxy);
    const peakRssMb = operator.peakRssMb;
    await operator.stop();
    say('starting the operator again');
    return {
      ...converged,
      ...idle,
      driftMs,
      emptyRssMb,
      peakRssMb,
      ...(await restarting(client, flows, proxy, processors.address)),
    };
  } finally {
    processors.close();
    proxy.close();
    await client.close();
    await cluster.stop();
  }
}

const nameOf = (flow: number) => `flow-${flow}`;
const at = (name: string) => ({ namespace: 'default', name });

/** One with all that a flow of one processor can have: a Secret, a checkpoint and the right to write it. */
const flowSpec = (flow: number) => ({
  source: {
    type: 'postgresql',
    config: { connectionStringSecretRef: { name: 'database', key: 'url' }, table: `table_${flow}` },
  },
  sink: { type: 'kafka', config: { brokers: ['kafka:9092'], topic: `topic-${flow}` } },
  transformations: [{ type: 'snakeCase', config: {} }],
});

async function converge(client: Client, flows: number, operator: OperatorProcess, proxy: MeteringProxy) {
  const [startedAt, before, calls, bytes] = [performance.now(), operator.use, proxy.calls.length, proxy.bytes()];
  await inParallel(flows, async (flow) => {
    await client.create(DataFlow, { metadata: at(nameOf(flow)), spec: flowSpec(flow) });
  });
  for (;;) {
    const { items } = await client.list(DataFlow, { namespace: 'default' });
    if (items.every(({ status }) => status?.phase === 'Running')) break;
    await sleep(systemClock, 250);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  await becomesQuiet(proxy);
  const made = proxy.calls.slice(calls).filter((call) => !isLease(call));
  const writes = made.filter(isWrite);
  const of = (resource: string) => writes.filter((call) => call.resource === resource).length / flows;
  return {
    seconds,
    cpuSeconds: operator.use.cpuSeconds - before.cpuSeconds,
    callsPerFlow: made.length / flows,
    writesPerFlow: writes.length / flows,
    statusWritesPerFlow: of('dataflows/status'),
    eventsPerFlow: of('events'),
    kilobytesPerFlow: (proxy.bytes() - bytes) / 1000 / flows,
  };
}

/** The Lease is not counted: to renew it is what an operator does while it does nothing. */
async function idling(operator: OperatorProcess, proxy: MeteringProxy) {
  const [before, calls] = [operator.use, proxy.calls.length];
  await sleep(systemClock, IDLE_MS);
  const { cpuSeconds, rssMb } = operator.use;
  return { rssMb, idleWrites: writesSince(proxy, calls), idleCpuSeconds: cpuSeconds - before.cpuSeconds };
}

/** From the answer to a change until it is undone; the median. */
async function drifting(client: Client, flows: number): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < DRIFTS; n++) {
    const ref = at(`dataflow-${nameOf(Math.floor((n * flows) / DRIFTS))}`);
    await client.patch(Deployment, ref, { type: 'merge', body: { spec: { revisionHistoryLimit: 7 } } });
    const changedAt = performance.now();
    while ((await client.get(Deployment, ref)).spec?.revisionHistoryLimit === 7) await sleep(systemClock, 5);
    times.push(performance.now() - changedAt);
  }
  return quantile(times, 0.5);
}

async function restarting(client: Client, flows: number, proxy: MeteringProxy, processors: string) {
  const [calls, before] = [proxy.calls.length, await versions(client)];
  const operator = new OperatorProcess(proxy.kubeconfig, processors);
  await becomesQuiet(proxy, calls);
  const { cpuSeconds } = operator.use;
  await operator.stop();
  const after = await versions(client);
  return {
    restartWritesPerFlow: writesSince(proxy, calls) / flows,
    restartChanges: [...after].filter(([uid, version]) => before.get(uid) !== version).length,
    restartCpuSeconds: cpuSeconds,
  };
}

/** In which version all flows and all that was made for them are, by uid. */
async function versions(client: Client): Promise<ReadonlyMap<string, string>> {
  const kinds: readonly Kind[] = [DataFlow, ConfigMap, Secret, ServiceAccount, Role, RoleBinding, Deployment, Pod];
  const lists = await Promise.all(kinds.map((kind) => client.list(kind, { namespace: 'default' })));
  return new Map(
    lists.flatMap(({ items }) => items.map(({ metadata }) => [metadata.uid ?? '', metadata.resourceVersion ?? ''])),
  );
}

const isWrite = ({ method }: Call) => method !== 'GET';
const isLease = ({ resource }: Call) => resource === 'leases';

function writesSince({ calls }: MeteringProxy, first: number): number {
  return calls.slice(first).filter((call) => isWrite(call) && !isLease(call)).length;
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

/** One that stands for all processors, and has nothing to do: they are asked for their counters every so often. */
async function startProcessors(): Promise<{ readonly address: string; close(): void }> {
  const server = createServer((_, answer) => answer.end('process_start_time_seconds 1\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    address: `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
