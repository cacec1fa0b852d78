import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Pair } from '@polder/kube/certificates';
import { connectionsOf } from '@polder/kube/http-server';

/** A request that was made of it. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** What it answers: a status and a text, a JSON value, nothing at all (`silence`), or a connection that breaks (`reset`). */
export type Reply =
  | { readonly status: number; readonly text?: string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly json: object }
  | 'silence'
  | 'reset';

export interface ScriptedServer {
  readonly url: string;
  readonly asked: Asked[];
  /** Of each request the method and the path. */
  readonly log: string[];
  stop(): Promise<void>;
}

/** For what a real server can't be made to do on command. `reply` is asked for each request. With a certificate it speaks TLS. */
export async function scriptedServer(
  reply: (asked: Asked, url: string) => Reply,
  certificate?: Pair,
): Promise<ScriptedServer> {
  const asked: Asked[] = [];
  const answer = (response: ServerResponse, reply: Reply) => {
    if (reply === 'silence') return;
    if (reply === 'reset') response.destroy();
    else if ('json' in reply) response.end(JSON.stringify(reply.json));
    else response.writeHead(reply.status, reply.headers).end(reply.text ?? '');
  };
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const one = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(parts).toString(),
      };
      asked.push(one);
      answer(response, reply(one, url));
    });
  };
  const server = certificate
    ? createTlsServer({ cert: certificate.certificate, key: certificate.key }, serve)
    : createServer(serve);
  const breakOff = connectionsOf(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address: AddressInfo | string | null = server.address();
  const url = `${certificate ? 'https' : 'http'}://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  return {
    url,
    asked,
    get log() {
      return asked.map(({ method, path }) => `${method} ${path}`);
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      breakOff();
      await closed;
    },
  };
}

/** The replies one after the other, and then none. */
export function inTurn(...replies: readonly Reply[]): () => Reply | undefined {
  let at = 0;
  return () => replies[at++];
}
