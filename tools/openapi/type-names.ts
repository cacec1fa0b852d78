import type { Api } from './api.ts';

/** What has a hand-written type in `kinds/`, or is one of JSON's own. The value is the TypeScript of it. */
export const WRITTEN_BY_HAND: Readonly<Record<string, string>> = {
  // Of what is made from a template; whole objects have theirs from KubernetesObject.
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta': 'Partial<ObjectMeta>',
  'io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference': 'OwnerReference',
  'io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry': 'ManagedFieldsEntry',
  'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1': 'Readonly<Record<string, unknown>>',
  'io.k8s.apimachinery.pkg.apis.meta.v1.Time': 'string',
  'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime': 'string',
  'io.k8s.apimachinery.pkg.runtime.RawExtension': 'Readonly<Record<string, unknown>>',
  'io.k8s.apimachinery.pkg.api.resource.Quantity': 'Quantity',
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': 'IntOrString',
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON': 'unknown',
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps': 'JsonSchema',
};

/** Each definition's TypeScript name: Kubernetes' own; the group in front where an earlier group has taken it. */
export function typeNames(api: Api): ReadonlyMap<string, string> {
  const groups = [...new Set(api.kinds.map(({ definition }) => packageOf(definition)))];
  const rank = (name: string) => {
    const index = groups.indexOf(packageOf(name));
    return index < 0 ? groups.length : index;
  };
  const byRank = [...api.definitions.keys()].toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const taken = new Set<string>(['KubernetesObject', 'Kind']);
  const names = new Map<string, string>();
  for (const definition of byRank) {
    const name = WRITTEN_BY_HAND[definition] ?? freeName(definition, taken);
    taken.add(name);
    names.set(definition, name);
  }
  return names;
}

function freeName(definition: string, taken: ReadonlySet<string>): string {
  const parts = definition.split('.');
  const plain = parts.at(-1) ?? '';
  if (!taken.has(plain)) return plain;
  const name = [...parts.slice(-3, -1).map((part) => part.charAt(0).toUpperCase() + part.slice(1)), plain].join('');
  if (taken.has(name)) throw new Error(`${definition}: both ${plain} and ${name} are taken`);
  return name;
}

/** `io.k8s.api.core.v1` of `io.k8s.api.core.v1.Pod`. */
export const packageOf = (definition: string) => definition.slice(0, definition.lastIndexOf('.'));
