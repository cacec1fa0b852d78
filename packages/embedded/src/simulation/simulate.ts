import { type DisturbanceName, disturbanceNames } from './disturbances.ts';
import { Simulation } from './simulation.ts';
import { drawTroubles, schedule } from './trouble.ts';
import type { Invariants, IsConverged, Scenario, World } from './world.ts';

export interface SimulateOptions<W extends World> {
  readonly seed: number;
  readonly world: () => W;
  /** What users do meanwhile. */
  readonly scenario?: Scenario;
  /** What must be so in the end: after the scenario, and once the last trouble is over. */
  readonly until: IsConverged<W>;
  readonly invariants?: Invariants<W>;
  /** What the seed may choose from; everything that is known, unless told otherwise. */
  readonly faults?: readonly DisturbanceName[];
  /** Who may be hit; every actor unless told otherwise. */
  readonly actors?: readonly string[];
  /** Virtual time until it must be so: troubles and users have the first tenth of it. Default half an hour. */
  readonly limitMs?: number;
}

const LIMIT_MS = 1_800_000;
/** So often a user goes on before anyone can have followed. */
const HASTE = 0.3;

/**
 * Runs a world once: actors at work, users with their scenario, and troubles, all as the seed has it. Resolves with the
 * simulation once everything is as it should be; fails with `SimulationFailure` if an invariant breaks or it never comes to
 * that. Whoever called it ends the simulation.
 */
export async function simulate<W extends World>(options: SimulateOptions<W>): Promise<Simulation<W>> {
  const { seed, invariants, scenario = [], until, faults = disturbanceNames, limitMs = LIMIT_MS } = options;
  const simulation = await new Simulation({ seed, world: options.world(), invariants }).start();
  const { clock, random, world } = simulation;
  const troubledMs = limitMs / 10;
  const actors = options.actors ?? Object.keys(world.actors);
  schedule(simulation, drawTroubles(random.fork('troubles'), faults, actors, troubledMs));
  const longestPause = troubledMs / scenario.length;
  const isPlayed = simulation.play(scenario, (random) => random.between(0, random.chance(HASTE) ? 200 : longestPause));
  const calmAt = clock.monotonic() + troubledMs;
  // Nobody has to wait for a calm that is there from the start.
  const isCalm = () => faults.length === 0 || clock.monotonic() >= calmAt;
  try {
    await simulation.until('all is well', (state, world) => isPlayed() && isCalm() && until(state, world), limitMs);
    return simulation;
  } catch (error) {
    simulation.end();
    throw error;
  }
}
