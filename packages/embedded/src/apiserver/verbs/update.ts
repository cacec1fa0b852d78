import { isDeepStrictEqual } from 'node:util';
import type { Review } from '../admission/index.ts';
import { checkGrowth } from '../claim-admission.ts';
import { ignoredFields } from '../merge/index.ts';
import { asWire, valueAt, withValueAt } from '../object-text.ts';
import type { WireMeta, WireObject } from '../served-kind.ts';
import { badRequest, conflict, invalid, notFound, unnamed } from '../status.ts';
import type { Entry } from '../watch/index.ts';
import { type Call, keyIn } from './call.ts';
import { createObject, dryRunEntry } from './create.ts';
import { type Body, decode } from './decode.ts';
import { checkEphemeralContainers, withEphemeralContainers } from './ephemeral-containers.ts';
import { defaulted, isSame, sameDesire, tracked, validateObject } from './finish.ts';
import { type WriteOptions, writeOptions } from './options.ts';
import { oneInServedVersion, storedForm } from './served-version.ts';

const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

/** What a write left. */
export interface Written {
  readonly entry: Entry;
  readonly isCreated: boolean;
}

/** What a write makes of the live object. Called again if somebody else was faster. */
export interface Revision {
  /** The object that shall be, as the client wants it. */
  readonly wanted: WireObject;
  /** Writes down who set which field. */
  readonly own: (live: WireObject, object: WireObject) => WireObject;
}

export async function update(call: Call, body: Body): Promise<Written> {
  const options = writeOptions(call, 'UpdateOptions');
  const sent = decode(call, body, options);
  if (isCreation(call)) {
    const entry = await createObject(call, sent, options, (object) =>
      tracked(call, undefined, object, options.fieldManager),
    );
    return { entry, isCreated: true };
  }
  if (!sent.metadata.resourceVersion && !call.served.allowsUnconditionalUpdate) {
    // Here the real server names the resource where it names the kind elsewhere.
    const { group, plural } = call.served.kind;
    throw invalid({ group, plural, kind: plural }, sent.metadata.name, [
      { type: 'Invalid', field: 'metadata.resourceVersion', value: 0, detail: 'must be specified for an update' },
    ]);
  }
  const entry = await revise(call, options, (live) => {
    checkUid(call, sent, live);
    return { wanted: sent, own: (before, object) => tracked(call, before, object, options.fieldManager) };
  });
  return { entry, isCreated: false };
}

/** Some kinds come into being by an update. */
function isCreation(call: Call): boolean {
  const { core, served, name = '', subresource } = call;
  if (!served.allowsCreateOnUpdate || subresource !== undefined) return false;
  return core.store.cache(served.resource).get(keyIn(call, name)) === undefined;
}

/** A uid that an update brings along is a condition. */
function checkUid(call: Call, { metadata }: WireObject, live: WireObject): void {
  const { served, name = '' } = call;
  if (!metadata.uid || metadata.uid === live.metadata.uid) return;
  const key = `/registry/${served.resource.replace('.', '/')}/${keyIn(call, name)}`;
  throw conflict(
    served.kind,
    name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${live.metadata.uid}`,
  );
}

/** Real servers try a patch five times before they report a conflict. */
const MOST_TRIES = 5;

/** Read, change, write, until nobody came in between. */
export async function revise(
  call: Call,
  options: WriteOptions,
  change: (live: WireObject) => Revision | Promise<Revision>,
): Promise<Entry> {
  for (let tries = 1; ; tries++) {
    const before = liveEntry(call);
    const live = await oneInServedVersion(call.served, before);
    const revision = await change(live.object);
    const after = await replace(call, options, before, live.object, revision);
    if (after !== undefined) return after;
    if (tries === MOST_TRIES || revision.wanted.metadata.resourceVersion) {
      throw conflict(call.served.kind, call.name ?? '', MODIFIED);
    }
  }
}

export function liveEntry(call: Call): Entry {
  const { core, served, name = '' } = call;
  const entry = core.store.cache(served.resource).get(keyIn(call, name));
  if (entry === undefined) throw notFound(served.kind, name);
  return entry;
}

/** Undefined if the object was changed by somebody else on the way. */
async function replace(
  call: Call,
  options: WriteOptions,
  before: Entry,
  live: WireObject,
  { wanted, own }: Revision,
): Promise<Entry | undefined> {
  const { core, served } = call;
  const { kind } = served;
  checkIdentity(call, wanted, live);
  const merged = own(live, defaulted(kind, withinReach(call, carryOver(wanted, live), live)));
  const review: Review = {
    call,
    operation: 'UPDATE',
    name: live.metadata.name,
    isDryRun: options.isDryRun,
  };
  const admitted = await core.admission.mutate(review, merged, live);
  const completed = served.complete(defaulted(kind, admitted), live);
  const object = withGeneration(call, completed, live);
  validateObject(call, object, live);
  if (served.resource === 'pods') checkEphemeralContainers(call, object, live);
  if (served.resource === 'persistentvolumeclaims') checkGrowth(object, live, core.store);
  await core.admission.validate(review, object, live);
  if (isFinished(object)) {
    if (!options.isDryRun) {
      const gone = core.store.remove(served.resource, before, await storedForm(served, object));
      if (gone === undefined) return undefined;
    }
    return dryRunEntry(before.key, object);
  }
  if (isSame(object, live)) return oneInServedVersion(served, before);
  if (options.isDryRun) return dryRunEntry(before.key, object);
  const entry = core.store.put(served.resource, before.key, before, await storedForm(served, object));
  return entry && oneInServedVersion(served, entry);
}

/** The path, the body and the live object have to be about the same thing. */
function checkIdentity(call: Call, { metadata }: WireObject, live: WireObject): void {
  const { served, name = '', namespace } = call;
  if (metadata.name !== name) {
    throw badRequest(
      metadata.name === ''
        ? 'name must be provided'
        : `the name of the object (${metadata.name}) does not match the name on the URL (${name})`,
    );
  }
  if (metadata.namespace && metadata.namespace !== (namespace ?? '')) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  const version = metadata.resourceVersion;
  if (version && !/^\d+$/.test(version)) {
    throw unnamed(`strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`);
  }
  if (version && version !== '0' && version !== live.metadata.resourceVersion)
    throw conflict(served.kind, name, MODIFIED);
}

/** What the server keeps is taken from the live object when the client does not send it. */
function carryOver(wanted: WireObject, { metadata: live }: WireObject): WireObject {
  const { metadata: sent } = wanted;
  const metadata: WireMeta = {
    ...sent,
    resourceVersion: live.resourceVersion,
    uid: sent.uid || live.uid,
    creationTimestamp: sent.creationTimestamp || live.creationTimestamp,
    ...(live.namespace !== undefined && { namespace: live.namespace }),
    ...kept('generateName', sent, live),
    ...kept('deletionTimestamp', sent, live),
    ...kept('deletionGracePeriodSeconds', sent, live),
  };
  const { generation: _, ...rest } = metadata;
  const filled = Object.entries(rest).filter(([name, value]) => !isEmptyList(name, value));
  return asWire({
    ...wanted,
    metadata: { ...Object.fromEntries(filled), ...(live.generation !== undefined && { generation: live.generation }) },
  });
}

/** An empty map or list in metadata is none: a patch that removes the last label leaves no trace. */
function isEmptyList(name: string, value: unknown): boolean {
  if (!['labels', 'annotations', 'finalizers', 'ownerReferences'].includes(name)) return false;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

const kept = (name: string, sent: WireMeta, live: WireMeta) =>
  sent[name] === undefined && live[name] !== undefined ? { [name]: live[name] } : {};

/** An endpoint only changes what is its own: the others' fields are put back. */
function withinReach(call: Call, wanted: WireObject, live: WireObject): WireObject {
  const { kind } = call.served;
  if (call.subresource === 'status' && kind.origin === 'custom') {
    const { managedFields } = wanted.metadata;
    const metadata = { ...live.metadata, ...(managedFields !== undefined && { managedFields }) };
    return asWire(withValueAt({ ...live, metadata }, ['status'], wanted['status']));
  }
  if (call.subresource === 'ephemeralcontainers') return withEphemeralContainers(live, wanted);
  // The finalizers in a namespace's spec are for `/finalize` alone.
  let object = kind.kind === 'Namespace' ? withValueAt(wanted, ['spec'], live['spec']) : wanted;
  for (const path of ignoredFields(kind, call.subresource)) object = withValueAt(object, path, valueAt(live, path));
  return asWire(object);
}

function withGeneration(call: Call, object: WireObject, live: WireObject): WireObject {
  const { served } = call;
  if (!served.hasGeneration || sameDesire(served.kind, object, live)) return object;
  return { ...object, metadata: { ...object.metadata, generation: (live.metadata.generation ?? 0) + 1 } };
}

/** An object that is being deleted goes when its last finalizer does. A pod also waits for its grace period. */
function isFinished({ metadata, spec }: WireObject): boolean {
  if (metadata.deletionTimestamp === undefined || (metadata.finalizers?.length ?? 0) > 0) return false;
  if ((metadata.deletionGracePeriodSeconds ?? 0) > 0) return false;
  // A namespace has finalizers of its own.
  return !isDeepStrictEqual(valueAt(spec, ['finalizers']), ['kubernetes']);
}
