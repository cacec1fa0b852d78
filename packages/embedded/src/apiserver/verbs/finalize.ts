import { asWire, valueAt, withValueAt } from '../object-text.ts';
import type { Entry } from '../watch/index.ts';
import type { Call } from './call.ts';
import { dryRunEntry } from './create.ts';
import { type Body, decode } from './decode.ts';
import { writeOptions } from './options.ts';
import { liveEntry } from './update.ts';

/** Takes finalizers from a namespace. When the last one goes while it is being deleted, the namespace goes. */
export function finalizeNamespace(call: Call, body: Body): Entry {
  const { store } = call.core;
  const options = writeOptions(call, 'UpdateOptions');
  const wanted = decode(call, body, options);
  const before = liveEntry(call);
  const sent = valueAt(wanted, ['spec', 'finalizers']);
  const finalizers = Array.isArray(sent) && sent.length > 0 ? sent : undefined;
  const object = asWire(withValueAt(before.object, ['spec', 'finalizers'], finalizers));
  const { metadata } = object;
  const isLast = finalizers === undefined && (metadata.finalizers?.length ?? 0) === 0;
  if (options.isDryRun) return dryRunEntry(before.key, object);
  if (isLast && metadata.deletionTimestamp !== undefined) {
    return store.remove('namespaces', before, object) ?? before;
  }
  if (JSON.stringify(valueAt(before.object, ['spec', 'finalizers'])) === JSON.stringify(finalizers)) return before;
  return store.put('namespaces', before.key, before, object) ?? before;
}
