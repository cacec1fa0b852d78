import type { Allocator } from './builtin/index.ts';
import { asWire, valueAt, withValueAt } from './object-text.ts';
import { isObject } from './schema/index.ts';
import type { WireObject } from './served-kind.ts';
import type { ObjectStore } from './watch/index.ts';

const FIRST_NODE_PORT = 30_000;
const NODE_PORTS = 2_768;

/** Cluster addresses (10.96.0.0/16) and node ports that no service has yet, in order: the same every time. */
export function serviceAddresses(store: ObjectStore): Allocator {
  const services = () => [...store.cache('services').entries('')].map(({ object }) => object);
  return {
    address() {
      const used = new Set(services().map((service) => valueAt(service, ['spec', 'clusterIP'])));
      for (let number = 1; number < 65_535; number++) {
        const address = `10.96.${number >> 8}.${number & 255}`;
        if (!used.has(address)) return address;
      }
      throw new Error('every address of 10.96.0.0/16 is taken by a service');
    },
    nodePort() {
      const used = new Set(services().flatMap((service) => nodePortsOf(valueAt(service, ['spec', 'ports']))));
      for (let port = FIRST_NODE_PORT; port < FIRST_NODE_PORT + NODE_PORTS; port++) if (!used.has(port)) return port;
      throw new Error(`every node port from ${FIRST_NODE_PORT} on is taken by a service`);
    },
  };
}

/** A service that is reached from outside no more loses the ports that it was given for that. */
export function withoutInheritedNodePorts(service: WireObject, old: WireObject | undefined): WireObject {
  const ports = valueAt(service, ['spec', 'ports']);
  if (old === undefined || valueAt(service, ['spec', 'type']) !== 'ClusterIP' || !Array.isArray(ports)) return service;
  const given = nodePortsOf(valueAt(old, ['spec', 'ports']));
  const kept = ports.map((port) => {
    if (!isObject(port) || !given.includes(port['nodePort'])) return port;
    const { nodePort: _, ...rest } = port;
    return rest;
  });
  return asWire(withValueAt(service, ['spec', 'ports'], kept));
}

const nodePortsOf = (ports: unknown) => (Array.isArray(ports) ? ports.map((port) => valueAt(port, ['nodePort'])) : []);
