import { messageOf } from '@polder/kube';
import { installStandardClass, type Provisioner } from '../controllers/persistent-volume/index.ts';
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

/** Simulated pods write nothing. */
const provisioner: Provisioner = { pathOf: (volume) => `/volumes/${volume}`, onVolumeDeleted: async () => {} };

/** The controllers, the scheduler and the nodes of a cluster, with simulated pods, in one process. */
const cluster: Actor = async ({ server, transport, clock, random, log }) => {
  const images = [{ images: '*', runner: simulated(clock) }];
  const size = { nodes: NODES, machine: MACHINE };
  const machinery = startMachinery({ server, transport, clock, random, log, images, provisioner, ...size });
  // What it would install is there from the start: that it can't look at it now is no harm.
  machinery.ready.catch((error: unknown) => log.warn({ error: messageOf(error) }, 'not looked at what is installed'));
  await machinery.running;
};

/** A whole cluster, and beside it a product: its actors come first, and are prepared for last. */
export function clusterWorld(product: Partial<World> = {}): World {
  return {
    ...product,
    actors: { ...product.actors, cluster },
    async prepare(client) {
      await registerNodes(client, nodeObjects(NODES, { machine: MACHINE, now: new Date(0) }));
      await installStandardClass(client);
      await product.prepare?.(client);
    },
  };
}
