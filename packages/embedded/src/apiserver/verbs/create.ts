import { timestamp } from '@polder/kube';
import type { Review } from '../admission/index.ts';
import { nameSuffix, uuid } from '../core.ts';
import { asWire, textOf } from '../object-text.ts';
import type { WireMeta, WireObject } from '../served-kind.ts';
import { alreadyExists, badRequest, invalid, unnamed } from '../status.ts';
import type { Entry } from '../watch/index.ts';
import { type Call, keyIn } from './call.ts';
import { type Body, decode } from './decode.ts';
import { defaulted, tracked, validateObject } from './finish.ts';
import { checkNamespace } from './namespaces.ts';
import { type WriteOptions, writeOptions } from './options.ts';
import { oneInServedVersion, storedForm } from './served-version.ts';

export async function create(call: Call, body: Body): Promise<Entry> {
  const options = writeOptions(call, 'CreateOptions');
  const sent = decode(call, body, options);
  return createObject(call, sent, options, (object) => tracked(call, undefined, object, options.fieldManager));
}

/** The rest of a create, shared with apply: `own` writes down who set which field. */
export async function createObject(
  call: Call,
  sent: WireObject,
  options: WriteOptions,
  own: (object: WireObject) => WireObject,
): Promise<Entry> {
  const { core, served } = call;
  const named = withIdentity(call, sent);
  const { name } = named.metadata;
  checkNamespace(call, name);
  const { kind } = served;
  const started = own(defaulted(kind, named));
  const review: Review = { call, operation: 'CREATE', name, isDryRun: options.isDryRun };
  const admitted = await core.admission.mutate(review, withFirstState(call, started), undefined);
  const object = served.complete(defaulted(kind, admitted), undefined);
  validateObject(call, object, undefined);
  await core.admission.validate(review, object, undefined);
  const key = keyIn(call, name);
  if (core.store.cache(served.resource).get(key) !== undefined) throw alreadyExists(kind, name);
  if (options.isDryRun) return dryRunEntry(key, object);
  const entry = core.store.put(served.resource, key, undefined, await storedForm(served, object));
  if (entry === undefined) throw alreadyExists(kind, name);
  return oneInServedVersion(served, entry);
}

/** A name that the server makes is a label, too. */
const LONGEST_PREFIX = 63 - 5;

/** What the server alone decides: who the object is and when it came to be. */
export function withIdentity(call: Call, sent: WireObject): WireObject {
  const { core, served, namespace } = call;
  const { metadata: given } = sent;
  const generateName = typeof given['generateName'] === 'string' ? given['generateName'] : '';
  const name =
    given.name || (generateName === '' ? '' : `${generateName.slice(0, LONGEST_PREFIX)}${nameSuffix(core.random)}`);
  if (given.namespace !== undefined && given.namespace !== (namespace ?? '')) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (call.name !== undefined && name !== call.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${call.name})`);
  }
  if (name === '') {
    const detail = 'name or generateName is required';
    throw invalid(served.kind, '', [{ type: 'Required', field: 'metadata.name', detail }]);
  }
  if (given.resourceVersion) throw unnamed('resourceVersion should not be set on objects to be created');
  const { deletionTimestamp: _, deletionGracePeriodSeconds: __, ...kept } = given;
  const metadata: WireMeta = {
    ...kept,
    name,
    ...(namespace !== undefined && { namespace }),
    uid: uuid(core.random),
    resourceVersion: '',
    creationTimestamp: timestamp(core.clock.now()),
    ...(served.hasGeneration && { generation: 1 }),
  };
  return { ...sent, metadata };
}

/** Status is not for those who create, if it is written apart. */
export function withFirstState({ served }: Call, object: WireObject): WireObject {
  const { status: _, ...rest } = object;
  const isDropped = served.kind.subresources.status && !served.keepsFirstStatus;
  const kept = isDropped ? asWire({ ...rest }) : object;
  return served.prepare(kept);
}

/** A dry run ends before the store gives a version. */
export const dryRunEntry = (key: string, object: WireObject): Entry => ({
  key,
  revision: 0,
  object,
  text: textOf(object),
});
