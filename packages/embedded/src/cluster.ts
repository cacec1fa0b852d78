import { type Logger, Manager, type Registration, register, silentLogger, systemClock } from '@polder/kube';
import { type ApiServer, type ApiServerOptions, type Column, createApiServer } from './apiserver/index.ts';
import { controllers } from './controllers/index.ts';
import { Addresses, type ImageRule, Kubelet, podController, RUNNER_ANNOTATION, simulated } from './kubelet/index.ts';

export interface ClusterOptions extends ApiServerOptions {
  /** Silent unless told otherwise. */
  readonly log?: Logger;
  /** The names of the nodes whose pods are run. */
  readonly nodes?: readonly string[];
  /** Which images run how. All are simulated unless told otherwise. */
  readonly images?: readonly ImageRule[];
}

export interface EmbeddedCluster {
  readonly server: ApiServer;
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
export function startCluster(options: ClusterOptions = {}): EmbeddedCluster {
  const { clock = systemClock, random = Math.random, log = silentLogger } = options;
  const server = createApiServer({ ...options, moreColumns: { pods: [RUNNER_COLUMN] } });
  const kubelet = new Kubelet({
    clock,
    log,
    images: options.images ?? [{ images: '*', runner: simulated(clock) }],
    addresses: { reachable: new Addresses(REACHABLE), unreachable: new Addresses(UNREACHABLE) },
  });
  const manager = new Manager({
    transport: server.transport(),
    userAgent: 'polder-cluster',
    clock,
    random,
    log,
    products: [
      { name: 'controllers', fieldManager: 'kube-controller-manager', controllers },
      { name: 'kubelet', fieldManager: 'kubelet', controllers: [pods(kubelet, options.nodes ?? [])] },
    ],
  });
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  return {
    server,
    ready: manager.cache.synced(stop.signal),
    running,
    async stop() {
      stop.abort(new Error('the cluster stops'));
      await running.catch(() => {});
      await kubelet.stopAll(STOP_MS);
      server.close();
    },
  };
}

function pods(kubelet: Kubelet, nodes: readonly string[]): Registration {
  const names = new Set(nodes);
  return register(podController(kubelet), (world) => ({ ...world, kubelet, nodes: names }));
}

export const nodeNames = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `polder-${i + 1}`);
