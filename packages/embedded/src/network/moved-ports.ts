export interface SocketAddress {
  readonly host: string;
  readonly port: number;
}

/** Ports of pods that are elsewhere than at the address of their pod: not every system has a loopback address for each. */
export class MovedPorts {
  /** By `127.64.0.3:6333`. */
  readonly #moved = new Map<string, SocketAddress>();

  move(from: SocketAddress, to: SocketAddress): void {
    this.#moved.set(textOf(from), to);
  }

  /** The container behind it has ended; its address may be another pod's soon. */
  moveBack(from: SocketAddress): void {
    this.#moved.delete(textOf(from));
  }

  /** Where an address of the cluster really is. */
  of(address: SocketAddress): SocketAddress {
    return this.#moved.get(textOf(address)) ?? address;
  }
}

const textOf = ({ host, port }: SocketAddress) => `${host}:${port}`;
