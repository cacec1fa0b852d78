import type { Scale } from '../kinds/builtin.ts';
import { apiVersionOf, type Kind, type KubernetesObject, type ObjectRef } from '../kinds/object.ts';
import type { Status } from './errors.ts';
import { linesOf } from './lines.ts';
import type {
  Applied,
  ApplyOptions,
  Below,
  CallOptions,
  DeleteOptions,
  List,
  ListOptions,
  LogOptions,
  NewObject,
  Patch,
  SelectOptions,
  WatchOptions,
  WriteOptions,
} from './options.ts';
import { pathOf } from './path.ts';
import { type ClientOptions, Requests } from './requests.ts';
import { parseSlimWatchEvent, parseWatchEvent, type WatchEvent } from './watch-event.ts';

const CONTENT_TYPE = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const;

const PAGE = 500;

const PODS = { group: '', version: 'v1', plural: 'pods', namespaced: true };

/**
 * The verbs of the Kubernetes API, typed by kind. Keeps nothing but its connections. Failures are `ApiError` (the server
 * said no) or `TransportError` (no answer); both have been retried already where a second attempt can do no harm.
 */
export class Client {
  readonly #requests: Requests;

  constructor(options: ClientOptions) {
    this.#requests = new Requests(options);
  }

  get<T extends KubernetesObject>(kind: Kind<T>, ref: ObjectRef, options: CallOptions = {}): Promise<T> {
    return this.#read(pathOf(kind, ref), options);
  }

  /** One page if `limit` is given, all objects in one answer if not; `pages` is kinder to both sides. */
  async list<T extends KubernetesObject>(kind: Kind<T>, options: ListOptions = {}): Promise<List<T>> {
    const { signal, namespace, ...query } = options;
    const list: List<T> = await this.#read(pathOf(kind, { namespace }, query), { signal });
    // The server leaves out what all items share; without it, no item could be handed on alone.
    const type = { apiVersion: apiVersionOf(kind), kind: kind.kind };
    return { ...list, items: list.items.map((item) => ({ ...item, ...type })) };
  }

  /** A whole list, in pages that all belong to one moment. */
  async *pages<T extends KubernetesObject>(
    kind: Kind<T>,
    options: ListOptions = {},
  ): AsyncGenerator<List<T>, void, undefined> {
    // The continue token stands for the version of the first page; naming one beside it is refused.
    const { resourceVersion, resourceVersionMatch, ...rest } = { limit: PAGE, ...options };
    let page = await this.list(kind, { ...rest, resourceVersion, resourceVersionMatch });
    yield page;
    while (page.metadata.continue) {
      page = await this.list(kind, { ...rest, continue: page.metadata.continue });
      yield page;
    }
  }

  create<T extends KubernetesObject>(kind: Kind<T>, object: NewObject<T>, options: WriteOptions = {}): Promise<T> {
    const { namespace } = object.metadata;
    const body = { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind };
    return this.#write(kind, { namespace }, options, { method: 'POST', body, repeatable: false });
  }

  /** Creates what stands below this very object and is of a kind of its own: a binding or an eviction below its pod. */
  createBelow<T extends KubernetesObject>(
    kind: Kind<T>,
    { metadata }: T,
    { subresource, ...fields }: Below,
    options: WriteOptions = {},
  ): Promise<Status> {
    const { namespace, name, uid } = metadata;
    const body = { ...fields, metadata: { namespace, name, uid } };
    return this.#write(
      kind,
      { namespace, name },
      { ...options, subresource },
      { method: 'POST', body, repeatable: false },
    );
  }

  /** Replaces the object; with `metadata.resourceVersion` only if nobody changed it since it was read. */
  update<T extends KubernetesObject>(kind: Kind<T>, object: T, options: WriteOptions = {}): Promise<T> {
    // Guarded by a version, a second attempt finds that it came too late, and says so.
    const repeatable = object.metadata.resourceVersion !== undefined;
    return this.#write(kind, refTo(object), options, { method: 'PUT', body: object, repeatable });
  }

  patch<T extends KubernetesObject>(
    kind: Kind<T>,
    ref: ObjectRef,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    const body = patch.type === 'json' ? patch.operations : patch.body;
    const contentType = CONTENT_TYPE[patch.type];
    return this.#write(kind, ref, options, { method: 'PATCH', body, contentType, repeatable: false });
  }

  /**
   * Server-side apply: makes these fields so, and gives up those that an earlier apply of the same manager had and this one
   * has not. Creates the object if it is missing, unless `metadata.uid` is set: then a deleted object stays deleted.
   */
  apply<T extends KubernetesObject>(kind: Kind<T>, object: Applied<T>, options: ApplyOptions): Promise<T> {
    const body = { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind };
    const contentType = 'application/apply-patch+yaml';
    return this.#write(kind, refTo(object), options, { method: 'PATCH', body, contentType, repeatable: true });
  }

  /** The object if finalizers keep it for a while, a `Status` if it is gone. */
  delete<T extends KubernetesObject>(kind: Kind<T>, ref: ObjectRef, options: DeleteOptions = {}): Promise<T | Status> {
    const { signal, dryRun, ...rest } = options;
    const body = JSON.stringify({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      ...rest,
      ...(dryRun && { dryRun: ['All'] }),
    });
    const repeatable = options.preconditions !== undefined;
    return this.#requests.json({ method: 'DELETE', path: pathOf(kind, ref), body, signal, repeatable });
  }

  /** Deletes all that the selection matches now. */
  async deleteCollection(kind: Kind, options: SelectOptions = {}): Promise<void> {
    const { signal, namespace, ...query } = options;
    const path = pathOf(kind, { namespace }, query);
    const answer = await this.#requests.send({ method: 'DELETE', path, signal, repeatable: false });
    await answer.discard();
  }

  getScale(kind: Kind, ref: ObjectRef, options: CallOptions = {}): Promise<Scale> {
    return this.#read(pathOf(kind, { ...ref, subresource: 'scale' }), options);
  }

  setScale(kind: Kind, ref: ObjectRef, replicas: number, options: CallOptions = {}): Promise<Scale> {
    return this.#requests.json({
      method: 'PATCH',
      path: pathOf(kind, { ...ref, subresource: 'scale' }),
      body: JSON.stringify({ spec: { replicas } }),
      contentType: CONTENT_TYPE.merge,
      signal: options.signal,
      repeatable: true,
    });
  }

  /**
   * What changes from now on, in batches: what arrived together comes together. Ends when the server ends the watch (every
   * few minutes); it is a reflector that starts the next one and keeps the whole picture.
   */
  async *watch<T extends KubernetesObject>(
    kind: Kind<T>,
    options: WatchOptions = {},
  ): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
    const { signal, namespace, slim, onOpen, ...rest } = options;
    const match = rest.sendInitialEvents ? { resourceVersionMatch: 'NotOlderThan' } : {};
    const path = pathOf(kind, { namespace }, { watch: true, ...rest, ...match });
    const answer = await this.#requests.send({ method: 'GET', path, signal, longLived: true, repeatable: true });
    onOpen?.();
    const parse = slim ? parseSlimWatchEvent<T> : parseWatchEvent<T>;
    for await (const lines of linesOf(answer.chunks())) yield lines.map((line) => parse(line));
  }

  /** The log of a pod's container, line by line; with `follow` until the container ends or the signal aborts. */
  async *logs(ref: ObjectRef, options: LogOptions = {}): AsyncGenerator<string, void, undefined> {
    const { signal, ...query } = options;
    const path = pathOf(PODS, { ...ref, subresource: 'log' }, query);
    const answer = await this.#requests.send({ method: 'GET', path, signal, longLived: true, repeatable: true });
    for await (const lines of linesOf(answer.chunks())) for (const line of lines) yield line.toString('utf8');
  }

  /** Any other path of the API server (`/version`, `/openapi/v3`), as JSON. */
  raw<T>(path: string, options: CallOptions = {}): Promise<T> {
    return this.#read(path, options);
  }

  close(): Promise<void> {
    return this.#requests.close();
  }

  #read<T>(path: string, { signal }: CallOptions): Promise<T> {
    return this.#requests.json({ method: 'GET', path, signal, repeatable: true });
  }

  #write<T>(
    kind: Kind,
    at: Parameters<typeof pathOf>[1],
    {
      signal,
      subresource,
      dryRun,
      ...query
    }: Omit<WriteOptions, 'subresource'> & {
      readonly subresource?: string | undefined;
      readonly force?: boolean | undefined;
    },
    { body, ...how }: Pick<Parameters<Requests['json']>[0], 'method' | 'contentType' | 'repeatable'> & { body: object },
  ): Promise<T> {
    const path = pathOf(kind, { ...at, subresource }, { ...query, dryRun: dryRun ? 'All' : undefined });
    return this.#requests.json({ ...how, path, body: JSON.stringify(body), signal });
  }
}

function refTo(object: {
  readonly metadata: { readonly name: string; readonly namespace?: string | undefined };
}): ObjectRef {
  return { namespace: object.metadata.namespace, name: object.metadata.name };
}
