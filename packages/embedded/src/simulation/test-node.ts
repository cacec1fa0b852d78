/** For tests: one node, whose kubelet simulates all pods. Nobody schedules: a template names the node. */
import { type Client, Node, register } from '@polder/kube';
import { Addresses, Kubelet, podController, type Stage, simulated } from '../kubelet/index.ts';
import { MovedPorts } from '../network/index.ts';
import { type Actor, operator } from './world.ts';

export const NODE = 'node';

export async function registerNode(client: Client): Promise<void> {
  await client.create(Node, { metadata: { name: NODE } });
}

export function kubelet(stages?: readonly Stage[]): Actor {
  return operator(({ clock, log }) => {
    const addresses = { reachable: new Addresses('127.64.0.0'), unreachable: new Addresses('10.244.0.0') };
    const images = [{ images: '*', runner: simulated(clock, stages) }];
    const kubelet = new Kubelet({ clock, log, addresses, images, ports: new MovedPorts() });
    const pods = register(podController(kubelet), (world) => ({ ...world, kubelet, nodes: new Set([NODE]) }));
    return [{ name: 'kubelet', fieldManager: 'kubelet', controllers: [pods] }];
  });
}
