import type { DisturbanceName } from './disturbances.ts';
import { CALM_MS, staysQuiet, type Trial } from './quiet.ts';
import { Simulation } from './simulation.ts';
import { disturb } from './trouble.ts';
import type { World } from './world.ts';

export interface DisturbedOptions<W extends World> extends Trial<W> {
  readonly by: DisturbanceName;
  /** Who suffers; the first actor of the world unless told otherwise. */
  readonly actor?: string;
  /** How long it lasts: half a minute unless told otherwise. */
  readonly forMs?: number;
  /** How long it may take to converge from then on. Default a quarter of an hour. */
  readonly limitMs?: number;
}

const DISTURBED_MS = 30_000;
const LIMIT_MS = 900_000;

/**
 * The actor is at work; then the disturbance begins, and users carry out the scenario in the middle of it. Once it is over,
 * everything must come to be as it was asked for, and then be quiet.
 */
export async function disturbed<W extends World>(options: DisturbedOptions<W>): Promise<Simulation<W>> {
  const { scenario, isConverged, invariants, by, seed = 1, forMs = DISTURBED_MS, limitMs = LIMIT_MS } = options;
  const world = options.world();
  const { actor = Object.keys(world.actors)[0] ?? '' } = options;
  const simulation = await new Simulation({ seed, world, invariants }).start();
  try {
    await simulation.pass(simulation.random.between(1_000, 5_000));
    const end = disturb(simulation, actor, by);
    const isPlayed = simulation.play(scenario, (random) => random.between(0, forMs / scenario.length));
    await simulation.pass(forMs);
    end();
    const what = `${actor} has got over ${by}`;
    await simulation.until(what, (state, world) => isPlayed() && isConverged(state, world), limitMs);
    await staysQuiet(simulation, CALM_MS);
  } finally {
    simulation.end();
  }
  return simulation;
}
