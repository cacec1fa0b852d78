import { isIPv6 } from 'node:net';
import type { DiscoveryV1EndpointPort, Endpoint, EndpointSlice, Pod, Service, ServicePort } from '@polder/kube';
import { structuredLabelSelector } from '../../apiserver/selectors/index.ts';
import { isFailed, isReady, isTerminating } from '../pods/index.ts';

export type AddressType = EndpointSlice['addressType'];

/** Which pods are behind the service; undefined if that is for others to say. */
export function selectorOf({ spec }: Service): ((pod: Pod) => boolean) | undefined {
  const { type, selector = {} } = spec ?? {};
  if (type === 'ExternalName' || Object.keys(selector).length === 0) return undefined;
  const selects = structuredLabelSelector({ matchLabels: selector });
  return ({ metadata }) => selects(metadata.labels ?? {});
}

/** The families in which a service is reached; what no server has filled in yet is IPv4. */
export function addressTypesOf({ spec }: Service): readonly AddressType[] {
  const families = spec?.ipFamilies ?? [];
  const types = families.flatMap((family): readonly AddressType[] =>
    family === 'IPv4' || family === 'IPv6' ? [family] : [],
  );
  return types.length > 0 ? types : ['IPv4'];
}

/** Whether the pod has an address that could be handed out. One on its way out still has. */
export function isReachable(pod: Pod): boolean {
  const isOver = pod.status?.phase === 'Succeeded' || isFailed(pod);
  return !isOver && addressesOf(pod).length > 0;
}

export function addressesOf({ status }: Pod): readonly string[] {
  return status?.podIPs?.map(({ ip }) => ip) ?? (status?.podIP ? [status.podIP] : []);
}

export function isHeadless({ spec }: Service): boolean {
  return spec?.clusterIP === undefined || spec.clusterIP === '' || spec.clusterIP === 'None';
}

/** A pod has a name of its own in the domain of the service that it names; undefined if that is another one. */
export function hostnameIn({ spec }: Pod, { metadata }: Service): string | undefined {
  return spec?.subdomain === metadata.name && spec.hostname ? spec.hostname : undefined;
}

/** Undefined if the pod has no address of this type. */
export function endpointOf(
  pod: Pod,
  service: Service,
  addressType: AddressType,
  zone: string | undefined,
): Endpoint | undefined {
  const addresses = addressesOf(pod).filter((ip) => isIPv6(ip) === (addressType === 'IPv6'));
  if (addresses.length === 0) return undefined;
  const { metadata, spec } = pod;
  const { name, namespace = '', uid = '' } = metadata;
  const [serving, terminating] = [isReady(pod), isTerminating(pod)];
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating);
  const hostname = hostnameIn(pod, service);
  return {
    addresses,
    conditions: { ready, serving, terminating },
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(spec?.nodeName && { nodeName: spec.nodeName }),
    ...(zone && { zone }),
    ...(hostname && { hostname }),
    ...(ready && hintsFor(service, zone, spec?.nodeName)),
  };
}

const NEAR = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];

/** Who should use an endpoint, if the service wants its traffic to stay near: those in the same place. */
function hintsFor({ spec }: Service, zone: string | undefined, node: string | undefined): Pick<Endpoint, 'hints'> {
  const wish = spec?.trafficDistribution ?? '';
  const hints = {
    ...(zone && { forZones: [{ name: zone }] }),
    ...(node && wish === 'PreferSameNode' && { forNodes: [{ name: node }] }),
  };
  return NEAR.includes(wish) && Object.keys(hints).length > 0 ? { hints } : {};
}

/** Where the pod listens for the service; a port whose name the pod does not know is left out. */
export function portsOf({ spec }: Service, pod: Pod): readonly DiscoveryV1EndpointPort[] {
  return (spec?.ports ?? []).flatMap((servicePort) => {
    const { name = '', protocol = 'TCP', appProtocol } = servicePort;
    const port = targetPort(servicePort, pod);
    return port === undefined ? [] : [{ name, port, protocol, ...(appProtocol && { appProtocol }) }];
  });
}

function targetPort({ targetPort: target, port, protocol = 'TCP' }: ServicePort, { spec }: Pod): number | undefined {
  if (typeof target !== 'string') return target ?? port;
  // Init containers that never end serve, too.
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const ports = [...(spec?.containers ?? []), ...sidecars].flatMap((container) => container.ports ?? []);
  return ports.find((one) => one.name === target && (one.protocol ?? 'TCP') === protocol)?.containerPort;
}
