import { sleep } from '../clock.ts';
import { ConnectionFailure } from '../connection-failure.ts';
import { type Json, parseJson } from '../json.ts';
import type { Peer } from '../peer/index.ts';
import { formatError } from '../state/index.ts';
import { type Answer, plain, Refused, responseOf } from './answer.ts';
import { collectionRoutes } from './collections.ts';
import type { QdrantRequest, QdrantResponse } from './exchange.ts';
import { type Permission, permissionFor } from './keys.ts';
import { membershipRoutes } from './membership.ts';
import { pointRoutes } from './points.ts';
import { Call, type Route } from './route.ts';
import { serviceRoutes } from './service.ts';
import { shardRoutes } from './shards.ts';
import { snapshotRoutes } from './snapshots.ts';

const ROUTES: readonly Route[] = [
  ...serviceRoutes,
  ...membershipRoutes,
  ...collectionRoutes,
  ...shardRoutes,
  ...pointRoutes,
  ...snapshotRoutes,
];

/** One request to one peer, with everything that is wrong with that peer. Rejects if its connection is closed. */
export async function exchange(peer: Peer, request: QdrantRequest): Promise<QdrantResponse> {
  const closed = () => new ConnectionFailure('ECONNRESET', 'socket hang up');
  return peer.whileUp(answered(), closed);

  async function answered(): Promise<QdrantResponse> {
    await peer.whileHung();
    const { latencyMs = 0, answer } = peer.faults;
    if (latencyMs > 0) await sleep(peer.clock, latencyMs);
    const instead = answer?.(request);
    if (typeof instead === 'object') return instead;
    if (instead === 'close') throw closed();
    const begun = peer.clock.now();
    const real = responseOf(await handle(peer, request), (peer.clock.now() - begun) / 1_000);
    await peer.whileHung();
    if (instead === 'close-after' || !real) throw closed();
    return real;
  }
}

async function handle(peer: Peer, request: QdrantRequest): Promise<Answer> {
  const [path = '', search = ''] = request.path.split('?', 2);
  const found = match(request.method, path);
  const permission = permissionFor(peer.settings, request.headers, found?.route.access ?? 'read');
  if (permission === 'no-key' || permission === 'wrong-key') return unauthorized(permission);
  // Neither a body nor a type, also for a method that a path does not have.
  if (!found) return plain(404, '', {});
  const { route, params } = found;
  try {
    const body = route.takesJson ? bodyOf(request) : undefined;
    if (permission === 'forbidden') throw new Refused(403, 'Forbidden: Global manage access is required');
    return await route.handle(new Call(peer, request, new URLSearchParams(search), params, body));
  } catch (error) {
    if (error instanceof Refused) return { is: 'refused', refusal: error.refusal };
    throw error;
  }
}

/** The bare text, without a type. */
const unauthorized = (permission: Extract<Permission, 'no-key' | 'wrong-key'>): Answer =>
  plain(
    401,
    permission === 'no-key' ? 'Must provide an API key or an Authorization bearer token' : 'Invalid API key or JWT',
    {},
  );

function bodyOf({ body }: QdrantRequest): Json {
  try {
    return parseJson(Buffer.from(body).toString('utf8'));
  } catch {
    const { status, error } = formatError('expected value');
    throw new Refused(status, error);
  }
}

interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** The route of a path: one that names it in words comes before one that takes any. */
function match(method: string, path: string): Match | undefined {
  const parts = path.replace(/(.)\/$/, '$1').split('/');
  let best: Match | undefined;
  for (const route of ROUTES) {
    if (route.method !== method) continue;
    const params = paramsOf(route.path.split('/'), parts);
    if (params && (!best || Object.keys(params).length < Object.keys(best.params).length)) best = { route, params };
  }
  return best;
}

function paramsOf(pattern: readonly string[], parts: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, word] of pattern.entries()) {
    const part = parts[at] ?? '';
    if (word.startsWith('{')) params[word.slice(1, -1)] = decoded(part);
    else if (word !== part) return undefined;
  }
  return params;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
