import { isDeepStrictEqual } from 'node:util';
import {
  type Endpoint,
  type EndpointSlice,
  type NewObject,
  ownerReference,
  type Plan,
  type Pod,
  Service,
  type ServiceStatus,
} from '@polder/kube';
import { isReady, podCondition } from '../pods/index.ts';
import {
  type AddressType,
  addressTypesOf,
  endpointOf,
  isHeadless,
  isReachable,
  portsOf,
  selectorOf,
} from './endpoints.ts';
import { endpointsObject } from './endpoints-object.ts';
import type { Observed } from './observe.ts';
import { type Labels, pack, portsKey } from './slices.ts';

export type EndpointSliceStep =
  | { readonly do: 'create-slice'; readonly because: string; readonly slice: NewObject<EndpointSlice> }
  | { readonly do: 'update-slice'; readonly because: string; readonly slice: EndpointSlice }
  | { readonly do: 'delete-slice'; readonly because: string; readonly slice: EndpointSlice };

export const MANAGER = 'endpointslice-controller.k8s.io';
const SERVICE_NAME = 'kubernetes.io/service-name';
export const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const HEADLESS = 'service.kubernetes.io/headless';
const TRIGGER_TIME = 'endpoints.kubernetes.io/last-change-trigger-time';
const ZONE = 'topology.kubernetes.io/zone';

/** A pod whose node nobody knows is waited for: its zone would be missing. */
const UNKNOWN_NODE_MS = 5_000;

export function planEndpointSlices(service: Service, observed: Observed): Plan<EndpointSliceStep, ServiceStatus> {
  const idle = { objects: [], steps: [], held: [], status: service.status ?? {} };
  const { spec } = service;
  if (selectorOf(service) === undefined) return idle;

  const reachable = observed.pods.filter(isReachable);
  const known = reachable.filter(
    ({ spec: pod }) => spec?.publishNotReadyAddresses || observed.nodes.has(pod?.nodeName ?? ''),
  );
  const types = addressTypesOf(service);
  const steps = types.flatMap((type) => sliceSteps(service, type, known, observed));
  const foreign = observed.slices.filter(({ addressType }) => !types.includes(addressType));
  const because = 'the service has no such addresses';
  return {
    ...idle,
    objects: [endpointsObject(service, reachable)],
    steps: [...steps, ...foreign.map((slice): EndpointSliceStep => ({ do: 'delete-slice', because, slice }))],
    ...(known.length < reachable.length && {
      lookAgain: { afterMs: UNKNOWN_NODE_MS, because: 'a pod is on a node that is not known yet' },
    }),
  };
}

function sliceSteps(
  service: Service,
  type: AddressType,
  pods: readonly Pod[],
  { slices, nodes }: Observed,
): readonly EndpointSliceStep[] {
  const existing = slices.filter(({ addressType }) => addressType === type);
  const labels = labelsOf(service);
  const groups = groupByPorts(service, type, pods, nodes);
  const packings = [...groups].map(([key, { ports, endpoints }]) => {
    const samePorts = existing.filter((slice) => portsKey(slice.ports) === key);
    return { ports, ...pack(samePorts, endpoints, labels) };
  });
  const unused = existing.filter((slice) => !groups.has(portsKey(slice.ports)));
  const deleted = [...packings.flatMap((packing) => packing.deleted), ...unused];
  const wanted = packings.flatMap(({ ports, created }) => created.map((endpoints): Contents => ({ ports, endpoints })));
  // A service that is looked after has a slice, even if there is nothing to put into it.
  const isBare = wanted.length === 0 && deleted.length === existing.length;
  if (isBare && deleted.length === 1 && deleted.every((slice) => isPlaceholder(slice, labels))) return [];
  const created = isBare ? [{ ports: [], endpoints: [] }] : wanted;

  const annotate = annotator(service, existing, pods);
  // Where one slice would go and another one come, the first becomes the second: one write instead of two.
  const reused = deleted.slice(0, created.length).map((slice, i) => ({
    ...slice,
    metadata: { ...slice.metadata, labels },
    ...created[i],
  }));
  const updated = [...packings.flatMap((packing) => packing.updated), ...reused];
  return [
    ...created.slice(reused.length).map((contents): EndpointSliceStep => {
      const slice = annotate(newSlice(service, type, labels, contents));
      return { do: 'create-slice', because: 'the service has endpoints that no slice has', slice };
    }),
    ...updated.map((slice): EndpointSliceStep => {
      return {
        do: 'update-slice',
        because: `the endpoints in ${slice.metadata.name} have changed`,
        slice: annotate(slice),
      };
    }),
    ...deleted.slice(created.length).map((slice): EndpointSliceStep => {
      return { do: 'delete-slice', because: `no endpoint is left in ${slice.metadata.name}`, slice };
    }),
  ];
}

type Contents = Pick<Required<EndpointSlice>, 'ports' | 'endpoints'>;

/** Named ports may have another number in each pod, and a slice has one number for all its endpoints. */
function groupByPorts(service: Service, type: AddressType, pods: readonly Pod[], nodes: Observed['nodes']) {
  const groups = new Map<string, { readonly ports: Contents['ports']; readonly endpoints: Endpoint[] }>();
  for (const pod of pods) {
    const zone = nodes.get(pod.spec?.nodeName ?? '')?.metadata.labels?.[ZONE];
    const ports = portsOf(service, pod);
    const key = portsKey(ports);
    const group = groups.get(key) ?? { ports, endpoints: [] };
    groups.set(key, group);
    const endpoint = endpointOf(pod, service, type, zone);
    if (endpoint !== undefined) group.endpoints.push(endpoint);
  }
  return groups;
}

function newSlice(
  service: Service,
  addressType: AddressType,
  labels: Labels,
  contents: Contents,
): NewObject<EndpointSlice> {
  const { name, namespace = '' } = service.metadata;
  const ownerReferences = [ownerReference(Service, service)];
  return { metadata: { namespace, generateName: `${name}-`, labels, ownerReferences }, addressType, ...contents };
}

const RESERVED = [SERVICE_NAME, MANAGED_BY, HEADLESS];

/** Those of the service, and our own. */
function labelsOf(service: Service): Labels {
  const { metadata } = service;
  const own = Object.entries(metadata.labels ?? {}).filter(([key]) => !RESERVED.includes(key));
  return {
    ...Object.fromEntries(own),
    ...(isHeadless(service) && { [HEADLESS]: '' }),
    [SERVICE_NAME]: metadata.name,
    [MANAGED_BY]: MANAGER,
  };
}

function isPlaceholder({ endpoints, ports, metadata }: EndpointSlice, labels: Labels): boolean {
  return !endpoints?.length && !ports?.length && isDeepStrictEqual(metadata.labels, labels);
}

/**
 * Writes down when that happened which a slice is written for, so that the delay can be measured: the earliest change of
 * readiness that the slices do not show yet; the birth of the service for its first ones.
 */
function annotator(service: Service, existing: readonly EndpointSlice[], pods: readonly Pod[]) {
  const shown = new Map(
    existing
      .flatMap(({ endpoints }) => endpoints ?? [])
      .map(({ targetRef, conditions }) => [targetRef?.uid, conditions?.serving]),
  );
  const changed = pods.filter((pod) => shown.get(pod.metadata.uid) !== isReady(pod));
  const times =
    existing.length === 0
      ? [service.metadata.creationTimestamp]
      : changed.map((pod) => podCondition(pod, 'Ready')?.lastTransitionTime);
  const [earliest] = times.filter((time) => time !== undefined).toSorted();
  return <T extends { readonly metadata: { readonly annotations?: Labels } }>(slice: T): T => {
    const { [TRIGGER_TIME]: _, ...others } = slice.metadata.annotations ?? {};
    const annotations = { ...others, ...(earliest !== undefined && { [TRIGGER_TIME]: earliest }) };
    return { ...slice, metadata: { ...slice.metadata, annotations } };
  };
}
