import { missed, tableOf } from '../runtime/table.ts';
import { type Measured, measure } from './measure.ts';
import type { Subject } from './subject.ts';

export type Targets = Partial<Readonly<Record<keyof Measured, number>>>;

interface Line {
  readonly field: keyof Measured;
  readonly what: string;
  readonly unit: string;
  readonly digits: number;
}

const linesFor = (each: string): readonly Line[] => [
  { field: 'seconds', what: 'until all are ready', unit: 's', digits: 1 },
  { field: 'cpuSeconds', what: 'CPU of the operator until then', unit: 's', digits: 1 },
  { field: 'otherCpuSeconds', what: 'CPU of the control plane until then', unit: 's', digits: 1 },
  { field: 'passes', what: `passes of controllers for each ${each}`, unit: '', digits: 1 },
  { field: 'calls', what: `calls to the API server for each ${each}`, unit: '', digits: 1 },
  { field: 'writes', what: 'of these, writes', unit: '', digits: 1 },
  { field: 'statusWrites', what: 'of these, of a status', unit: '', digits: 1 },
  { field: 'events', what: 'events', unit: '', digits: 1 },
  { field: 'writesPerChild', what: 'writes to one object of it, the most', unit: '', digits: 0 },
  { field: 'kilobytes', what: `sent and received for each ${each}`, unit: 'kB', digits: 1 },
  { field: 'emptyRssMb', what: `RSS of the operator without a ${each}`, unit: 'MB', digits: 0 },
  { field: 'rssMb', what: 'RSS of the operator', unit: 'MB', digits: 0 },
  { field: 'peakRssMb', what: 'peak RSS', unit: 'MB', digits: 0 },
  { field: 'idleWrites', what: 'writes in 60 s idle', unit: '', digits: 0 },
  { field: 'idleCpuSeconds', what: 'CPU in 60 s idle', unit: 's', digits: 2 },
  { field: 'driftMs', what: 'until a change is undone, p50', unit: 'ms', digits: 0 },
  { field: 'restartWrites', what: 'writes after a restart', unit: '', digits: 0 },
  { field: 'restartEvents', what: 'events after a restart', unit: '', digits: 0 },
  { field: 'restartChanges', what: 'objects that a restart changes', unit: '', digits: 0 },
  { field: 'restartCpuSeconds', what: 'CPU of a restart', unit: 's', digits: 1 },
];

/** A run: so many of a subject. Its name stands above its column. */
export interface Run {
  readonly name: string;
  readonly subject: Subject;
  readonly count: number;
}

/** Prints a Markdown table with a column for each run. The targets are those of the first. */
export async function printTable(runs: readonly Run[], targets: Targets): Promise<void> {
  const results: Measured[] = [];
  for (const { subject, count } of runs) results.push(await measure(subject, count, say));
  const rows = linesFor(runs[0]?.subject.each ?? '').map(({ field, ...line }) => ({
    ...line,
    better: 'less' as const,
    target: targets[field],
    figures: results.map((result) => result[field]),
  }));
  const columns = runs.map(({ name }) => name);
  console.log(`\nIn brackets: as a multiple of the first column.\n\n${tableOf(columns, rows)}`);
  const whats = missed(rows).map(({ what }) => what);
  console.log(whats.length === 0 ? '\nAll targets reached.' : `\nTargets missed: ${whats.join('; ')}.`);
}

const say = (line: string) => console.error(`${Math.round(performance.now() / 1000)} s: ${line}`);

/** The numbers that a command was given, or `usual`. */
export function sizesIn(args: readonly string[], usual: readonly number[], usage: string): readonly number[] {
  const given = args.map(Number);
  if (given.some((size) => !Number.isInteger(size) || size < 1)) throw new Error(usage);
  return given.length === 0 ? usual : given;
}

// Ended by a signal, a process skips its exit handlers, and with them the end of the servers it started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
