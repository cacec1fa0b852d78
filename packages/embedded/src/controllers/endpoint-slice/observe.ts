import { EndpointSlice, Node, Pod, type Service, type World } from '@polder/kube';
import { selectorOf } from './endpoints.ts';
import { MANAGED_BY, MANAGER } from './plan.ts';

export interface Observed {
  readonly pods: readonly Pod[];
  /** Those of the pods, by name. */
  readonly nodes: ReadonlyMap<string, Node>;
  /** Ours alone: others may write slices for the same service. */
  readonly slices: readonly EndpointSlice[];
}

export async function observe(service: Service, { cluster }: World): Promise<Observed> {
  const { namespace } = service.metadata;
  const selects = selectorOf(service);
  if (selects === undefined) return { pods: [], nodes: new Map(), slices: [] };
  const pods = (await cluster.list(Pod, namespace)).filter(selects);
  const owned = await cluster.owned(EndpointSlice, service);
  const nodes = new Map<string, Node>();
  for (const name of new Set(pods.flatMap(({ spec }) => spec?.nodeName ?? []))) {
    const node = await cluster.get(Node, { name });
    if (node !== undefined) nodes.set(name, node);
  }
  const isOurs = ({ metadata }: EndpointSlice) =>
    metadata.labels?.[MANAGED_BY] === MANAGER && metadata.deletionTimestamp === undefined;
  return { pods, nodes, slices: owned.filter(isOurs) };
}
