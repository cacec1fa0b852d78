/** The one object with all endpoints of a service, from before there were slices: for those who still read it. */
import { isIPv6 } from 'node:net';
import type { EndpointAddress, EndpointPort, Endpoints, Pod, Service } from '@polder/kube';
import { isReady, isTerminating } from '../pods/index.ts';
import { addressesOf, addressTypesOf, hostnameIn, isHeadless, portsOf } from './endpoints.ts';

const MANAGED_BY = 'endpoints.kubernetes.io/managed-by';
const HEADLESS = 'service.kubernetes.io/headless';
const OVER_CAPACITY = 'endpoints.kubernetes.io/over-capacity';

/** Whoever reads this object reads all of it with every change. */
const MOST_ADDRESSES = 1_000;

export function endpointsObject(service: Service, reachable: readonly Pod[]): Endpoints {
  const { name, namespace = '', labels = {} } = service.metadata;
  const isPublished = service.spec?.publishNotReadyAddresses === true;
  const listed = reachable.filter((pod) => isPublished || !isTerminating(pod)).flatMap((pod) => listing(pod, service));
  const shown = listed.toSorted(byReadiness).slice(0, MOST_ADDRESSES);
  const { [HEADLESS]: _, ...own } = labels;
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      name,
      namespace,
      labels: { ...own, ...(isHeadless(service) && { [HEADLESS]: '' }), [MANAGED_BY]: 'endpoint-controller' },
      ...(shown.length < listed.length && { annotations: { [OVER_CAPACITY]: 'truncated' } }),
    },
    subsets: subsetsOf(shown),
  };
}

interface Listed {
  readonly address: EndpointAddress;
  readonly isReady: boolean;
  readonly ports: readonly EndpointPort[];
}

function listing(pod: Pod, service: Service): readonly Listed[] {
  const { name, namespace = '', uid = '' } = pod.metadata;
  const isSix = addressTypesOf(service)[0] === 'IPv6';
  const ip = addressesOf(pod).find((address) => isIPv6(address) === isSix);
  if (ip === undefined) return [];
  const ports = portsOf(service, pod).map(({ name: port, ...rest }) => ({
    port: 0,
    ...rest,
    ...(port && { name: port }),
  }));
  if (ports.length === 0 && !(isHeadless(service) && !service.spec?.ports?.length)) return [];
  const hostname = hostnameIn(pod, service);
  const address = {
    ip,
    ...(hostname && { hostname }),
    ...(pod.spec?.nodeName && { nodeName: pod.spec.nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
  return [{ address, ports, isReady: isReady(pod) || service.spec?.publishNotReadyAddresses === true }];
}

const byReadiness = (a: Listed, b: Listed) =>
  a.isReady === b.isReady ? byAddress(a, b) : Number(b.isReady) - Number(a.isReady);
const byAddress = (a: Listed, b: Listed) => (a.address.ip < b.address.ip ? -1 : 1);

/** Every port with the pods that have it; ports that the same pods have stand together. */
function subsetsOf(listed: readonly Listed[]): NonNullable<Endpoints['subsets']> {
  const byPort = new Map<string, { readonly port: EndpointPort | undefined; readonly members: Listed[] }>();
  for (const one of listed) {
    for (const port of one.ports.length > 0 ? one.ports : [undefined]) {
      const key = JSON.stringify(port ?? null);
      const group = byPort.get(key) ?? { port, members: [] };
      byPort.set(key, group);
      group.members.push(one);
    }
  }
  const byMembers = new Map<string, { readonly ports: EndpointPort[]; readonly members: readonly Listed[] }>();
  for (const { port, members } of byPort.values()) {
    const key = JSON.stringify(members.map(({ address }) => address.targetRef?.uid));
    const subset = byMembers.get(key) ?? { ports: [], members };
    byMembers.set(key, subset);
    if (port !== undefined) subset.ports.push(port);
  }
  return [...byMembers.values()].map(({ ports, members }) => {
    const addresses = members.filter((one) => one.isReady).map(({ address }) => address);
    const notReadyAddresses = members.filter((one) => !one.isReady).map(({ address }) => address);
    return {
      ...(addresses.length > 0 && { addresses }),
      ...(notReadyAddresses.length > 0 && { notReadyAddresses }),
      ...(ports.length > 0 && { ports }),
    };
  });
}
