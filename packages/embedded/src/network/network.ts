import { isIP } from 'node:net';
import { type Cache, EndpointSlice, ownerIndex, Service } from '@polder/kube';
import { clusterName } from './names.ts';

export interface SocketAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Where the names and addresses of the cluster are on this machine. Services are what their EndpointSlices say; the pods
 * behind them listen on loopback: on an address of their own where the system has a whole block of them, else on a port
 * that was free.
 */
export class Network {
  readonly #cache: Cache;
  /** `127.64.0.3:6333` → where that really is, if somewhere else. */
  readonly #moved = new Map<string, SocketAddress>();
  #turn = 0;

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  /** A pod's port is really there. */
  move(from: SocketAddress, to: SocketAddress): void {
    this.#moved.set(textOf(from), to);
  }

  /** Undefined: no name of the cluster, or nobody behind it who could be reached. */
  resolve(host: string, port: number): SocketAddress | undefined {
    const name = clusterName(host);
    if (name?.is === 'pod') return this.#podOf(name, port);
    const service = name
      ? this.#services().get({ namespace: name.namespace, name: name.service })
      : this.#byAddress(host);
    if (service) return this.#anyOf(service, port);
    return isIP(host) && isReachable(host) ? this.#really({ host, port }) : undefined;
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
    const name = service.spec?.ports?.find((one) => one.port === port)?.name ?? '';
    const isHeadless = service.spec?.clusterIP === 'None';
    const targets = this.#slicesOf(service).flatMap(({ endpoints = [], ports = [] }) => {
      const target = isHeadless ? port : ports.find((one) => (one.name ?? '') === name)?.port;
      if (target === undefined) return [];
      const ready = endpoints.filter(({ conditions }) => conditions?.ready !== false);
      return ready.flatMap(({ addresses }) => addresses.filter(isReachable).map((host) => ({ host, port: target })));
    });
    const chosen = targets[this.#turn++ % Math.max(1, targets.length)];
    return chosen && this.#really(chosen);
  }

  #podOf(
    {
      namespace,
      service,
      hostname,
    }: { readonly namespace: string; readonly service: string; readonly hostname: string },
    port: number,
  ): SocketAddress | undefined {
    const found = this.#services().get({ namespace, name: service });
    const endpoints = (found ? this.#slicesOf(found) : []).flatMap((slice) => slice.endpoints ?? []);
    const host = endpoints.find((one) => one.hostname === hostname)?.addresses.find(isReachable);
    return host === undefined ? undefined : this.#really({ host, port });
  }

  #really(address: SocketAddress): SocketAddress {
    return this.#moved.get(textOf(address)) ?? address;
  }
}

const textOf = ({ host, port }: SocketAddress) => `${host}:${port}`;

/** The addresses of simulated pods only look like some. */
const isReachable = (host: string) => host.startsWith('127.');
