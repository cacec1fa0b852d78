import type { Core } from './core.ts';
import { asWire } from './object-text.ts';
import { withFirstState, withIdentity } from './verbs/create.ts';
import { defaulted, tracked } from './verbs/finish.ts';

const NAMES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** The namespaces that every cluster has from its first moment. Nobody is asked: there are no webhooks yet. */
export function createDefaultNamespaces(core: Core): void {
  const served = core.kinds.find('', 'v1', 'namespaces');
  if (served === undefined) return;
  const call = {
    core,
    served,
    namespace: undefined,
    name: undefined,
    subresource: undefined,
    query: new URLSearchParams(),
    userAgent: '',
    signal: undefined,
    warnings: [],
  };
  for (const name of NAMES) {
    if (core.store.cache(served.resource).get(name) !== undefined) continue;
    const sent = asWire({ kind: served.kind.kind, apiVersion: served.apiVersion, metadata: { name } });
    const object = tracked(call, undefined, defaulted(served.kind, withIdentity(call, sent)), 'kube-apiserver');
    core.store.put(served.resource, name, undefined, withFirstState(call, object));
  }
}
