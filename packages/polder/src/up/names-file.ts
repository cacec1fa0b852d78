import { renameSync, writeFileSync } from 'node:fs';
import type { Network } from '@polder/embedded';
import type { Clock, Timer } from '@polder/kube';

/** Keeps the names of the cluster in a file, for the programs that run in it. */
export function keepNames(network: Pick<Network, 'names' | 'subscribe'>, path: string, clock: Clock): { stop(): void } {
  let timer: Timer | undefined;
  const write = () => {
    timer = undefined;
    // Replaced as a whole: somebody may be reading.
    writeFileSync(`${path}.next`, `${JSON.stringify(Object.fromEntries(network.names()))}\n`, { mode: 0o600 });
    renameSync(`${path}.next`, path);
  };
  // Several changes come at a time; the last one of them is enough.
  const { unsubscribe } = network.subscribe(() => (timer ??= clock.after(0, write)));
  return {
    stop() {
      unsubscribe();
      timer?.cancel();
    },
  };
}
