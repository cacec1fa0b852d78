/**
 * `node bench/qdrant/run.ts [CLUSTERS ...]`: what the Qdrant operator costs, with clusters of one peer and of three, on a real
 * control plane with simulated nodes (kwok). The operator is a process of its own, and so is what answers for the peers.
 * Prints a Markdown table; see docs/benchmarks.md.
 */
import { printTable, sizesIn } from '../operator/table.ts';
import { clusters } from './clusters.ts';

const PEERS = [1, 3];

const usage = 'usage: node bench/qdrant/run.ts [CLUSTERS ...], whole numbers from 1 on';
const sizes = sizesIn(process.argv.slice(2), [500], usage);

await printTable(
  sizes.flatMap((count) =>
    PEERS.map((peers) => ({ name: `${count} clusters, peers: ${peers}`, subject: clusters(peers), count })),
  ),
  {
    seconds: 20,
    writesPerChild: 1,
    rssMb: 90,
    idleWrites: 0,
    driftMs: 200,
    restartWrites: 0,
    restartChanges: 0,
  },
);
