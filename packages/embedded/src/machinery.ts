import { type Cache, Client, type Clock, type Logger, Manager, register, type Transport } from '@polder/kube';
import type { ApiServer } from './apiserver/index.ts';
import { createControllers } from './controllers/index.ts';
import { installStandardClass, type Provisioner } from './controllers/persistent-volume/index.ts';
import { Addresses, type ImageRule, Kubelet, podController } from './kubelet/index.ts';
import { MovedPorts, Network } from './network/index.ts';
import { evictions, type Machine, nodeLifecycle, nodeObjects, registerNodes } from './nodes/index.ts';
import { scheduler } from './scheduler/index.ts';

export interface MachineryOptions {
  readonly server: Pick<ApiServer, 'follow' | 'kinds'>;
  readonly transport: Transport;
  readonly clock: Clock;
  /** 0 <= r < 1. */
  readonly random: () => number;
  readonly log: Logger;
  /** How many nodes there are, and what each has to give. */
  readonly nodes: number;
  readonly machine: Machine;
  /** Which images run how. */
  readonly images: readonly ImageRule[];
  /** The certificate authority of the API server, as PEM. */
  readonly rootCa?: string | undefined;
  /** Makes the volumes of the standard class. */
  readonly provisioner: Provisioner;
  /** See `ClusterOptions`. */
  readonly loopback?: string | undefined;
}

export interface Machinery {
  readonly cache: Cache;
  readonly kubelet: Kubelet;
  /** Where the names and addresses of pods and services are on this machine. */
  readonly network: Network;
  /** Resolves when the nodes are there and the controllers at work. */
  readonly ready: Promise<void>;
  /** Until it is stopped; rejects when it can't go on. */
  readonly running: Promise<void>;
  /** Controllers first, so that nobody restarts what ends; then containers. */
  stop(): Promise<void>;
}

/** Loopback on Linux is a whole block of addresses; 127.0.0.1 itself is everybody's. */
const REACHABLE = '127.64.0.0';
const REACHABLE_PODS = 4_094;
const UNREACHABLE = '10.244.0.0';

/** Pods here are processes or less: what limits them is the machine. */
const PODS_ON_A_NODE = 5_000;

/** How long containers get when the cluster stops. */
const STOP_MS = 10_000;

/** Everything of a cluster but its API server: the controllers, the scheduler, the nodes and their kubelet. */
export function startMachinery(options: MachineryOptions): Machinery {
  const { server, transport, clock, random, log, images, rootCa, provisioner } = options;
  const own = nodeObjects(options.nodes, {
    machine: options.machine,
    now: new Date(clock.now()),
    pods: PODS_ON_A_NODE,
  });
  const ports = new MovedPorts();
  const kubelet = new Kubelet({
    clock,
    log,
    images,
    addresses: {
      reachable: new Addresses(options.loopback ?? REACHABLE, REACHABLE_PODS),
      unreachable: new Addresses(UNREACHABLE),
    },
    ports,
  });
  const client = new Client({ transport, userAgent: 'kube-controller-manager', clock, log });
  const controllers = createControllers({ server, client, clock, log, rootCa, provisioner });
  const nodes = new Set(own.map(({ metadata }) => metadata.name));
  const pods = register(podController(kubelet), (world) => ({ ...world, kubelet, nodes }));
  const manager = new Manager({
    transport,
    userAgent: 'polder-cluster',
    // Read in events. The name of the machine would say nothing, and make runs of the same seed differ.
    host: 'polder-cluster',
    clock,
    random,
    log,
    products: [
      {
        name: 'controllers',
        fieldManager: 'kube-controller-manager',
        controllers: [...controllers.registrations, register(nodeLifecycle(own)), register(evictions(clock))],
      },
      { name: 'scheduler', fieldManager: 'kube-scheduler', controllers: [register(scheduler())] },
      { name: 'kubelet', fieldManager: 'kubelet', controllers: [pods] },
    ],
  });
  const stop = new AbortController();
  const ready = async () => {
    await registerNodes(client, own);
    await installStandardClass(client);
    await manager.cache.synced(stop.signal);
  };
  const run = async () => {
    await Promise.all([manager.run(stop.signal), controllers.housekeeping(stop.signal)]);
  };
  const [started, running] = [ready(), run()];
  return {
    cache: manager.cache,
    kubelet,
    network: new Network(manager.cache, ports),
    ready: started,
    running,
    async stop() {
      stop.abort(new Error('the cluster stops'));
      await Promise.allSettled([running, started]);
      await kubelet.stopAll(STOP_MS);
    },
  };
}
