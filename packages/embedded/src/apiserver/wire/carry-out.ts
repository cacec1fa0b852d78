import type { TransportRequest } from '@polder/kube';
import type { Circumstances, Fault, Verb } from '../faults/index.ts';
import { parseListOptions } from '../list/index.ts';
import { asText, valueAt } from '../object-text.ts';
import { methodNotAllowed } from '../status.ts';
import { type Call } from '../verbs/call.ts';
import { create } from '../verbs/create.ts';
import { type Deletion, remove, removeCollection } from '../verbs/delete.ts';
import { evict } from '../verbs/eviction.ts';
import { finalizeNamespace } from '../verbs/finalize.ts';
import { patch } from '../verbs/patch.ts';
import { bind, podLog } from '../verbs/pods.ts';
import { get, list, watch } from '../verbs/read.ts';
import { getScale, patchScale, updateScale } from '../verbs/scale.ts';
import { oneInServedVersion } from '../verbs/served-version.ts';
import { serviceAccountToken } from '../verbs/service-account-token.ts';
import { update } from '../verbs/update.ts';
import type { Entry } from '../watch/index.ts';
import { type Answer, json, jsonText, plain } from './answer.ts';
import { objectBody, optionalBody, patchBody, patchTypeOf } from './body.ts';
import { eventTexts, objectText, pageText, type Showing } from './object-form.ts';
import { reviewed } from './reviews.ts';
import { watchStream } from './watch-stream.ts';

/** A request whose target and verb are known. */
export interface Task {
  readonly call: Call;
  readonly verb: Verb;
  readonly request: TransportRequest;
  readonly showing: Showing;
  readonly circumstances: Circumstances;
  readonly faults: readonly Fault[];
}

/** From a verb to its answer. */
export async function carryOut(task: Task): Promise<Answer> {
  const { call, verb, showing } = task;
  if (call.subresource !== undefined && call.subresource !== 'status') return onSubresource(task, call.subresource);
  const shown = (status: number, entry: Entry) => jsonText(status, objectText(showing, entry));
  const body = () => objectBody(task.request.body, task.request.headers['content-type'], call.served.kind);
  switch (verb) {
    case 'get':
      return shown(200, await get(call));
    case 'list':
      return jsonText(200, pageText(showing, await list(call, parseListOptions(call.query))));
    case 'watch':
      return openWatch(task);
    case 'create':
      if (isReview(call))
        return json(201, reviewed(call, optionalBody(task.request.body, task.request.headers['content-type'])));
      if (call.served.resource === 'bindings') return onSubresource(asBinding(task), 'binding');
      return shown(201, await create(call, body()));
    case 'update': {
      const { entry, isCreated } = await update(call, body());
      return shown(isCreated ? 201 : 200, entry);
    }
    case 'patch': {
      const { type, value } = patchOf(task);
      const { entry, isCreated } = await patch(call, type, value);
      return shown(isCreated ? 201 : 200, entry);
    }
    case 'delete':
      return deleted(
        showing,
        await remove(call, optionalBody(task.request.body, task.request.headers['content-type'])),
      );
    case 'deletecollection':
      return jsonText(
        200,
        pageText(
          showing,
          await removeCollection(call, optionalBody(task.request.body, task.request.headers['content-type'])),
        ),
      );
  }
}

/** Kinds that are only ever asked about: nothing of them is stored. */
const isReview = ({ served }: Call) =>
  served.kind.group === 'authorization.k8s.io' || served.kind.group === 'authentication.k8s.io';

/** The old way to bind: the pod is named in the body. */
function asBinding(task: Task): Task {
  const { call, request } = task;
  const pods = call.core.kinds.find('', 'v1', 'pods');
  const { value } = objectBody(request.body, request.headers['content-type'], call.served.kind);
  const name = asText(valueAt(value, ['metadata', 'name']));
  return pods === undefined ? task : { ...task, call: { ...call, served: pods, name, subresource: 'binding' } };
}

async function onSubresource(task: Task, subresource: string): Promise<Answer> {
  const { call, verb, request, showing } = task;
  const shown = (status: number, entry: Entry) => jsonText(status, objectText(showing, entry));
  const body = () => objectBody(request.body, request.headers['content-type'], call.served.kind);
  switch (`${verb} ${subresource}`) {
    case 'get scale':
      return shown(200, await getScale(call));
    case 'update scale':
      return shown(200, await updateScale(call, body()));
    case 'patch scale': {
      const { type, value } = patchOf(task);
      return shown(200, await patchScale(call, type, value));
    }
    case 'get log': {
      const log = await podLog(call);
      return log === undefined
        ? { ...plain(204, ''), contentType: 'application/json' }
        : { ...plain(200, ''), body: log };
    }
    case 'create binding':
      bind(call, body().value);
      return json(201, success({ code: 201 }));
    case 'create eviction':
      await evict(call, body().value);
      return json(201, success({ code: 201 }));
    case 'update finalize':
      return shown(200, finalizeNamespace(call, body()));
    case 'create token':
      return json(201, serviceAccountToken(call, body().value));
    case 'get ephemeralcontainers':
      return shown(200, await get(call));
    case 'update ephemeralcontainers':
      return shown(200, (await update(call, body())).entry);
    case 'patch ephemeralcontainers': {
      const { type, value } = patchOf(task);
      return shown(200, (await patch(call, type, value)).entry);
    }
    default:
      throw methodNotAllowed();
  }
}

function patchOf({ call, request }: Task) {
  const type = patchTypeOf(request.headers['content-type'], call.served.kind);
  return { type, value: patchBody(request.body, type) };
}

function openWatch({ call, request, showing, circumstances, faults }: Task): Answer {
  const watcher = watch(call, parseListOptions(call.query));
  const release = call.core.faults.register(watcher, circumstances, faults);
  const encode = eventTexts(showing);
  const stream = watchStream(
    watcher,
    async (event) => {
      if (event.type === 'BOOKMARK' || event.type === 'ERROR') return encode(event);
      return encode({ ...event, entry: await oneInServedVersion(call.served, event.entry) });
    },
    request.signal,
    release,
  );
  return { status: 200, body: stream };
}

/** Gone without a trace: a Status. Still there, or of a kind that likes to show itself: the object. */
function deleted(showing: Showing, { outcome, entry }: Deletion): Answer {
  const { served } = showing;
  if (outcome === 'waiting' || served.returnsDeleted) return jsonText(200, objectText(showing, entry));
  const { group, plural } = served.kind;
  const { name, uid } = entry.object.metadata;
  return json(200, success({ details: { name, ...(group !== '' && { group }), kind: plural, uid } }));
}

const success = (more: Readonly<Record<string, unknown>>) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  ...more,
});
