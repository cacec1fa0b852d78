import { connect, createServer, type Socket } from 'node:net';

export interface CountingProxy {
  readonly port: number;
  /** Connections accepted so far: what the server sees, whatever the client believes. */
  readonly connections: () => number;
  close(): Promise<void>;
}

/** Passes bytes on to a port of this machine. It never looks into them, so TLS stays between the two ends. */
export async function countingProxy(target: number): Promise<CountingProxy> {
  let connections = 0;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    connections++;
    const upstream = connect(target, '127.0.0.1');
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    connections: () => connections,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
