import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Clock, connectionsOf, type TransportRequest, type TransportResponse } from '@polder/kube';
import { createAuthority, issue } from '@polder/kube/certificates';
import { StatusError } from '../status.ts';
import { PROTOBUF } from '../wire/protobuf/index.ts';
import { kubeconfigOf } from './kubeconfig.ts';

export interface ListenOptions {
  /** 127.0.0.1 unless told otherwise: whoever has the token may do everything. */
  readonly host?: string;
  /** A free one unless told otherwise. */
  readonly port?: number;
  /** Random unless told otherwise. */
  readonly token?: string;
}

export interface Listener {
  readonly url: string;
  /** The certificate authority to trust, as PEM. */
  readonly ca: string;
  readonly token: string;
  readonly kubeconfig: string;
  /** Breaks off what is under way and frees the port. */
  close(): Promise<void>;
}

const TEN_YEARS = 10 * 365 * 24 * 3600 * 1000;

type Handle = (request: TransportRequest) => Promise<TransportResponse>;

/** Serves over TLS, with one bearer token that may do everything. */
export async function listen(handle: Handle, clock: Clock, options: ListenOptions = {}): Promise<Listener> {
  const host = options.host ?? '127.0.0.1';
  const token = options.token ?? randomBytes(32).toString('base64url');
  // Made afresh for every start, and the authority's key is forgotten at once: nobody can sign with it later.
  const validity = { validMs: TEN_YEARS, now: clock.now() };
  const authority = await createAuthority({ name: 'polder-embedded', ...validity });
  const { certificate, key } = await issue(authority, {
    name: 'kube-apiserver',
    use: 'server',
    dnsNames: ['localhost', 'kubernetes.default.svc'],
    ipAddresses: [host],
    ...validity,
  });
  const ca = authority.certificate;
  const server = createServer({ cert: certificate, key, keepAlive: true }, (request, response) => {
    serve(handle, token, request, response).catch(() => response.destroy());
  });
  const breakOff = connectionsOf(server);
  // A watch may say nothing for a minute, and a request may take as long as its webhooks.
  server.requestTimeout = 0;
  // Longer than clients keep idle connections: the one that closes first must not be the one that is not asked.
  server.keepAliveTimeout = 90_000;
  server.listen(options.port ?? 0, host);
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    const because = cause.code === 'EADDRINUSE' ? 'the port is in use' : cause.message;
    throw new Error(`cannot listen on ${host}:${options.port ?? 0}: ${because}`, { cause });
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const url = `https://${host}:${port}`;
  return {
    url,
    ca,
    token,
    kubeconfig: kubeconfigOf({ url, ca, token }),
    async close() {
      const closed = once(server, 'close');
      server.close();
      breakOff();
      await closed;
    },
  };
}

async function serve(
  handle: Handle,
  token: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  if (!carries(token, incoming.headers.authorization)) return refuse(outgoing);
  const gone = new AbortController();
  outgoing.on('close', () => gone.abort());
  const answer = await handle({
    method: methodOf(incoming.method),
    path: incoming.url ?? '/',
    headers: headersOf(incoming),
    body: await bodyOf(incoming),
    signal: gone.signal,
  });
  for (const [name, value] of Object.entries(answer.headers)) if (value !== undefined) outgoing.setHeader(name, value);
  outgoing.statusCode = answer.status;
  await (isStream(answer) ? stream(answer, outgoing) : whole(answer, incoming, outgoing));
}

/** Hashing first makes both sides equally long, so that the comparison takes the same time whatever was sent. */
function carries(token: string, authorization: string | undefined): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const sent = /^bearer (.*)$/i.exec(authorization ?? '')?.[1];
  return timingSafeEqual(digest(sent ?? ''), digest(token)) && sent !== undefined;
}

function refuse(outgoing: ServerResponse): void {
  outgoing.writeHead(401, { 'content-type': 'application/json' });
  outgoing.end(JSON.stringify(new StatusError(401, 'Unauthorized', 'Unauthorized')));
}

const METHODS: Readonly<Record<string, TransportRequest['method']>> = {
  POST: 'POST',
  PUT: 'PUT',
  PATCH: 'PATCH',
  DELETE: 'DELETE',
};

/** HEAD and the like are answered as GET; node leaves the body out. */
const methodOf = (method = 'GET'): TransportRequest['method'] => METHODS[method] ?? 'GET';

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}

async function bodyOf(incoming: IncomingMessage): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  for await (const part of incoming) parts.push(part);
  // Protobuf is no text: its bytes are handed on one by one.
  const encoding = incoming.headers['content-type']?.startsWith(PROTOBUF) ? 'latin1' : 'utf8';
  return parts.length === 0 ? undefined : Buffer.concat(parts).toString(encoding);
}

const isStream = (answer: TransportResponse) => answer.headers['transfer-encoding'] === 'chunked';

async function stream(answer: TransportResponse, outgoing: ServerResponse): Promise<void> {
  outgoing.flushHeaders();
  for await (const chunk of answer.chunks()) {
    if (!outgoing.write(chunk)) await Promise.race([once(outgoing, 'drain'), once(outgoing, 'close')]);
    if (outgoing.destroyed) return;
  }
  outgoing.end();
}

/** Below this size the real server does not compress either. */
const WORTH_COMPRESSING = 128 * 1024;

async function whole(answer: TransportResponse, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const body = Buffer.from(await answer.text());
  const isAsked = /\bgzip\b/.test(incoming.headers['accept-encoding'] ?? '');
  if (!isAsked || body.length < WORTH_COMPRESSING) {
    outgoing.setHeader('content-length', body.length);
    outgoing.end(body);
    return;
  }
  // Level 1, as the real server: the time is spent on a local network.
  const compressed = await promisify(gzip)(body, { level: 1 });
  outgoing.setHeader('content-encoding', 'gzip');
  outgoing.setHeader('vary', 'Accept-Encoding');
  outgoing.setHeader('content-length', compressed.length);
  outgoing.end(compressed);
}
