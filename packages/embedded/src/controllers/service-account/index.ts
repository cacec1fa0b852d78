import { ConfigMap, controller, Namespace, type ObjectRef, ServiceAccount, type World, watch } from '@polder/kube';
import { type NamespaceDefaults, planDefaults, ROOT_CA, SERVICE_ACCOUNT } from './plan.ts';

/** Gives every namespace what everything in it may count on; whoever deletes it gets it back. */
export const namespaceDefaults = (defaults: NamespaceDefaults) =>
  controller({
    kind: Namespace,
    watches: [watch(ServiceAccount, namespaceOf), watch(ConfigMap, namespaceOf)],
    observe: async (_namespace: Namespace, _world: World) => defaults,
    plan: planDefaults,
    steps: {},
    status: 'as-planned',
  });

function namespaceOf({ metadata: { name, namespace = '' } }: ServiceAccount | ConfigMap): readonly ObjectRef[] {
  return name === SERVICE_ACCOUNT || name === ROOT_CA ? [{ name: namespace }] : [];
}
