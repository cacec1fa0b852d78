import type { Purpose } from './connection.ts';
import { simulate } from './simulate.ts';
import type { Simulation } from './simulation.ts';
import type { Invariants, IsConverged, Scenario, World } from './world.ts';

/** What every harness needs to know of a product. */
export interface Trial<W extends World> {
  readonly world: () => W;
  /** What users do. */
  readonly scenario: Scenario;
  readonly isConverged: IsConverged<W>;
  readonly invariants?: Invariants<W>;
  readonly seed?: number;
}

/** Everything is as it should be before the last of it is told: that a series of events is over is seen minutes later. */
const AFTERGLOW_MS = 600_000;
/** Twice as long as the longest interval in which most products look at their resources again. */
const QUIET_MS = 3_600_000;
/** Enough where the runs are many. */
export const CALM_MS = 1_200_000;

/** Once everything is as it was asked for, nothing is written any more, for as long as `forMs` (an hour). */
export async function quiet<W extends World>(trial: Trial<W> & { readonly forMs?: number }): Promise<void> {
  const { seed = 1, isConverged, forMs } = trial;
  const simulation = await simulate({ ...trial, seed, until: isConverged, faults: [] });
  await staysQuiet(simulation, forMs);
  simulation.end();
}

/** The same for a simulation that has converged. */
export async function staysQuiet<W extends World>(simulation: Simulation<W>, forMs = QUIET_MS): Promise<void> {
  await simulation.pass(AFTERGLOW_MS);
  const before = simulation.processes.map(({ writes }) => writes.length);
  await simulation.pass(forMs);
  const since = simulation.processes.flatMap(({ name, writes }, at) =>
    writes.slice(before[at] ?? 0).map(({ purpose, request }) => ({ purpose, line: `${name} ${request}` })),
  );
  const said = (purpose: Purpose) => since.filter((write) => write.purpose === purpose).map(({ line }) => line);
  const [work, events] = [said('work'), said('event')];
  if (work.length + events.length === 0) return;
  simulation.fail(
    `all was as it should be, and yet there were ${work.length} writes and ${events.length} events within ` +
      `${forMs / 1000} s:\n${[...work, ...events].slice(0, 20).join('\n')}`,
  );
}
