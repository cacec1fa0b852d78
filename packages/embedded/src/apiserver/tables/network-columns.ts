import { listAt, numberAt, objectsAt, textAt, textsAt } from '../builtin/fields.ts';
import type { JsonObject } from '../schema/schema.ts';
import type { Column, WireObject } from '../served-kind.ts';
import { AGE, column, joined, labelsText, textCell, wide } from './columns.ts';

export const serviceTable: readonly Column[] = [
  column('Type', textCell(['spec', 'type'])),
  column('Cluster-IP', (service) => textsAt(service, 'spec', 'clusterIPs')[0] ?? '<none>'),
  column('External-IP', externalAddress),
  column('Port(s)', (service) => joined(objectsAt(service, 'spec', 'ports').map(servicePort))),
  AGE,
  wide('Selector', (service) => labelsText(service, 'spec', 'selector')),
];

function externalAddress(service: WireObject): string {
  const own = textsAt(service, 'spec', 'externalIPs');
  switch (textAt(service, 'spec', 'type')) {
    case 'ExternalName':
      return textAt(service, 'spec', 'externalName');
    case 'LoadBalancer':
      return joined([...balancerAddresses(service), ...own], '<pending>');
    default:
      return joined(own);
  }
}

const balancerAddresses = (object: WireObject) =>
  objectsAt(object, 'status', 'loadBalancer', 'ingress')
    .map((ingress) => textAt(ingress, 'ip') || textAt(ingress, 'hostname'))
    .filter((address) => address !== '');

function servicePort(port: JsonObject): string {
  const nodePort = numberAt(port, 'nodePort') ?? 0;
  return `${numberAt(port, 'port')}${nodePort === 0 ? '' : `:${nodePort}`}/${textAt(port, 'protocol')}`;
}

/** The first three, and how many more. */
function first(items: readonly string[], empty: string): string {
  if (items.length === 0) return empty;
  const more = items.length > 3 ? ` + ${items.length - 3} more...` : '';
  return `${items.slice(0, 3).join(',')}${more}`;
}

export const endpointsTable: readonly Column[] = [
  column('Endpoints', (object) => {
    const addresses = objectsAt(object, 'subsets').flatMap((subset) =>
      objectsAt(subset, 'ports').flatMap((port) =>
        objectsAt(subset, 'addresses').map((address) => `${textAt(address, 'ip')}:${numberAt(port, 'port')}`),
      ),
    );
    return first(addresses, '<none>');
  }),
  AGE,
];

export const endpointSliceTable: readonly Column[] = [
  column('AddressType', textCell(['addressType'])),
  column('Ports', (object) =>
    first(
      objectsAt(object, 'ports').map((port) => String(numberAt(port, 'port') ?? '*')),
      '<unset>',
    ),
  ),
  column('Endpoints', (object) =>
    first(
      objectsAt(object, 'endpoints').flatMap((endpoint) => textsAt(endpoint, 'addresses')),
      '<unset>',
    ),
  ),
  AGE,
];

export const ingressTable: readonly Column[] = [
  column('Class', textCell(['spec', 'ingressClassName'], '<none>')),
  column('Hosts', (ingress) => {
    const hosts = objectsAt(ingress, 'spec', 'rules').map((rule) => textAt(rule, 'host'));
    return first([...new Set(hosts.filter((host) => host !== ''))], '*');
  }),
  column('Address', (ingress) => balancerAddresses(ingress).join(',')),
  column('Ports', (ingress) => (listAt(ingress, 'spec', 'tls').length > 0 ? '80, 443' : '80')),
  AGE,
];

export const ingressClassTable: readonly Column[] = [
  column('Controller', textCell(['spec', 'controller'])),
  column('Parameters', (object) => {
    const [group, kind, name] = ['apiGroup', 'kind', 'name'].map((field) =>
      textAt(object, 'spec', 'parameters', field),
    );
    if (kind === '') return '<none>';
    return `${kind}${group === '' ? '' : `.${group}`}/${name}`;
  }),
  AGE,
];

export const networkPolicyTable: readonly Column[] = [
  column('Pod-Selector', (object) => labelsText(object, 'spec', 'podSelector')),
  AGE,
];
