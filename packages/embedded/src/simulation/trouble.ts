import { type DisturbanceName, disturbances } from './disturbances.ts';
import type { Random } from './random.ts';
import type { Simulation } from './simulation.ts';
import type { World } from './world.ts';

/** One disturbance of a run: what, whom, when and for how long. */
export interface Trouble {
  readonly name: DisturbanceName;
  readonly actor: string;
  readonly atMs: number;
  readonly forMs: number;
}

const MOST_TROUBLES = 8;
/** As long as a supervisor takes to start a process again: what the old one sent has arrived by then. */
const SHORTEST_MS = 1_000;
const LONGEST_MS = 60_000;

/** Pure: the troubles of a run, as the seed has it. All of them end before `withinMs`. */
export function drawTroubles(
  random: Random,
  names: readonly DisturbanceName[],
  actors: readonly string[],
  withinMs: number,
): readonly Trouble[] {
  if (names.length === 0 || actors.length === 0) return [];
  return Array.from({ length: random.integer(1, MOST_TROUBLES) }, () => {
    const atMs = random.between(0, withinMs - SHORTEST_MS);
    const forMs = random.between(SHORTEST_MS, Math.min(LONGEST_MS, withinMs - atMs));
    return { name: random.pick(names), actor: random.pick(actors), atMs, forMs };
  });
}

/** Lets them happen, each at its time. */
export function schedule<W extends World>(simulation: Simulation<W>, troubles: readonly Trouble[]): void {
  for (const { name, actor, atMs, forMs } of troubles) {
    simulation.clock.after(atMs, () => {
      const end = disturb(simulation, actor, name);
      simulation.clock.after(forMs, end);
    });
  }
}

/** Begins a disturbance of one actor; returns how to end it. Both are in the trace. */
export function disturb<W extends World>(simulation: Simulation<W>, actor: string, name: DisturbanceName): () => void {
  const { server, trace } = simulation;
  trace.add(actor, `suffers ${name}`);
  const end = disturbances[name]({
    server,
    actor,
    random: simulation.random.fork(`${name} of ${actor} at ${simulation.clock.monotonic()}`),
    kill() {
      simulation.living(actor)?.kill();
      return () => simulation.revive(actor);
    },
    freeze() {
      const process = simulation.living(actor);
      process?.clock.hold();
      return () => process?.clock.release();
    },
  });
  return () => {
    trace.add(actor, `no longer suffers ${name}`);
    end();
  };
}
