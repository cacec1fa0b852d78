import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import { type ApiServer, createApiServer, type Listener } from '@polder/embedded';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createAuthority, issue } from '../src/certificates/index.ts';
import {
  type Access,
  Client,
  type ClusterConfig,
  ConfigMap,
  socketTransport,
  type Transport,
  TransportError,
} from '../src/index.ts';

let server: ApiServer;
let listener: Listener;
let transport: Transport | undefined;
beforeEach(async () => {
  server = createApiServer();
  listener = await server.listen();
});
afterEach(async () => {
  await transport?.close();
  await listener.close();
  server.close();
});

const accessTo = ({ ca, token }: Listener): Access => ({ ca, authorization: `Bearer ${token}` });

function clientWith(config: Partial<ClusterConfig>): Client {
  const access = async () => accessTo(listener);
  transport = socketTransport({ server: listener.url, namespace: 'default', access, forget() {}, ...config });
  return new Client({ transport, userAgent: 'polder/test' });
}

const ref = { namespace: 'default', name: 'a' };

test('a token that was replaced is read again after a refusal', async () => {
  let token = 'outdated';
  const client = clientWith({
    access: async () => ({ ca: listener.ca, authorization: `Bearer ${token}` }),
    forget: () => (token = listener.token),
  });
  expect((await client.list(ConfigMap)).items).toEqual([]);
});

test('an authority that was replaced is trusted for new connections', async () => {
  const client = clientWith({});
  await client.create(ConfigMap, { metadata: ref });
  const { port } = new URL(listener.url);
  await listener.close();
  listener = await server.listen({ port: Number(port) });
  expect((await client.get(ConfigMap, ref)).metadata.name).toBe('a');
});

test('a server with another authority than ours is not talked to', async () => {
  const other = await server.listen();
  const client = clientWith({ access: async () => accessTo(other) });
  await expect(client.get(ConfigMap, ref)).rejects.toThrow(/certificate/);
  await other.close();
});

test('nobody listening is told apart from an answer that was lost', async () => {
  const client = clientWith({});
  await listener.close();
  const error: unknown = await client.get(ConfigMap, ref).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(TransportError);
  expect(error).toMatchObject({ sent: false });
  listener = await server.listen();
});

test('a signal ends a request, and a watch, with its own reason', async () => {
  const client = clientWith({});
  const stop = new AbortController();
  const reason = new Error('enough');
  const watching = (async () => {
    for await (const _ of client.watch(ConfigMap, {
      sendInitialEvents: true,
      allowWatchBookmarks: true,
      signal: stop.signal,
    })) {
      stop.abort(reason);
    }
  })();
  await expect(watching).rejects.toBe(reason);
  await expect(client.get(ConfigMap, ref, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});

test('each watch has a connection of its own, also where the server would take them all on one', async () => {
  const term = { validMs: 3_600_000, now: Date.now() };
  const authority = await createAuthority({ name: 'ca', ...term });
  const pair = await issue(authority, { name: 'api', use: 'server', ipAddresses: ['127.0.0.1'], ...term });
  const ports = new Map<string, number | undefined>();
  const other = createSecureServer({ allowHTTP1: true, cert: pair.certificate, key: pair.key }, (request, answer) => {
    ports.set(request.url, request.socket.remotePort);
    answer.writeHead(200, { 'x-version': request.httpVersion });
    answer.write('{');
  });
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  clientWith({ server: `https://127.0.0.1:${port}`, access: async () => ({ ca: authority.certificate }) });
  const watch = async (path: string) => await transport?.request({ method: 'GET', path, headers: {}, longLived: true });
  const answers = await Promise.all(['/a', '/b', '/c'].map(watch));
  expect(answers.map((answer) => answer?.headers['x-version'])).toEqual(['1.1', '1.1', '1.1']);
  expect(new Set(ports.values()).size).toBe(3);
  await transport?.close();
  other.close();
  await once(other, 'close');
});
