import { isDeepStrictEqual } from 'node:util';
import { POD_MUTABLE } from '../builtin/index.ts';
import { asWire, valueAt, withValueAt } from '../object-text.ts';
import type { WireObject } from '../served-kind.ts';
import { invalid } from '../status.ts';
import type { Call } from './call.ts';

const PATH = ['spec', 'ephemeralContainers'];

/** Containers for debugging have an endpoint of their own, which changes nothing else. */
export function withEphemeralContainers(live: WireObject, wanted: WireObject): WireObject {
  const { managedFields } = wanted.metadata;
  const metadata = { ...live.metadata, ...(managedFields !== undefined && { managedFields }) };
  return asWire(withValueAt({ ...live, metadata }, PATH, valueAt(wanted, PATH)));
}

/** Only that endpoint adds them. */
export function checkEphemeralContainers({ served, subresource }: Call, pod: WireObject, live: WireObject): void {
  if (subresource === 'ephemeralcontainers' || isDeepStrictEqual(valueAt(pod, PATH), valueAt(live, PATH))) return;
  throw invalid(served.kind, pod.metadata.name, [{ type: 'Forbidden', field: 'spec', detail: POD_MUTABLE }]);
}
