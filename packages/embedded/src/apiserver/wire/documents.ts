import { KUBERNETES_VERSION } from '../builtin/index.ts';
import {
  AGGREGATED,
  acceptsAggregated,
  aggregated,
  coreVersions,
  etagOf,
  group,
  groupList,
  resourceList,
} from '../discovery/index.ts';
import { printJson } from '../exact-json.ts';
import { acceptsJson, groupDocument, index, PROTOBUF_V2, swagger, swaggerForm } from '../openapi/index.ts';
import type { ServedKind } from '../served-kind.ts';
import type { ServedKinds } from '../served-kinds.ts';
import { noSuchPath, StatusError } from '../status.ts';
import { type Answer, json, pageNotFound, plain } from './answer.ts';
import { swaggerMessage } from './protobuf/swagger-message.ts';

/** What is asked for, outside of objects. */
export interface DocumentRequest {
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
}

/** Health, version, discovery and OpenAPI; undefined for paths that are none of these. */
export function documentAnswer(kinds: ServedKinds, request: DocumentRequest): Answer | undefined {
  const { segments } = request;
  switch (segments[0]) {
    case undefined:
      return json(200, { paths: paths(kinds.all) });
    case 'healthz':
    case 'livez':
    case 'readyz':
      return health(segments, request.query);
    case 'version':
      return segments.length === 1 ? json(200, version()) : undefined;
    case 'api':
    case 'apis':
      return discovery(kinds, request);
    case 'openapi':
      return openapi(kinds, request);
    default:
      return undefined;
  }
}

/** `/`: where there is something to find. */
function paths(kinds: readonly ServedKind[]): readonly string[] {
  const versions = kinds.flatMap(({ group: name, version: served }) =>
    name === '' ? [`/api/${served}`] : [`/apis/${name}`, `/apis/${name}/${served}`],
  );
  const others = ['/api', '/apis', '/healthz', '/livez', '/openapi/v2', '/openapi/v3', '/readyz', '/version'];
  return [...new Set([...versions, ...others])].toSorted();
}

const CHECKS = ['ping', 'storage'];

function health([check = '', name, ...more]: readonly string[], query: URLSearchParams): Answer {
  if (more.length > 0 || (name !== undefined && !CHECKS.includes(name))) return pageNotFound();
  if (name !== undefined || !query.has('verbose')) return plain(200, 'ok');
  const excluded = query.getAll('exclude');
  const lines = CHECKS.map((one) => `[+]${one} ${excluded.includes(one) ? 'excluded: ok' : 'ok'}`);
  return plain(200, [...lines, `${check} check passed`, ''].join('\n'));
}

function version() {
  const [, major = '1', minor = ''] = /^v(\d+)\.(\d+)/.exec(KUBERNETES_VERSION) ?? [];
  return {
    major,
    minor,
    gitVersion: KUBERNETES_VERSION,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '2026-01-01T00:00:00Z',
    goVersion: '',
    compiler: 'node',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}

function discovery(kinds: ServedKinds, { segments, headers }: DocumentRequest): Answer | undefined {
  const [root, first, second] = segments;
  const { all } = kinds;
  if (segments.length === 1) {
    const path = root === 'api' ? '/api' : '/apis';
    if (acceptsAggregated(headers['accept'])) {
      const document = aggregated(all, path);
      const etag = etagOf(document);
      const isKnown = headers['if-none-match'] === etag;
      const answer = isKnown ? { status: 304, body: '' } : json(200, document);
      return { ...answer, contentType: AGGREGATED, headers: { etag, vary: 'Accept' } };
    }
    return json(200, root === 'api' ? coreVersions(all, headers['host'] ?? '127.0.0.1') : groupList(all));
  }
  if (root === 'api' && segments.length === 2) return found(resourceList(all, '', first ?? ''));
  if (root === 'apis' && segments.length === 2) {
    const document = group(all, first ?? '');
    return document === undefined ? pageNotFound() : json(200, document);
  }
  if (root === 'apis' && segments.length === 3) {
    const document = resourceList(all, first ?? '', second ?? '');
    if (document === undefined && group(all, first ?? '') === undefined) return pageNotFound();
    return found(document);
  }
  return undefined;
}

function found(document: unknown): Answer {
  if (document === undefined) throw noSuchPath();
  return json(200, document);
}

function openapi(kinds: ServedKinds, { segments, headers }: DocumentRequest): Answer | undefined {
  const { all } = kinds;
  const [, form, ...path] = segments;
  if (form === 'v2' && path.length === 0) return swaggerAnswer(all, headers);
  if (!acceptsJson(headers['accept'])) throw notAcceptable('application/json');
  if (form !== 'v3') return undefined;
  if (path.length === 0) return { status: 200, body: cached(all, 'v3', () => index(all)) };
  const name = path.join('/');
  const document = cached(all, `v3 ${name}`, () => groupDocument(all, name));
  return document === '' ? pageNotFound() : { status: 200, body: document };
}

/** Both forms have one etag, made from the same facts as the hashes in the index: a client that has it costs no document. */
function swaggerAnswer(kinds: readonly ServedKind[], headers: DocumentRequest['headers']): Answer {
  const form = swaggerForm(headers['accept']);
  if (form === undefined) throw notAcceptable(`application/json, ${PROTOBUF_V2}`);
  const etag = etagOf(index(kinds));
  const head = {
    contentType: form === 'json' ? 'application/json' : PROTOBUF_V2,
    headers: { etag, vary: 'Accept' },
  };
  if (headers['if-none-match'] === etag) return { ...head, status: 304, body: '' };
  const body = form === 'json' ? cached(kinds, 'v2', () => swagger(kinds)) : once(cachedMessage(kinds));
  return { ...head, status: 200, body };
}

const notAcceptable = (types: string) =>
  new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${types}`);

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const texts = new WeakMap<readonly ServedKind[], Map<string, string>>();

/** Documents are large and change only with the kinds; the list of kinds is a new one then. */
function cached(kinds: readonly ServedKind[], name: string, make: () => unknown): string {
  const known = texts.get(kinds) ?? new Map<string, string>();
  texts.set(kinds, known);
  const text = known.get(name) ?? printJson(make() ?? '');
  known.set(name, text);
  return text === '""' ? '' : text;
}

const messages = new WeakMap<readonly ServedKind[], Uint8Array>();

function cachedMessage(kinds: readonly ServedKind[]): Uint8Array {
  const message = messages.get(kinds) ?? swaggerMessage(swagger(kinds));
  messages.set(kinds, message);
  return message;
}
