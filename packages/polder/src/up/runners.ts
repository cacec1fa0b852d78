import { rm } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { qdrantStandIn } from '@polder/doubles/qdrant';
import {
  type HostImage,
  type ImageRule,
  LOOKUP_MODULE,
  ProcessRunner,
  type Provisioner,
  simulated,
  standIns,
} from '@polder/embedded';
import type { Clock, Logger } from '@polder/kube';
import { PROCESSOR_IMAGE } from '../dataflow.ts';

export interface Runners {
  readonly images: readonly ImageRule[];
  /** Volumes of the standard class are directories. */
  readonly provisioner: Provisioner;
  /** Ends what still runs. */
  close(): Promise<void>;
}

/** In the data folder. */
export const KUBECONFIG_FILE = 'kubeconfig';
export const NAMES_FILE = 'names.json';

const CHECKOUT = join(import.meta.dirname, '../../../..');

/** Images that are run as programs of this machine. */
const HOST_IMAGES: readonly HostImage[] = [
  { images: PROCESSOR_IMAGE, entrypoint: ['polder', 'processor'] },
  { images: 'polder/operator', entrypoint: ['polder', 'operator'] },
  {
    images: 'postgres',
    entrypoint: ['node', join(import.meta.dirname, '../postgres/image.ts')],
    // In a variable, because mount paths are put right in those.
    env: { POLDER_INITDB: '/docker-entrypoint-initdb.d' },
  },
];

export interface RunnersOptions {
  /** Where what runs leaves its logs and volumes. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly env: NodeJS.ProcessEnv;
  /** What DNS is elsewhere, for what runs in this process. */
  readonly addressesOf: (host: string) => readonly string[];
}

/** How images run on this machine. */
export function runnersIn({ folder, clock, log, env, addressesOf }: RunnersOptions): Runners {
  // The Node that runs this program comes first: it is the one that examples are written for. Then this program itself.
  const path = [dirname(process.execPath), CHECKOUT, env['PATH'] ?? ''].join(delimiter);
  const host = new ProcessRunner({
    folder,
    path,
    clock,
    log,
    images: HOST_IMAGES,
    env: {
      // What a service account is elsewhere.
      KUBECONFIG: join(folder, KUBECONFIG_FILE),
      // What DNS is elsewhere.
      POLDER_NAMES: join(folder, NAMES_FILE),
      NODE_OPTIONS: `--import ${pathToFileURL(LOOKUP_MODULE).href} --disable-warning=ExperimentalWarning`,
    },
  });
  const qdrant = qdrantStandIn({ clock, random: Math.random, addressesOf });
  const pathOf = (volume: string) => join(folder, 'volumes', volume);
  return {
    images: [
      { images: 'polder/host', runner: host },
      ...HOST_IMAGES.map(({ images }) => ({ images, runner: host })),
      ...standIns({ 'qdrant/qdrant': qdrant.run }, { folder, clock }),
      { images: '*', runner: simulated(clock) },
    ],
    provisioner: {
      pathOf,
      onVolumeDeleted: ({ metadata }) => rm(pathOf(metadata.name), { recursive: true, force: true }),
    },
    close: () => host.close(),
  };
}
