import { type Client, isAlreadyExists, Node } from '@polder/kube';
import type { RegisteredNode } from './node-objects.ts';

/** Nodes of an earlier start are known by this. */
const RUNTIME = 'polder://embedded';

/** Makes the nodes that are missing. Those that are there keep what users did to them: labels, taints, a cordon. */
export async function registerNodes(client: Client, nodes: readonly RegisteredNode[]): Promise<void> {
  for (const node of nodes) {
    await client.create(Node, node).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
  const names = new Set(nodes.map(({ metadata }) => metadata.name));
  const { items } = await client.list(Node);
  const isOurs = ({ status }: Node) => status?.nodeInfo?.containerRuntimeVersion === RUNTIME;
  // The cluster was larger before: pods of a node that is gone are replaced elsewhere.
  for (const node of items.filter((one) => isOurs(one) && !names.has(one.metadata.name))) {
    await client.delete(Node, node.metadata);
  }
}
