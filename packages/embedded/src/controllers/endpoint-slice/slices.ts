import { isDeepStrictEqual } from 'node:util';
import type { DiscoveryV1EndpointPort, Endpoint, EndpointSlice } from '@polder/kube';

export const MOST_ENDPOINTS = 100;

/** Slices that are there, and how they shall be. */
export interface Packing {
  readonly updated: readonly EndpointSlice[];
  /** The endpoints of slices to make. */
  readonly created: readonly (readonly Endpoint[])[];
  readonly deleted: readonly EndpointSlice[];
}

/** Slices have the same ports for all their endpoints: this names the ports, in whatever order they are. */
export function portsKey(ports: readonly DiscoveryV1EndpointPort[] | null | undefined): string {
  const text = ({ name, port, protocol, appProtocol }: DiscoveryV1EndpointPort) =>
    JSON.stringify([name, port, protocol, appProtocol]);
  return (ports ?? []).map(text).toSorted().join();
}

/**
 * Distributes endpoints of the same ports over slices, with as few writes as can be:
 * 1. what stays, stays in its slice; a slice that is not needed any more goes;
 * 2. new endpoints go to slices that have to be written anyway, the fullest first;
 * 3. then to new slices, as long as they are full; a rest that fits into one that is there goes to the one it fits best.
 * Slices are never merged: that would cost all who watch more than it spares them.
 */
export function pack(existing: readonly EndpointSlice[], desired: readonly Endpoint[], labels: Labels): Packing {
  const wanted = new Map(desired.map((endpoint) => [identityOf(endpoint), endpoint]));
  const changed: Draft[] = [];
  const unchanged: Draft[] = [];
  const deleted: EndpointSlice[] = [];
  for (const slice of existing) {
    const before = slice.endpoints ?? [];
    const kept = before.flatMap((endpoint) => take(wanted, identityOf(endpoint)));
    const isSame = isDeepStrictEqual(kept.map(comparable), before.map(comparable));
    if (kept.length === 0 && before.length > 0) deleted.push(slice);
    else (isSame && hasLabels(slice, labels) ? unchanged : changed).push({ slice, endpoints: kept });
  }
  const left = [...wanted.values()];
  for (const draft of changed.toSorted((a, b) => b.endpoints.length - a.endpoints.length)) fill(draft, left);
  const created: Endpoint[][] = [];
  while (left.length >= MOST_ENDPOINTS) created.push(left.splice(0, MOST_ENDPOINTS));
  const best = left.length > 0 ? bestFit(unchanged, left.length) : undefined;
  if (best !== undefined) {
    fill(best, left);
    changed.push(best);
  } else if (left.length > 0) {
    created.push(left);
  }
  const updated = changed.map(({ slice, endpoints }) => ({
    ...slice,
    metadata: { ...slice.metadata, labels },
    endpoints,
  }));
  return { updated, created, deleted };
}

export type Labels = Readonly<Record<string, string>>;

interface Draft {
  readonly slice: EndpointSlice;
  readonly endpoints: Endpoint[];
}

function take(wanted: Map<string, Endpoint>, identity: string): readonly Endpoint[] {
  const endpoint = wanted.get(identity);
  wanted.delete(identity);
  return endpoint === undefined ? [] : [endpoint];
}

const fill = ({ endpoints }: Draft, left: Endpoint[]) =>
  endpoints.push(...left.splice(0, MOST_ENDPOINTS - endpoints.length));

/** The slice that would be the fullest with so many more; undefined if they fit into none. */
function bestFit(drafts: readonly Draft[], count: number): Draft | undefined {
  const fitting = drafts.filter(({ endpoints }) => endpoints.length + count <= MOST_ENDPOINTS);
  return fitting.toSorted((a, b) => b.endpoints.length - a.endpoints.length)[0];
}

/** An endpoint with another address or another name is another endpoint. */
function identityOf({ addresses, hostname, targetRef }: Endpoint): string {
  return JSON.stringify([addresses.toSorted(), hostname, targetRef?.namespace, targetRef?.name]);
}

const comparable = ({ nodeName, zone, conditions, hints, targetRef }: Endpoint) => ({
  nodeName,
  hints,
  zone,
  conditions,
  uid: targetRef?.uid,
});

const hasLabels = ({ metadata }: EndpointSlice, labels: Labels) => isDeepStrictEqual(metadata.labels ?? {}, labels);
