import { type Client, Node, register } from '@polder/kube';
import { controllers } from '../controllers/index.ts';
import { Addresses, Kubelet, podController, simulated } from '../kubelet/index.ts';
import { operator } from './world.ts';

/** The one node, on which all pods are simulated. */
export const NODE = 'node';

/**
 * A whole cluster, with each of its programs in a process of its own. For a product: its operator comes first, and then these
 * `actors`.
 */
export function clusterWorld() {
  return {
    actors: {
      controllers: operator(() => [{ name: 'controllers', fieldManager: 'kube-controller-manager', controllers }]),
      kubelet: operator(({ clock, log }) => {
        const kubelet = new Kubelet({
          clock,
          log,
          images: [{ images: '*', runner: simulated(clock) }],
          addresses: { reachable: new Addresses('127.64.0.0'), unreachable: new Addresses('10.244.0.0') },
        });
        const pods = register(podController(kubelet), (world) => ({ ...world, kubelet, nodes: new Set([NODE]) }));
        return [{ name: 'kubelet', fieldManager: 'kubelet', controllers: [pods] }];
      }),
    },
    prepare: async (client: Client) => {
      await client.create(Node, { metadata: { name: NODE } });
    },
  };
}
