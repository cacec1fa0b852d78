import { type DisturbanceName, disturbances } from './disturbances.ts';
import type { Simulation } from './simulation.ts';
import type { World } from './world.ts';

/** As long as a supervisor takes to start a process again: what the old one sent has arrived by then. */
const RESTART_MS = 1_000;

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
      return () => simulation.clock.after(RESTART_MS, () => simulation.revive(actor));
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
