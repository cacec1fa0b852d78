/**
 * `node bench/dataflow/run.ts [FLOWS ...]`: what the DataFlow operator costs, with many flows and with few, on a real control
 * plane with simulated nodes (kwok). The operator is a process of its own. Prints a Markdown table; see docs/benchmarks.md.
 */
import { printTable, sizesIn } from '../operator/table.ts';
import { flows } from './flows.ts';

const usage = 'usage: node bench/dataflow/run.ts [FLOWS ...], whole numbers from 1 on';
const sizes = sizesIn(process.argv.slice(2), [1_000, 100], usage);

await printTable(
  sizes.map((count) => ({ name: `${count} flows`, subject: flows, count })),
  {
    seconds: 15,
    cpuSeconds: 5,
    // Seven objects, two of the status, two events.
    writes: 11,
    statusWrites: 2,
    events: 2,
    writesPerChild: 1,
    rssMb: 80,
    idleWrites: 0,
    driftMs: 200,
    restartWrites: 0,
    restartChanges: 0,
  },
);
