import { Client, type Logger, Manager, register, silentLogger, systemClock } from '@polder/kube';
import {
  type ApiServer,
  type ApiServerOptions,
  type Column,
  createApiServer,
  type Listener,
  type ListenOptions,
} from './apiserver/index.ts';
import { createControllers } from './controllers/index.ts';
import { Addresses, type ImageRule, Kubelet, podController, RUNNER_ANNOTATION, simulated } from './kubelet/index.ts';
import { Network } from './network/index.ts';
import { scheduler } from './scheduler/index.ts';

export interface ClusterOptions extends ApiServerOptions {
  /** Silent unless told otherwise. */
  readonly log?: Logger;
  /** The names of the nodes whose pods are run. */
  readonly nodes?: readonly string[];
  /** Which images run how. All are simulated unless told otherwise. */
  readonly images?: readonly ImageRule[];
  /** Serve the API on a socket, too. */
  readonly listen?: ListenOptions;
}

export interface EmbeddedCluster {
  readonly server: ApiServer;
  /** Where the names and addresses of pods and services are on this machine. */
  readonly network: Network;
  readonly listener: Listener | undefined;
  /** Resolves when the controllers are at work. */
  readonly ready: Promise<void>;
  /** Resolves when it was stopped; rejects when it could not go on. */
  readonly running: Promise<void>;
  /** Controllers first, so that nobody restarts what ends; then containers; then the API server. */
  stop(): Promise<void>;
}

/** Loopback on Linux is a whole block of addresses; 127.0.0.1 itself is everybody's. */
const REACHABLE = '127.64.0.0';
const UNREACHABLE = '10.244.0.0';

/** How long containers get when the cluster stops. */
const STOP_MS = 10_000;

/** `kubectl get pods -o wide` says what is real. */
const RUNNER_COLUMN: Column = {
  name: 'Runner',
  type: 'string',
  description: 'How the containers of the pod are run: as processes, as stand-ins, or only as a simulation.',
  priority: 1,
  cell: ({ metadata }) => metadata.annotations?.[RUNNER_ANNOTATION] ?? '<none>',
};

/** A whole cluster in this process: an API server, the workload controllers, a scheduler and a kubelet. */
export async function startCluster(options: ClusterOptions = {}): Promise<EmbeddedCluster> {
  const { clock = systemClock, random = Math.random, log = silentLogger } = options;
  const server = createApiServer({ ...options, moreColumns: { pods: [RUNNER_COLUMN] } });
  try {
    const listener = options.listen && (await server.listen(options.listen));
    const kubelet = new Kubelet({
      clock,
      log,
      images: options.images ?? [{ images: '*', runner: simulated(clock) }],
      addresses: { reachable: new Addresses(REACHABLE), unreachable: new Addresses(UNREACHABLE) },
    });
    const transport = server.transport();
    const client = new Client({ transport, userAgent: 'kube-controller-manager', clock, log });
    const controllers = createControllers({ server, client, clock, log, rootCa: listener?.ca });
    const nodes = new Set(options.nodes ?? []);
    const pods = register(podController(kubelet), (world) => ({ ...world, kubelet, nodes }));
    const manager = new Manager({
      transport,
      userAgent: 'polder-cluster',
      clock,
      random,
      log,
      products: [
        { name: 'controllers', fieldManager: 'kube-controller-manager', controllers: controllers.registrations },
        { name: 'scheduler', fieldManager: 'kube-scheduler', controllers: [register(scheduler(), (world) => world)] },
        { name: 'kubelet', fieldManager: 'kubelet', controllers: [pods] },
      ],
    });
    const stop = new AbortController();
    const ready = manager.cache.synced(stop.signal);
    const running = Promise.all([manager.run(stop.signal), controllers.housekeeping(stop.signal)]);
    return {
      server,
      network: new Network(manager.cache),
      listener,
      ready,
      running: running.then(() => {}),
      async stop() {
        stop.abort(new Error('the cluster stops'));
        await Promise.allSettled([running, ready]);
        await kubelet.stopAll(STOP_MS);
        await listener?.close();
        server.close();
      },
    };
  } catch (error) {
    server.close();
    throw error;
  }
}

export const nodeNames = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `polder-${i + 1}`);
