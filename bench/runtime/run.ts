/**
 * `make bench`: our runtime beside its peers, each in a process of its own, on one real API server full of pods.
 * Prints a Markdown table. What is measured, and how, is in docs/benchmarks.md.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, kubeconfig, socketTransport } from '@polder/kube/client';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { medianOf } from './figure.ts';
import { type Measured, measure } from './measure.ts';
import { type Options, parseOptions, USAGE } from './options.ts';
import type { Peer } from './peer.ts';
import { allPeers, buildGoPeer, versionsOfPeers } from './peers.ts';
import { createPods, POD, podRef } from './pods.ts';
import { missed, type Row, tableOf } from './table.ts';

type Line = Omit<Row, 'figures'> & { readonly field: keyof Measured };

const LINES: readonly Line[] = [
  { field: 'rssMb', what: 'RSS after sync', unit: 'MB', digits: 0, better: 'less', target: 110 },
  { field: 'peakRssMb', what: 'peak RSS', unit: 'MB', digits: 0, better: 'less' },
  { field: 'syncCpuSeconds', what: 'CPU to sync', unit: 's', digits: 2, better: 'less', target: 1.5 },
  { field: 'startCpuSeconds', what: 'CPU to start, before sync', unit: 's', digits: 2, better: 'less' },
  {
    field: 'stallMs',
    what: 'longest stall of the event loop in sync',
    unit: 'ms',
    digits: 0,
    better: 'less',
    target: 50,
  },
  { field: 'eventCpuMs', what: 'CPU for each watch event', unit: 'ms', digits: 3, better: 'less', target: 0.07 },
  {
    field: 'priorityQueueRate',
    what: 'queue with priorities: in, out, done',
    unit: 'million/CPU s',
    digits: 2,
    better: 'more',
    target: 0.5,
  },
  { field: 'plainQueueRate', what: 'the same, all of one priority', unit: 'million/CPU s', digits: 2, better: 'more' },
  { field: 'connections', what: 'TLS connections for 300 GETs', unit: '', digits: 0, better: 'less', target: 1 },
  { field: 'backAfterSeconds', what: 'watch back after a 3 s outage', unit: 's', digits: 2, better: 'less', target: 2 },
  { field: 'readableP50Ms', what: 'write readable from the cache, p50', unit: 'ms', digits: 1, better: 'less' },
  {
    field: 'readableP99Ms',
    what: 'write readable from the cache, p99',
    unit: 'ms',
    digits: 1,
    better: 'less',
    target: 20,
  },
];

async function main({ runs, pods, only }: Options): Promise<void> {
  const go = await buildGoPeer();
  const replay = (...args: readonly string[]) => [go, 'replay', ...args];
  const peers = allPeers(go).filter(({ name }) => only === undefined || name.includes(only));
  if (peers.length === 0) throw new Error(`no peer's name contains "${only}"`);
  const cluster = await startControlPlane({ dir: mkdtempSync(join(tmpdir(), 'polder-bench-')) });
  const client = new Client({
    transport: socketTransport(await kubeconfig([cluster.kubeconfig])),
    userAgent: 'polder-bench-load',
  });
  try {
    say(`creating ${pods} pods`);
    await createPods(client, pods);
    const bytes = JSON.stringify(await client.get(POD, podRef(0))).length;
    const { gitVersion } = await client.raw<{ readonly gitVersion: string }>('/version');
    const measured = new Map<Peer, Measured[]>(peers.map((peer) => [peer, []]));
    for (let run = 1; run <= runs; run++) {
      // All peers in each run, so that what else the machine does in that time hits them alike.
      for (const [peer, results] of measured) {
        say(`run ${run} of ${runs}: ${peer.name}`);
        results.push(await measure(peer, peer.name === 'ours', { cluster, client, pods, replay }));
      }
    }
    console.log(`\n${pods} pods of ${(bytes / 1000).toFixed(1)} KB; median of ${runs} run${runs === 1 ? '' : 's'}.`);
    console.log(`${await machine()}, Kubernetes ${gitVersion}, ${versionsOfPeers()}.`);
    console.log('In brackets: how many times as bad as the first column; below 1 is better than it.\n');
    const rows = LINES.map(({ field, ...line }) => ({
      ...line,
      figures: [...measured.values()].map((results) => medianOf(results.map((result) => result[field]))),
    }));
    console.log(
      tableOf(
        [...measured.keys()].map(({ name }) => name),
        rows,
      ),
    );
    if (peers[0]?.name === 'ours') {
      const whats = missed(rows).map(({ what }) => what);
      console.log(whats.length === 0 ? '\nAll targets reached.' : `\nTargets missed: ${whats.join('; ')}.`);
    }
  } finally {
    await client.close();
    await cluster.stop();
  }
}

async function machine(): Promise<string> {
  const go = await promisify(execFile)('go', ['env', 'GOVERSION']);
  return `${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}), Node ${process.version}, Go ${go.stdout.trim().replace('go', '')}`;
}

// Ended by a signal, a process skips its exit handlers, and with them the end of the servers it started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const say = (line: string) => console.error(`${Math.round(performance.now() / 1000)} s: ${line}`);

if (process.argv.includes('--help')) console.log(USAGE);
else await main(parseOptions(process.argv.slice(2)));
