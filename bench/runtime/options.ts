import { parseArgs } from 'node:util';

export interface Options {
  /** Each number in the table is the median of this many. */
  readonly runs: number;
  readonly pods: number;
  /** Only peers whose name contains this. */
  readonly only: string | undefined;
}

export const USAGE = `node bench/runtime/run.ts [--runs N] [--pods N] [--only NAME]

Measures caches, queues and connections of Polder's runtime and its peers on one real API server.
  --runs N     runs of each measurement; the table shows medians (3)
  --pods N     pods in the cluster (10000)
  --only NAME  only peers whose name contains NAME`;

export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      runs: { type: 'string', default: '3' },
      pods: { type: 'string', default: '10000' },
      only: { type: 'string' },
    },
  });
  return { runs: count('--runs', values.runs), pods: count('--pods', values.pods), only: values.only };
}

function count(option: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) {
    throw new Error(`${option} is "${text}"; it has to be a whole number from 1 on`);
  }
  return number;
}
