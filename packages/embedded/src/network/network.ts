import { isIP } from 'node:net';
import { type Cache, type Endpoint, EndpointSlice, ownerIndex, Service } from '@polder/kube';
import type { MovedPorts, SocketAddress } from './moved-ports.ts';
import { addressesOf, type ClusterName, clusterName } from './names.ts';

/**
 * Where the names and addresses of the cluster are on this machine. Services are what their EndpointSlices say; the pods
 * behind them listen on loopback: on an address of their own where the system has a whole block of them, else on a port
 * that was free.
 */
export class Network {
  readonly #cache: Cache;
  readonly #ports: MovedPorts;
  /** How often each service was asked for, by its uid: its pods are used in turn. */
  readonly #turns = new Map<string, number>();

  constructor(cache: Cache, ports: MovedPorts) {
    this.#cache = cache;
    this.#ports = ports;
  }

  /** Undefined: no name of the cluster, or nobody behind it who could be reached. */
  resolve(host: string, port: number): SocketAddress | undefined {
    const name = clusterName(host);
    if (name?.is === 'pod') return this.#podOf(name, port);
    const service = name
      ? this.#services().get({ namespace: name.namespace, name: name.service })
      : this.#byAddress(host);
    if (service) return this.#anyOf(service, port);
    return isIP(host) && isReachable(host) ? this.#ports.of({ host, port }) : undefined;
  }

  /**
   * Every name that stands for somebody, and the addresses behind it: `qdrant.prod`, `qdrant-0.qdrant.prod`. For programs that
   * look up names and know no other way to the cluster; ports are theirs to know.
   */
  names(): ReadonlyMap<string, readonly string[]> {
    const names = new Map<string, readonly string[]>();
    for (const service of this.#services().list()) {
      const name = `${service.metadata.name}.${service.metadata.namespace}`;
      const endpoints = this.#slicesOf(service).flatMap((slice) => slice.endpoints ?? []);
      const all = endpoints.flatMap(reachable);
      if (all.length > 0) names.set(name, all);
      for (const endpoint of endpoints) {
        const own = reachable(endpoint);
        if (endpoint.hostname && own.length > 0) names.set(`${endpoint.hostname}.${name}`, own);
      }
    }
    return names;
  }

  /** As DNS would answer somebody who knows no ports. Empty: no name of the cluster, or nobody behind it. */
  addressesOf(host: string): readonly string[] {
    return addressesOf(host, Object.fromEntries(this.names()), undefined);
  }

  /** Called after what stands behind names may have changed. */
  subscribe(changed: () => void): { readonly unsubscribe: () => void } {
    return this.#cache.of(EndpointSlice, ownerIndex<EndpointSlice>()).subscribe(changed);
  }

  #services() {
    return this.#cache.of(Service, ownerIndex<Service>());
  }

  #byAddress(host: string): Service | undefined {
    if (!isIP(host) || isReachable(host)) return undefined;
    return this.#services()
      .list()
      .find(({ spec }) => spec?.clusterIP === host);
  }

  #slicesOf({ metadata }: Service): readonly EndpointSlice[] {
    return this.#cache.of(EndpointSlice, ownerIndex<EndpointSlice>()).by('owner', metadata.uid ?? '');
  }

  /** Those that are ready, one after the other. */
  #anyOf(service: Service, port: number): SocketAddress | undefined {
    const asked = service.spec?.ports?.find((one) => one.port === port);
    const isHeadless = service.spec?.clusterIP === 'None';
    const targets = this.#slicesOf(service).flatMap(({ endpoints = [], ports = [] }) => {
      // A headless service is only a name: the port is the pod's, whatever the service says.
      const target = isHeadless ? port : asked && ports.find((one) => (one.name ?? '') === (asked.name ?? ''))?.port;
      return target === undefined ? [] : endpoints.flatMap(reachable).map((host) => ({ host, port: target }));
    });
    const { uid = '' } = service.metadata;
    const turn = this.#turns.get(uid) ?? 0;
    this.#turns.set(uid, turn + 1);
    const chosen = targets[turn % Math.max(1, targets.length)];
    return chosen && this.#ports.of(chosen);
  }

  #podOf(name: Extract<ClusterName, { is: 'pod' }>, port: number): SocketAddress | undefined {
    const service = this.#services().get({ namespace: name.namespace, name: name.service });
    const endpoints = (service ? this.#slicesOf(service) : []).flatMap((slice) => slice.endpoints ?? []);
    const [host] = endpoints.filter((one) => one.hostname === name.hostname).flatMap(reachable);
    return host === undefined ? undefined : this.#ports.of({ host, port });
  }
}

/** As in DNS: a pod that is not ready has no name, unless its service publishes it all the same. */
const reachable = ({ addresses, conditions }: Endpoint) =>
  conditions?.ready === false ? [] : addresses.filter(isReachable);

/** The addresses of simulated pods only look like some. */
const isReachable = (host: string) => host.startsWith('127.');
