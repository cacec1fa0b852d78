/**
 * `node bench/dataflow/run.ts [FLOWS ...]`: what the DataFlow operator costs, with many flows and with few, on a real control
 * plane with simulated nodes (kwok). The operator is a process of its own. Prints a Markdown table; see docs/benchmarks.md.
 */
import { missed, tableOf } from '../runtime/table.ts';
import { type Measured, measure } from './measure.ts';

const SIZES = [1_000, 100];

interface Line {
  readonly field: keyof Measured;
  readonly what: string;
  readonly unit: string;
  readonly digits: number;
  readonly target?: number;
}

/** Of 1,000 flows. */
const LINES: readonly Line[] = [
  { field: 'seconds', what: 'until all run', unit: 's', digits: 1, target: 15 },
  { field: 'cpuSeconds', what: 'CPU of the operator until then', unit: 's', digits: 1, target: 5 },
  { field: 'callsPerFlow', what: 'calls to the API server for each flow', unit: '', digits: 1 },
  // Seven objects, two of the status, two events.
  { field: 'writesPerFlow', what: 'of these, writes', unit: '', digits: 1, target: 11 },
  { field: 'statusWritesPerFlow', what: 'of these, of its status', unit: '', digits: 1, target: 2 },
  { field: 'eventsPerFlow', what: 'events', unit: '', digits: 1, target: 2 },
  { field: 'kilobytesPerFlow', what: 'sent and received for each flow', unit: 'kB', digits: 1 },
  { field: 'emptyRssMb', what: 'RSS of the operator without flows', unit: 'MB', digits: 0 },
  { field: 'rssMb', what: 'RSS of the operator', unit: 'MB', digits: 0, target: 80 },
  { field: 'peakRssMb', what: 'peak RSS', unit: 'MB', digits: 0 },
  { field: 'idleWrites', what: 'writes in 60 s idle', unit: '', digits: 0, target: 0 },
  { field: 'idleCpuSeconds', what: 'CPU in 60 s idle', unit: 's', digits: 2 },
  { field: 'driftMs', what: 'until a change is undone, p50', unit: 'ms', digits: 0, target: 200 },
  { field: 'restartChanges', what: 'objects that a restart changes', unit: '', digits: 0, target: 0 },
  { field: 'restartWritesPerFlow', what: 'writes sent after a restart for each flow', unit: '', digits: 1 },
  { field: 'restartCpuSeconds', what: 'CPU of a restart', unit: 's', digits: 1 },
];

async function main(sizes: readonly number[]): Promise<void> {
  const results: Measured[] = [];
  for (const size of sizes) results.push(await measure(size, say));
  const rows = LINES.map(({ field, ...line }) => ({
    ...line,
    better: 'less' as const,
    figures: results.map((result) => result[field]),
  }));
  console.log('\nIn brackets: as a multiple of the first column.\n');
  console.log(
    tableOf(
      sizes.map((size) => `${size} flows`),
      rows,
    ),
  );
  const whats = missed(rows).map(({ what }) => what);
  console.log(whats.length === 0 ? '\nAll targets reached.' : `\nTargets missed: ${whats.join('; ')}.`);
}

// Ended by a signal, a process skips its exit handlers, and with them the end of the servers it started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const say = (line: string) => console.error(`${Math.round(performance.now() / 1000)} s: ${line}`);

const given = process.argv.slice(2).map(Number);
if (given.some((size) => !Number.isInteger(size) || size < 1)) {
  throw new Error('usage: node bench/dataflow/run.ts [FLOWS ...], whole numbers from 1 on');
}
await main(given.length === 0 ? SIZES : given);
