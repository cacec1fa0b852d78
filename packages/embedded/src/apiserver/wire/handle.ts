import { TransportError, type TransportRequest, type TransportResponse } from '@polder/kube';
import { stringify } from 'yaml';
import { type Core, uuid } from '../core.ts';
import { parseJson } from '../exact-json.ts';
import { type Circumstances, interception } from '../faults/index.ts';
import { noSuchPath } from '../status.ts';
import type { IncludeObject } from '../tables/index.ts';
import type { Call } from '../verbs/call.ts';
import { type Answer, failure, pageNotFound, response } from './answer.ts';
import { checkSize, decodeSegment } from './body.ts';
import { carryOut } from './carry-out.ts';
import { documentAnswer } from './documents.ts';
import { negotiate } from './negotiation.ts';
import { type RequestTarget, targetOf } from './request-target.ts';
import { verbOf } from './verb.ts';

/** The whole server: one request in, one answer out. Sockets and the in-process transport are both only edges of it. */
export async function handle(core: Core, request: TransportRequest): Promise<TransportResponse> {
  const ids = { audit: uuid(core.random), ...core.fairness };
  const warnings: string[] = [];
  const answer = await respond(core, request, warnings).catch((error: unknown) => {
    // A fault that breaks the connection: there is no answer.
    if (error instanceof TransportError) throw error;
    return failure(error);
  });
  return response(answer, ids, warnings);
}

async function respond(core: Core, request: TransportRequest, warnings: string[]): Promise<Answer> {
  const url = new URL(request.path, 'http://server');
  const segments = url.pathname
    .split('/')
    .filter((segment) => segment !== '')
    .map(decodeSegment);
  const target = targetOf(segments, core.kinds);
  if (target !== undefined) return onResource(core, request, target, url.searchParams, warnings);
  const document = documentAnswer(core.kinds, { segments, query: url.searchParams, headers: request.headers });
  if (document !== undefined) return document;
  if (isWithinApi(core, segments)) throw noSuchPath();
  return pageNotFound();
}

/** Below a group that is served, even what is missing is answered with a Status. */
function isWithinApi({ kinds }: Core, [root, group]: readonly string[]): boolean {
  return root === 'api' || (root === 'apis' && kinds.all.some((kind) => kind.group === group));
}

async function onResource(
  core: Core,
  request: TransportRequest,
  target: RequestTarget,
  query: URLSearchParams,
  warnings: string[],
): Promise<Answer> {
  const { served, namespace, name, subresource } = target;
  if (target.isWatchPath) query.set('watch', 'true');
  const verb = verbOf(request.method, target, query);
  const { form, encoding } = negotiate(request.headers['accept'], verb === 'watch');
  checkSize(request.body);
  if (served.deprecation !== undefined) warnings.push(served.deprecation);

  const userAgent = request.headers['user-agent'] ?? '';
  const circumstances: Circumstances = { verb, kind: served.kind, namespace, name, subresource, userAgent };
  const faults = core.faults.take(circumstances);
  const intercepted = interception(faults, verb, core.clock, request.signal);
  await intercepted.before();
  const call: Call = {
    core,
    served,
    namespace,
    name,
    subresource,
    query,
    userAgent,
    signal: request.signal,
    staleRevision: intercepted.staleRevision,
    warnings,
  };
  const showing = { form, served, now: core.clock.now(), include: includeOf(query) };
  const answer = await carryOut({ call, verb, request, showing, circumstances, faults });
  intercepted.after();
  return encoding === 'yaml' ? asYaml(answer) : answer;
}

function includeOf(query: URLSearchParams): IncludeObject {
  const asked = query.get('includeObject');
  return asked === 'None' || asked === 'Object' ? asked : 'Metadata';
}

function asYaml(answer: Answer): Answer {
  if (typeof answer.body !== 'string' || answer.contentType !== undefined) return answer;
  return { ...answer, contentType: 'application/yaml', body: stringify(parseJson(answer.body)) };
}
