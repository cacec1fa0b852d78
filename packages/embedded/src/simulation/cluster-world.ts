import type { Client } from '@polder/kube';
import { simulated } from '../kubelet/index.ts';
import { startMachinery } from '../machinery.ts';
import { type Machine, nodeObjects, registerNodes } from '../nodes/index.ts';
import type { Actor } from './world.ts';

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

/** A whole cluster. For a product: its operator comes first, and then these `actors`. */
export function clusterWorld() {
  return {
    actors: { cluster },
    prepare: (client: Client) => registerNodes(client, nodeObjects(NODES, { machine: MACHINE, now: new Date(0) })),
  };
}
