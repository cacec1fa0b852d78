import { type Client, type Clock, isNotFound, type Logger, messageOf, type Patch, WorkQueue } from '@polder/kube';
import type { ApiServer, Followed } from '../../apiserver/index.ts';
import { type FindKind, kindFinder } from '../kind-finder.ts';
import { DependencyGraph, ownersOf } from './graph.ts';
import { type Decision, decide } from './plan.ts';

export interface GarbageCollectorOptions {
  /** Where every object of every kind is heard of. */
  readonly server: Pick<ApiServer, 'follow' | 'kinds'>;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
}

const WORKERS = 20;
const FIELD_MANAGER = 'kube-controller-manager';

/**
 * Deletes what has lost its owners, and finishes deletions that have to wait for dependents. It is told of every change within
 * the write that made it, so its graph is never behind: an owner that is not in there is not there.
 */
export class GarbageCollector {
  readonly #options: GarbageCollectorOptions;
  readonly #graph = new DependencyGraph();
  readonly #find: FindKind;
  readonly #queue: WorkQueue;

  constructor(options: GarbageCollectorOptions) {
    this.#options = options;
    this.#find = kindFinder(() => options.server.kinds);
    this.#queue = new WorkQueue({ clock: options.clock });
  }

  /** Works until the signal aborts; resolves when the last request has been answered. */
  async start(signal: AbortSignal): Promise<void> {
    const unfollow = this.#options.server.follow((object, is) => this.#note(object, is));
    const stop = () => {
      unfollow();
      this.#queue.close();
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    await Promise.all(Array.from({ length: WORKERS }, () => this.#work(signal)));
  }

  /** Events belong to nobody, and there are many of them. */
  #note(object: Followed, is: 'there' | 'gone'): void {
    if (object.kind.plural === 'events' && ['', 'events.k8s.io'].includes(object.kind.group)) return;
    const concerned = is === 'there' ? this.#graph.put(object) : this.#graph.remove(object);
    for (const uid of concerned) this.#queue.add(uid);
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (let uid = await this.#queue.take(); uid !== undefined; uid = await this.#queue.take()) {
      try {
        const decision = decide(this.#graph, this.#find, uid);
        await this.#act(uid, decision, signal);
        if (decision.do === 'ask-later') this.#queue.retry(uid);
        else this.#queue.forget(uid);
      } catch (error) {
        if (!signal.aborted) this.#failed(uid, error);
      }
      this.#queue.done(uid);
    }
  }

  #failed(uid: string, error: unknown): void {
    this.#queue.retry(uid);
    const { kind, metadata } = this.#graph.get(uid) ?? {};
    const object = { kind: kind?.kind, namespace: metadata?.namespace, name: metadata?.name, uid };
    const failures = this.#queue.failures(uid);
    this.#options.log.warn({ ...object, error: messageOf(error), failures }, 'garbage collection failed, trying again');
  }

  async #act(uid: string, decision: Decision, signal: AbortSignal): Promise<void> {
    const object = this.#graph.get(uid);
    if (object === undefined || decision.do === 'nothing' || decision.do === 'ask-later') return;
    const { name, namespace } = object.metadata;
    this.#options.log.info({ kind: object.kind.kind, namespace, name, uid }, `${decision.do}: ${decision.because}`);
    switch (decision.do) {
      case 'delete':
        if (decision.unblocks) await this.#unblock(object, signal);
        return await this.#delete(uid, decision.propagation, signal);
      case 'drop-owners':
        return await this.#dropOwners(object, decision.owners, signal);
      case 'orphan':
        for (const dependent of decision.dependents) await this.#dropOwners(dependent, [uid], signal);
        // Nobody is left who could bring the owner back.
        return this.#queue.add(uid);
      case 'remove-finalizer': {
        const finalizers = object.metadata.finalizers?.filter((one) => one !== decision.finalizer) ?? [];
        return await this.#patch(object, { finalizers }, signal);
      }
    }
  }

  /** As it is now: what was decided for an older version is decided again. */
  async #delete(uid: string, propagationPolicy: 'Background' | 'Foreground' | 'Orphan', signal: AbortSignal) {
    const object = this.#graph.get(uid);
    if (object === undefined) return;
    const { resourceVersion = '' } = object.metadata;
    const options = { propagationPolicy, preconditions: { uid, resourceVersion }, signal };
    await unlessGone(this.#options.client.delete(object.kind, object.metadata, options));
  }

  async #dropOwners(object: Followed, uids: readonly string[], signal: AbortSignal): Promise<void> {
    const ownerReferences = ownersOf(object).filter(({ uid }) => !uids.includes(uid));
    await this.#patch(object, { ownerReferences }, signal);
  }

  async #unblock(object: Followed, signal: AbortSignal): Promise<void> {
    const ownerReferences = ownersOf(object).map((owner) => ({ ...owner, blockOwnerDeletion: false }));
    await this.#patch(object, { ownerReferences }, signal);
  }

  /** Lists are replaced whole, so the version has to be the one that the new list was made from. */
  async #patch({ kind, metadata }: Followed, change: object, signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion } = metadata;
    const patch: Patch = { type: 'merge', body: { metadata: { uid, resourceVersion, ...change } } };
    const options = { fieldManager: FIELD_MANAGER, signal };
    await unlessGone(this.#options.client.patch(kind, metadata, patch, options));
  }
}

/** Somebody else was faster, which is what was wanted. */
async function unlessGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
