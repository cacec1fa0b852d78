import { timestamp } from '@polder/kube';
import type { Review } from '../admission/index.ts';
import { listPage, type Page, parseListOptions } from '../list/index.ts';
import { valueAt } from '../object-text.ts';
import type { Json } from '../schema/schema.ts';
import type { WireMeta, WireObject } from '../served-kind.ts';
import { conflict, forbidden } from '../status.ts';
import type { Entry } from '../watch/index.ts';
import type { Call } from './call.ts';
import { dryRunEntry } from './create.ts';
import { type DeleteOptions, deleteOptions } from './delete-options.ts';
import { listRequest } from './read.ts';
import { inServedVersion, oneInServedVersion } from './served-version.ts';
import { liveEntry } from './update.ts';

/** What became of the object: it is gone, or it waits for its finalizers or its grace period. */
export interface Deletion {
  readonly outcome: 'gone' | 'waiting';
  readonly entry: Entry;
}

export async function remove(call: Call, body: Json | undefined): Promise<Deletion> {
  return removeObject(call, deleteOptions(call, body));
}

/** Deletes everything that a list with the same options would show; answers with what was there. */
export async function removeCollection(call: Call, body: Json | undefined): Promise<Page> {
  const options = deleteOptions(call, body);
  const list = parseListOptions(call.query);
  const page = listPage(call.core.store, listRequest(call, list), list);
  for (const { object } of page.entries) {
    const { name, namespace } = object.metadata;
    const one: Call = { ...call, name, namespace: namespace ?? call.namespace };
    if (isThere(one)) await removeObject(one, options);
  }
  return { ...page, entries: await inServedVersion(call.served, page.entries) };
}

/** Somebody else may have been faster, which is what was wanted. */
function isThere(call: Call): boolean {
  const { core, served, namespace, name } = call;
  return (
    core.store.cache(served.resource).get(namespace === undefined ? `${name}` : `${namespace}/${name}`) !== undefined
  );
}

const PROTECTED_NAMESPACES = ['default', 'kube-system', 'kube-public'];

export async function removeObject(call: Call, options: DeleteOptions): Promise<Deletion> {
  const { core, served, name = '' } = call;
  for (;;) {
    const before = liveEntry(call);
    const { object: live } = await oneInServedVersion(served, before);
    if (served.resource === 'namespaces' && PROTECTED_NAMESPACES.includes(name)) {
      throw forbidden(served.kind, name, 'this namespace may not be deleted');
    }
    checkPreconditions(call, live, options);
    const review: Review = { call, operation: 'DELETE', name, isDryRun: options.isDryRun };
    await core.admission.validate(review, undefined, live);
    const marked = markedForDeletion(before.object, served.resource, options, core.clock.now());
    const done =
      marked === undefined ? gone(call, before, options.isDryRun) : waiting(call, before, marked, options.isDryRun);
    // Undefined: the object was changed while a webhook was asked.
    if (done !== undefined) return { ...done, entry: await oneInServedVersion(served, done.entry) };
  }
}

function gone({ core, served }: Call, before: Entry, isDryRun: boolean): Deletion | undefined {
  if (isDryRun) return { outcome: 'gone', entry: before };
  const entry = core.store.remove(served.resource, before);
  return entry && { outcome: 'gone', entry };
}

function waiting({ core, served }: Call, before: Entry, marked: WireObject, isDryRun: boolean): Deletion | undefined {
  if (marked === before.object) return { outcome: 'waiting', entry: before };
  if (isDryRun) return { outcome: 'waiting', entry: dryRunEntry(before.key, marked) };
  const entry = core.store.put(served.resource, before.key, before, marked);
  return entry && { outcome: 'waiting', entry };
}

/** The real server names the kind here, not the resource. */
function checkPreconditions({ served, name = '' }: Call, { metadata }: WireObject, options: DeleteOptions): void {
  const named = { ...served.kind, plural: served.kind.kind };
  if (options.uid !== undefined && options.uid !== metadata.uid) {
    throw conflict(
      named,
      name,
      `the UID in the precondition (${options.uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== metadata.resourceVersion) {
    throw conflict(
      named,
      name,
      `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
  }
}

/** The object with the mark of a deletion that has to wait; undefined if it can go at once. Pure. */
export function markedForDeletion(
  object: WireObject,
  resource: string,
  options: Pick<DeleteOptions, 'gracePeriodSeconds' | 'propagation'>,
  now: number,
): WireObject | undefined {
  const { metadata } = object;
  const finalizers = finalizersFor(metadata.finalizers ?? [], options.propagation, resource);
  const grace = graceOf(object, resource, options.gracePeriodSeconds);
  const isNamespace = resource === 'namespaces' && Array.isArray(valueAt(object, ['spec', 'finalizers']));
  if (finalizers.length === 0 && grace === 0 && !isNamespace) return undefined;

  const marked = deletionMark(metadata, grace, now);
  const isUnchanged = marked === undefined && sameNames(finalizers, metadata.finalizers ?? []);
  const { finalizers: _, ...rest } = metadata;
  const withMark: WireMeta = { ...rest, ...marked, ...(finalizers.length > 0 && { finalizers }) };
  if (isUnchanged) return object;
  if (!isNamespace) return { ...object, metadata: withMark };
  // A namespace has no grace period.
  const { deletionGracePeriodSeconds: __, ...unhurried } = withMark;
  return { ...object, metadata: unhurried, status: { ...statusOf(object), phase: 'Terminating' } };
}

const statusOf = (object: WireObject) => {
  const status = object['status'];
  return typeof status === 'object' && status !== null ? status : {};
};

/** When the object shall be gone. A second deletion can only bring that forward. */
function deletionMark(metadata: WireMeta, grace: number, now: number): Partial<WireMeta> | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds: before = 0, generation } = metadata;
  if (deletionTimestamp === undefined) {
    return {
      deletionTimestamp: timestamp(now + grace * 1000),
      deletionGracePeriodSeconds: grace,
      ...(generation !== undefined && { generation: generation + 1 }),
    };
  }
  if (grace >= before) return undefined;
  const asked = Date.parse(deletionTimestamp) - before * 1000;
  return { deletionTimestamp: timestamp(asked + grace * 1000), deletionGracePeriodSeconds: grace };
}

/** Only pods get time to leave, and only those that run somewhere. */
function graceOf(object: WireObject, resource: string, asked: number | undefined): number {
  if (resource !== 'pods') return 0;
  const phase = valueAt(object, ['status', 'phase']);
  if (!valueAt(object, ['spec', 'nodeName']) || phase === 'Succeeded' || phase === 'Failed') return 0;
  const own = valueAt(object, ['spec', 'terminationGracePeriodSeconds']);
  const grace = asked ?? (typeof own === 'number' ? own : 30);
  // Below zero means one second, so that nobody kills a pod by accident.
  return grace < 0 ? 1 : grace;
}

const POLICY_FINALIZERS = { Orphan: 'orphan', Foreground: 'foregroundDeletion' } as const;

/** From the time before garbage collection: whoever deletes these without saying how keeps their pods. */
const ORPHANING = ['jobs.batch', 'replicationcontrollers'];

/**
 * The policy is kept as a finalizer, and the garbage collector acts on it. A policy that the object carries already stays,
 * unless the deletion names another one. Nothing belongs to an event.
 */
function finalizersFor(
  present: readonly string[],
  asked: DeleteOptions['propagation'],
  resource: string,
): readonly string[] {
  if (resource === 'events') return present;
  const others = present.filter((name) => name !== POLICY_FINALIZERS.Orphan && name !== POLICY_FINALIZERS.Foreground);
  const carriesPolicy = others.length < present.length;
  const propagation = asked ?? (ORPHANING.includes(resource) && !carriesPolicy ? 'Orphan' : undefined);
  if (propagation === undefined) return present;
  return propagation === 'Background' ? others : [...others, POLICY_FINALIZERS[propagation]];
}

const sameNames = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((name, index) => name === b[index]);
