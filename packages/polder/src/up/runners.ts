import { rm } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { type ImageRule, ProcessRunner, type Provisioner, simulated } from '@polder/embedded';
import type { Clock, Logger } from '@polder/kube';

export interface Runners {
  readonly images: readonly ImageRule[];
  /** Volumes of the standard class are directories. */
  readonly provisioner: Provisioner;
  /** Ends what still runs. */
  close(): Promise<void>;
}

const CHECKOUT = join(import.meta.dirname, '../../../..');

/** How images run on this machine. What runs on it leaves its logs and volumes in the folder. */
export function runnersIn(folder: string, clock: Clock, log: Logger, env: NodeJS.ProcessEnv): Runners {
  // The Node that runs this program comes first: it is the one that examples are written for. And the program itself is there
  // under its name, as it is in its image.
  const path = [dirname(process.execPath), CHECKOUT, env['PATH'] ?? ''].join(delimiter);
  const host = new ProcessRunner({ folder, path, clock, log });
  const pathOf = (volume: string) => join(folder, 'volumes', volume);
  return {
    images: [
      { images: 'polder/host', runner: host },
      { images: 'polder/polder', runner: host },
      { images: '*', runner: simulated(clock) },
    ],
    provisioner: {
      pathOf,
      onVolumeDeleted: ({ metadata }) => rm(pathOf(metadata.name), { recursive: true, force: true }),
    },
    close: () => host.close(),
  };
}
