import { relative } from 'node:path';

export interface FailureDetails {
  readonly seed: number;
  readonly atMs: number;
  readonly because: string;
  readonly trace: readonly string[];
  /** The stack of whoever started the run. */
  readonly startedBy: string;
}

/** A simulation that did not go as it should: what, when, after what, and how to see it again. */
export class SimulationFailure extends Error {
  override readonly name = 'SimulationFailure';
  readonly seed: number;

  constructor({ seed, atMs, because, trace, startedBy }: FailureDetails) {
    const lines = [
      because,
      `  seed ${seed}, after ${(atMs / 1000).toFixed(6)} s; again with: ${replayCommand(seed, startedBy)}`,
      `  the last ${trace.length} lines of the trace, without routine:`,
      ...trace,
    ];
    super(lines.join('\n'));
    this.seed = seed;
  }
}

/** The test that started the run is the one to run again. */
function replayCommand(seed: number, stack: string): string {
  const file = /(?:file:\/\/)?(\/[^\s():]*\.test\.ts)/.exec(stack)?.[1];
  const path = file === undefined ? '' : ` ${relative(process.cwd(), file)}`;
  return `POLDER_SEED=${seed} npx vitest run --project unit${path}`;
}
