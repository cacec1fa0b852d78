import type { JsonPatchOperation, Transport, TransportRequest, TransportResponse } from '../src/client/index.ts';
import { pathOf } from '../src/client/path.ts';
import type { Kind, KubernetesObject, ObjectRef } from '../src/kinds/index.ts';
import { applyJsonPatch } from './json-patch.ts';

/**
 * The least of an API server that optimistic writers need: objects by path, versions, conflicts. It knows no schema and no
 * kinds, so every answer follows from the code on this page.
 */
export class ObjectServer implements Transport {
  readonly objects = new Map<string, KubernetesObject>();
  /** Every request that was carried out or refused, in order: `PATCH /api/v1/pods/a`. */
  readonly requests: string[] = [];
  /** Called before a request is looked at; what it throws is the answer that never came. */
  before: (request: TransportRequest) => void | Promise<void> = () => {};
  #version = 0;
  #names = 0;

  async request(request: TransportRequest): Promise<TransportResponse> {
    request.signal?.throwIfAborted();
    await this.before(request);
    return this.handle(request);
  }

  async close(): Promise<void> {}

  at<T extends KubernetesObject>(kind: Kind<T>, ref: ObjectRef): T | undefined {
    const object = this.objects.get(pathOf(kind, ref));
    return object && JSON.parse(JSON.stringify(object));
  }

  put<T extends KubernetesObject>(kind: Kind<T>, object: T): void {
    this.#store(pathOf(kind, object.metadata), object);
  }

  #store(path: string, object: KubernetesObject): void {
    const version = String(++this.#version);
    const uid = object.metadata.uid ?? `uid-${version}`;
    this.objects.set(path, { ...object, metadata: { ...object.metadata, uid, resourceVersion: version } });
  }

  /** The answer, and the whole of its effect, in one synchronous step. */
  handle(request: TransportRequest): TransportResponse {
    const path = request.path.split('?')[0] ?? '';
    this.requests.push(`${request.method} ${path}`);
    const present = this.objects.get(path);
    if (request.method === 'POST') return this.#create(path, JSON.parse(request.body ?? ''));
    if (!present) return refusal(404, 'NotFound', `${path} not found`);
    switch (request.method) {
      case 'GET':
        return answer(200, present);
      case 'PUT':
        return this.#replace(path, present, JSON.parse(request.body ?? ''));
      case 'PATCH':
        return this.#patch(path, present, request);
      case 'DELETE':
        this.objects.delete(path);
        return answer(200, { kind: 'Status', status: 'Success' });
    }
  }

  #create(collection: string, object: KubernetesObject): TransportResponse {
    const name = object.metadata.name ?? `${object.metadata.generateName}${++this.#names}`;
    const path = `${collection}/${name}`;
    if (this.objects.has(path)) return refusal(409, 'AlreadyExists', `${path} already exists`);
    this.#store(path, { ...object, metadata: { ...object.metadata, name } });
    return answer(201, this.objects.get(path));
  }

  #replace(path: string, present: KubernetesObject, object: KubernetesObject): TransportResponse {
    const version = object.metadata.resourceVersion;
    if (version !== undefined && version !== present.metadata.resourceVersion) {
      return refusal(409, 'Conflict', `${path}: the object has been modified`);
    }
    this.#store(path, object);
    return answer(200, this.objects.get(path));
  }

  #patch(path: string, present: KubernetesObject, request: TransportRequest): TransportResponse {
    const patched = patchedBy(present, request);
    if (patched === undefined) return refusal(422, 'Invalid', 'the server rejected our request');
    if (patched.metadata.deletionTimestamp !== undefined && !patched.metadata.finalizers?.length) {
      this.objects.delete(path);
      return answer(200, patched);
    }
    this.#store(path, patched);
    return answer(200, this.objects.get(path));
  }
}

function patchedBy(object: KubernetesObject, request: TransportRequest): KubernetesObject | undefined {
  const body = request.body ?? '';
  if (request.headers['content-type'] === 'application/merge-patch+json') {
    const merged: KubernetesObject = JSON.parse(JSON.stringify(merge(object, JSON.parse(body))));
    return merged;
  }
  const operations: JsonPatchOperation[] = JSON.parse(body);
  try {
    const patched: KubernetesObject = JSON.parse(JSON.stringify(applyJsonPatch(object, operations)));
    return patched;
  } catch {
    return undefined;
  }
}

function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const merged: Record<string, unknown> = typeof target === 'object' ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = merge(merged[name], value);
  }
  return merged;
}

function refusal(code: number, reason: string, message: string): TransportResponse {
  return answer(code, { kind: 'Status', status: 'Failure', code, reason, message });
}

function answer(status: number, body: unknown): TransportResponse {
  const text = JSON.stringify(body);
  return {
    status,
    headers: {},
    text: () => Promise.resolve(text),
    async *chunks() {
      yield Buffer.from(text);
    },
    discard: () => Promise.resolve(),
  };
}
