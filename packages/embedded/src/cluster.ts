import { type Logger, silentLogger, systemClock } from '@polder/kube';
import {
  type ApiServer,
  type ApiServerOptions,
  type Column,
  createApiServer,
  type Listener,
  type ListenOptions,
  type ServiceResolver,
} from './apiserver/index.ts';
import type { Provisioner } from './controllers/persistent-volume/index.ts';
import { type ImageRule, logsBy, RUNNER_ANNOTATION, simulated } from './kubelet/index.ts';
import { startMachinery } from './machinery.ts';
import type { Network } from './network/index.ts';
import { type Machine, thisMachine } from './nodes/index.ts';

export interface ClusterOptions extends Omit<ApiServerOptions, 'podLogs' | 'moreColumns' | 'resolveService'> {
  /** Silent unless told otherwise. */
  readonly log?: Logger;
  /** One unless told otherwise. */
  readonly nodes?: number;
  /** What each node has to give: what this machine has, unless told otherwise. */
  readonly machine?: Machine;
  /** Which images run how. All are simulated unless told otherwise. */
  readonly images?: readonly ImageRule[];
  /** Where the directories of volumes are. Nowhere unless told otherwise: simulated pods write nothing. */
  readonly provisioner?: Provisioner;
  /**
   * The block of 4,096 loopback addresses for pods that run on this machine: `127.64.0.0` unless told otherwise. Clusters
   * that run at the same time need different ones, or their pods take each other's ports.
   */
  readonly loopback?: string;
  /** Serve the API on a socket, too. */
  readonly listen?: ListenOptions;
}

export interface EmbeddedCluster {
  readonly server: ApiServer;
  /** Where the names and addresses of pods and services are on this machine. */
  readonly network: Network;
  readonly listener: Listener | undefined;
  /** Resolves when the nodes are there and the controllers at work. */
  readonly ready: Promise<void>;
  /** Resolves when it was stopped; rejects when it could not go on. */
  readonly running: Promise<void>;
  /** Controllers, then containers, then the API server. */
  stop(): Promise<void>;
}

/** `kubectl get pods -o wide` says what is real. */
const RUNNER_COLUMN: Column = {
  name: 'Runner',
  type: 'string',
  description: 'How the containers of the pod are run: as processes, as stand-ins, or only as a simulation.',
  priority: 1,
  cell: ({ metadata }) => metadata.annotations?.[RUNNER_ANNOTATION] ?? '<none>',
};

const NOWHERE: Provisioner = {
  pathOf: (volume) => `/var/lib/polder/volumes/${volume}`,
  onVolumeDeleted: async () => {},
};

/** A whole cluster in this process. */
export async function startCluster(options: ClusterOptions = {}): Promise<EmbeddedCluster> {
  const { clock = systemClock, random = Math.random, log = silentLogger, nodes = 1 } = options;
  const images = options.images ?? [{ images: '*', runner: simulated(clock) }];
  // The server comes before the controllers, and what they know of its services: until then, no service can be reached.
  let network: Network | undefined;
  const resolveService: ServiceResolver = async ({ namespace, name, port = 443 }) => {
    const found = network?.resolve(`${name}.${namespace}.svc`, port);
    if (found === undefined) throw new Error(`no endpoints available for service "${name}"`);
    return found;
  };
  const server = createApiServer({
    ...options,
    podLogs: logsBy(images),
    moreColumns: { pods: [RUNNER_COLUMN] },
    resolveService,
  });
  try {
    const listener = options.listen && (await server.listen(options.listen));
    const machinery = startMachinery({
      server,
      transport: server.transport(),
      clock,
      random,
      log,
      nodes,
      machine: options.machine ?? thisMachine(),
      images,
      rootCa: listener?.ca,
      provisioner: options.provisioner ?? NOWHERE,
      loopback: options.loopback,
    });
    network = machinery.network;
    return {
      server,
      network,
      listener,
      ready: machinery.ready,
      running: machinery.running,
      async stop() {
        await machinery.stop();
        await listener?.close();
        server.close();
      },
    };
  } catch (error) {
    server.close();
    throw error;
  }
}
