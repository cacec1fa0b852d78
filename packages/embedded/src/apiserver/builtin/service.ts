import type { JsonObject } from '../schema/schema.ts';
import type { WireObject } from '../served-kind.ts';
import { type Behaviour, specDefaults } from './behaviour.ts';
import { PROTOCOLS, validatePortReference } from './container-validation.ts';
import { duplicate, type Findings, forbidden, invalid, oneOf, portNumber, required } from './field-errors.ts';
import { editEach, fill, isAbsent, listAt, numberAt, objectAt, objectsAt, textAt, valueAt, without } from './fields.ts';
import { labels } from './metadata.ts';
import { ipAddress, label, labelName, subdomain } from './names.ts';

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];

export const service: Behaviour = {
  name: labelName,
  defaults: specDefaults((spec) => {
    const filled = fill(spec, { type: 'ClusterIP', sessionAffinity: 'None' });
    const withPorts = editEach(filled, 'ports', (port) => {
      const target = isAbsent(port['targetPort']) || port['targetPort'] === '' || port['targetPort'] === 0;
      return { ...fill(port, { protocol: 'TCP' }), ...(target && { targetPort: port['port'] ?? 0 }) };
    });
    const withAffinity = affinity(withPorts);
    return filled['type'] === 'ExternalName' ? withAffinity : fill(withAffinity, addressing(withAffinity));
  }),
  prepare: (object) => ({ ...object, status: { loadBalancer: {} } }),
  *validate(object, old) {
    const spec = objectAt(object, 'spec');
    yield* validatePorts(spec);
    yield* labels('spec.selector', objectAt(spec, 'selector'));
    yield* oneOf('spec.sessionAffinity', textAt(spec, 'sessionAffinity'), ['ClientIP', 'None']);
    yield* oneOf('spec.type', textAt(spec, 'type'), TYPES);
    yield* validateAddress(spec);
    if (textAt(spec, 'type') === 'ExternalName') yield* validateExternalName(textAt(spec, 'externalName'));
    if (old) yield* keepsAddress(spec, objectAt(old, 'spec'));
  },
};

/** Sticky sessions last three hours unless said otherwise. */
function affinity(spec: JsonObject): JsonObject {
  if (spec['sessionAffinity'] !== 'ClientIP') return without(spec, 'sessionAffinityConfig');
  const timeout = { timeoutSeconds: 10_800, ...objectAt(spec, 'sessionAffinityConfig', 'clientIP') };
  return { ...spec, sessionAffinityConfig: { clientIP: timeout } };
}

function addressing(spec: JsonObject): JsonObject {
  const type = textAt(spec, 'type');
  const address = textAt(spec, 'clusterIP');
  // Without a selector somebody else fills in the endpoints, of any family: the real server does not narrow these.
  const isOpen = address === 'None' && Object.keys(objectAt(spec, 'selector')).length === 0;
  return {
    internalTrafficPolicy: 'Cluster',
    ipFamilies: isOpen ? ['IPv4', 'IPv6'] : ['IPv4'],
    ipFamilyPolicy: isOpen ? 'RequireDualStack' : 'SingleStack',
    ...(address !== '' && { clusterIPs: [address] }),
    ...((type === 'NodePort' || type === 'LoadBalancer') && { externalTrafficPolicy: 'Cluster' }),
    ...(type === 'LoadBalancer' && { allocateLoadBalancerNodePorts: true }),
  };
}

/** What the server allocates; the ranges in use are the storage's business. */
export interface Allocator {
  address(): string;
  nodePort(): number;
}

/** Gives a service the addresses and ports that it needs and does not have. `old` keeps its own on update. */
export function allocate(object: WireObject, old: WireObject | undefined, allocator: Allocator): WireObject {
  const spec = objectAt(object, 'spec');
  const type = textAt(spec, 'type');
  if (type === 'ExternalName') return object;
  const before = objectAt(old, 'spec');
  const address = textAt(spec, 'clusterIP') || textAt(before, 'clusterIP') || allocator.address();
  const addressed: JsonObject = { ...spec, clusterIP: address, clusterIPs: [address] };
  const hasNodePorts =
    type === 'NodePort' || (type === 'LoadBalancer' && spec['allocateLoadBalancerNodePorts'] !== false);
  if (!hasNodePorts) return { ...object, spec: addressed };
  return {
    ...object,
    spec: editEach(addressed, 'ports', (port) => {
      const known = objectsAt(before, 'ports').find(
        (candidate) => candidate['port'] === port['port'] && candidate['protocol'] === port['protocol'],
      );
      const own = numberAt(port, 'nodePort') || numberAt(known, 'nodePort');
      return { ...port, nodePort: own || allocator.nodePort() };
    }),
  };
}

function* validatePorts(spec: JsonObject): Findings {
  const ports = objectsAt(spec, 'ports');
  const type = textAt(spec, 'type');
  const isHeadless = textAt(spec, 'clusterIP') === 'None';
  if (ports.length === 0 && !isHeadless && type !== 'ExternalName') yield required('spec.ports');
  const names = new Set<string>();
  const used = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const at = `spec.ports[${index}]`;
    const name = textAt(port, 'name');
    if (name === '' && ports.length > 1) yield required(`${at}.name`);
    if (name !== '') {
      for (const message of label(name)) yield invalid(`${at}.name`, name, message);
      if (names.has(name)) yield duplicate(`${at}.name`, name);
      names.add(name);
    }
    yield* portNumber(`${at}.port`, numberAt(port, 'port') ?? 0);
    yield* oneOf(`${at}.protocol`, textAt(port, 'protocol'), PROTOCOLS);
    yield* validatePortReference(`${at}.targetPort`, valueAt(port, 'targetPort'));
    if (type === 'ClusterIP' && (numberAt(port, 'nodePort') ?? 0) !== 0) {
      yield forbidden(`${at}.nodePort`, "may not be used when `type` is 'ClusterIP'");
    }
    const key = `${textAt(port, 'protocol')}/${numberAt(port, 'port')}`;
    if (used.has(key)) yield duplicate(at, goPort(port));
    used.add(key);
  }
}

/** The real server shows its internal structure here, with Go's names. */
const goPort = (port: JsonObject) => ({
  Name: '',
  Protocol: textAt(port, 'protocol'),
  AppProtocol: null,
  Port: numberAt(port, 'port') ?? 0,
  TargetPort: 0,
  NodePort: 0,
});

function* validateAddress(spec: JsonObject): Findings {
  for (const [index, address] of listAt(spec, 'clusterIPs').entries()) {
    if (address === 'None' || typeof address !== 'string') continue;
    for (const message of ipAddress(address)) yield invalid(`spec.clusterIPs[${index}]`, address, message);
  }
}

function* validateExternalName(name: string): Findings {
  if (name === '') yield required('spec.externalName');
  else for (const message of subdomain(name)) yield invalid('spec.externalName', name, message);
}

function* keepsAddress(spec: JsonObject, old: JsonObject): Findings {
  const [now, before] = [listAt(spec, 'clusterIPs'), listAt(old, 'clusterIPs')];
  const isKept = before.length === 0 || now.length === 0 || now[0] === before[0];
  if (!isKept && spec['type'] !== 'ExternalName') {
    yield invalid('spec.clusterIPs[0]', now, 'may not change once set');
  }
}
