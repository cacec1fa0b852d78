import { simulated } from '../kubelet/index.ts';
import { startMachinery } from '../machinery.ts';
import { type Machine, nodeObjects, registerNodes } from '../nodes/index.ts';
import type { Actor, World } from './world.ts';

const NODES = 3;
const MACHINE: Machine = {
  cpus: 16,
  memoryBytes: 64 * 2 ** 30,
  storageBytes: 2 ** 40,
  architecture: 'amd64',
  operatingSystem: 'linux',
  kernelVersion: '6.1.0',
  osImage: 'simulated',
};

/** The controllers, the scheduler and the nodes of a cluster, with simulated pods, in one process. */
const cluster: Actor = async ({ server, transport, clock, random, log }) => {
  const images = [{ images: '*', runner: simulated(clock) }];
  const machinery = startMachinery({ server, transport, clock, random, log, nodes: NODES, machine: MACHINE, images });
  // The nodes are there from the start: that they can't be looked at again now is no harm.
  machinery.ready.catch((error: unknown) => log.warn({ error: String(error) }, 'the nodes could not be registered'));
  await machinery.running;
};

/** A whole cluster, and beside it a product: its actors come first, and are prepared for last. */
export function clusterWorld(product: Partial<World> = {}): World {
  return {
    ...product,
    actors: { ...product.actors, cluster },
    async prepare(client) {
      await registerNodes(client, nodeObjects(NODES, { machine: MACHINE, now: new Date(0) }));
      await product.prepare?.(client);
    },
  };
}
