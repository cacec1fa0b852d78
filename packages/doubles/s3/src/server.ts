import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Storage } from './storage.ts';

export interface Served {
  /** `http://127.0.0.1:41234`. */
  readonly endpoint: string;
  close(): Promise<void>;
}

/** The storage behind a socket, for programs that want one. */
export async function serve(storage: Storage, host = '127.0.0.1', port = 0): Promise<Served> {
  const server = createServer((request, response) => void respond(storage, request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  const bound = server.address();
  const at = typeof bound === 'object' && bound ? bound.port : port;
  return {
    endpoint: `http://${host}:${at}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function respond(storage: Storage, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    const body = Buffer.concat(await Array.fromAsync(request, (part: Uint8Array) => part));
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as const);
    const { method = 'GET', url = '/' } = request;
    const asked = { method, url: `http://${request.headers.host}${url}`, headers: Object.fromEntries(headers), body };
    const answered = await storage.send(asked, gone.signal);
    response.writeHead(answered.status, answered.headers);
    await pipeline(answered.body, response);
  } catch {
    request.socket.destroy();
  }
}
