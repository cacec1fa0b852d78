import { messageOf } from '@polder/kube';
import type { Death } from './process.ts';
import { CALM_MS, staysQuiet, type Trial } from './quiet.ts';
import { Simulation } from './simulation.ts';
import type { World } from './world.ts';

export interface CrashOptions<W extends World> extends Trial<W> {
  /** Who is killed; the first actor of the world unless told otherwise. */
  readonly actor?: string;
  /** How long a run may take to converge. Default ten minutes. */
  readonly limitMs?: number;
}

const LIMIT_MS = 600_000;
/** As long as it takes a supervisor to start a process again. */
const RESTART_MS = 2_000;
/** Users do one thing soon after the other: most of it happens while the actor works on what came before. */
const LONGEST_PAUSE_MS = 500;

/**
 * Runs the scenario once undisturbed and counts the actor's writes. Then, for each of them, twice more: killed before it is
 * sent, and killed once it is carried out and before the answer comes. Each time a fresh process must finish the work, and
 * then be quiet. Resolves with the number of writes. (The same seed gives the same first writes: the n-th of a run is the one
 * that was counted.)
 */
export async function crashAtEveryWrite<W extends World>(options: CrashOptions<W>): Promise<number> {
  const whole = await survived(options, undefined);
  const when = ['before', 'after'] as const;
  for (let atWrite = 1; atWrite <= whole; atWrite++) {
    for (const moment of when) await survived(options, { atWrite, when: moment });
  }
  return whole;
}

/** How many writes the first process did. */
async function survived<W extends World>(options: CrashOptions<W>, death: Death | undefined): Promise<number> {
  const { world: makeWorld, scenario, isConverged, invariants, seed = 1, limitMs = LIMIT_MS } = options;
  const world = makeWorld();
  const { actor = Object.keys(world.actors)[0] ?? '' } = options;
  const simulation = await new Simulation({ seed, world, invariants }).start(death ? { [actor]: death } : {});
  const first = simulation.living(actor);
  if (death) reviveOnceDead(simulation, actor);
  const isPlayed = simulation.play(scenario, (random) => random.between(0, LONGEST_PAUSE_MS));
  try {
    await simulation.until('all is well', (state, world) => isPlayed() && isConverged(state, world), limitMs);
    await staysQuiet(simulation, CALM_MS);
    if (death && first?.isAlive) simulation.fail(`${actor} was never killed: this run is not the one that was counted`);
  } catch (error) {
    if (!death) throw error;
    throw new Error(`killed ${death.when} write ${death.atWrite}: ${messageOf(error)}`, { cause: error });
  } finally {
    simulation.end();
  }
  return first?.writes.filter(({ purpose }) => purpose === 'work').length ?? 0;
}

function reviveOnceDead<W extends World>(simulation: Simulation<W>, actor: string): void {
  simulation.clock.after(RESTART_MS, () => {
    simulation.revive(actor);
    reviveOnceDead(simulation, actor);
  });
}
