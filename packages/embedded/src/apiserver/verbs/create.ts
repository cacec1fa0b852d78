import { nameSuffix, timestamp, uuid } from '../core.ts';
import type { WireMeta, WireObject } from '../served-kind.ts';
import { alreadyExists } from '../status.ts';
import type { Entry } from '../watch/index.ts';
import { type Call, keyIn } from './call.ts';
import { oneInServedVersion } from './served-version.ts';

export async function create(call: Call, body: WireObject): Promise<Entry> {
  const { core, served } = call;
  const name = body.metadata.name ?? `${String(body.metadata['generateName'] ?? '')}${nameSuffix(core.random)}`;
  const metadata: WireMeta = {
    ...body.metadata,
    name,
    ...(call.namespace !== undefined && { namespace: call.namespace }),
    uid: uuid(core.random),
    resourceVersion: '',
    creationTimestamp: timestamp(core.clock.now()),
  };
  const object: WireObject = { ...body, kind: served.kind.kind, apiVersion: served.apiVersion, metadata };
  const entry = core.store.put(served.resource, keyIn(call, name), undefined, object);
  if (entry === undefined) throw alreadyExists(served.kind, name);
  return oneInServedVersion(served, entry);
}
