import type { TransportRequest, TransportResponse } from '@polder/kube';
import { type Core, uuid } from '../core.ts';
import { parseListOptions } from '../list/index.ts';
import { methodNotAllowed, noSuchPath } from '../status.ts';
import type { Call } from '../verbs/call.ts';
import { create } from '../verbs/create.ts';
import { get, list, watch } from '../verbs/read.ts';
import { inServedVersion } from '../verbs/served-version.ts';
import { type Answer, failure, json, jsonText, pageNotFound, plain, response } from './answer.ts';
import { asObject, checkSize, decodeObject } from './body.ts';
import { negotiate } from './negotiation.ts';
import { eventText, objectText, pageText } from './object-form.ts';
import { targetOf } from './request-target.ts';
import { watchStream } from './watch-stream.ts';

/** The whole server: one request in, one answer out. Sockets and the in-process transport are both only edges of it. */
export async function handle(core: Core, request: TransportRequest): Promise<TransportResponse> {
  const auditId = uuid(core.random);
  const warnings: string[] = [];
  const answer = await respond(core, request, warnings).catch(failure);
  return response(answer, auditId, warnings);
}

async function respond(core: Core, request: TransportRequest, warnings: string[]): Promise<Answer> {
  const url = new URL(request.path, 'http://server');
  const segments = url.pathname
    .split('/')
    .filter((segment) => segment !== '')
    .map(decodeURIComponent);
  if (['healthz', 'livez', 'readyz'].includes(segments[0] ?? '')) return plain(200, 'ok');
  const target = targetOf(segments, core.kinds);
  if (target === undefined) {
    if (
      segments[0] === 'api' ||
      (segments[0] === 'apis' && core.kinds.hasVersion(segments[1] ?? '', segments[2] ?? ''))
    )
      throw noSuchPath();
    return pageNotFound();
  }
  const call: Call = {
    core,
    ...target,
    query: url.searchParams,
    userAgent: request.headers['user-agent'] ?? '',
    signal: request.signal,
    warnings,
  };
  return carryOut(call, request);
}

async function carryOut(call: Call, request: TransportRequest): Promise<Answer> {
  const { served } = call;
  const form = negotiate(request.headers['accept']);
  checkSize(request.body);
  if (request.method === 'GET' && call.name !== undefined)
    return jsonText(200, objectText(form, served, await get(call)));
  if (request.method === 'GET') {
    const options = parseListOptions(call.query);
    if (!options.watch) return jsonText(200, pageText(form, served, await list(call, options)));
    const stream = watchStream(
      watch(call, options),
      async (event) => {
        if (event.type === 'BOOKMARK' || event.type === 'ERROR') return eventText(form, served, event);
        const [entry = event.entry] = await inServedVersion(served, [event.entry]);
        return eventText(form, served, { ...event, entry });
      },
      request.signal,
    );
    return { status: 200, body: stream };
  }
  if (request.method === 'POST' && call.name === undefined) {
    const { value } = decodeObject(request.body, request.headers['content-type'], served.kind);
    return jsonText(201, objectText(form, served, await create(call, asObject(value, served.kind))));
  }
  if (request.method === 'DELETE' && call.name !== undefined) {
    const entry = await get(call);
    core(call).store.remove(served.resource, entry);
    return json(200, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' });
  }
  throw methodNotAllowed();
}

const core = (call: Call) => call.core;
