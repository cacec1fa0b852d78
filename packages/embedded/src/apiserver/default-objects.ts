import type { Core } from './core.ts';
import { asWire } from './object-text.ts';
import { withFirstState, withIdentity } from './verbs/create.ts';
import { defaulted, tracked } from './verbs/finish.ts';

const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'].map((name) => ({ name }));

const PRIORITY_CLASSES = [
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
];

/** What every cluster has from its first moment. Nobody is asked: there are no webhooks yet. */
export function createDefaultObjects(core: Core): void {
  for (const object of NAMESPACES) create(core, ['', 'v1', 'namespaces'], object);
  for (const object of PRIORITY_CLASSES) create(core, ['scheduling.k8s.io', 'v1', 'priorityclasses'], object);
}

type Path = readonly [group: string, version: string, plural: string];

function create(core: Core, path: Path, { name, ...fields }: { readonly name: string }): void {
  const served = core.kinds.find(...path);
  if (served === undefined || core.store.cache(served.resource).get(name) !== undefined) return;
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
  const sent = asWire({ kind: served.kind.kind, apiVersion: served.apiVersion, metadata: { name }, ...fields });
  const object = tracked(call, undefined, defaulted(served.kind, withIdentity(call, sent)), 'kube-apiserver');
  core.store.put(served.resource, name, undefined, withFirstState(call, object));
}
