import type { ConfigMap, Role, RoleBinding, ServiceAccount } from '@polder/kube';
import type { DataFlow } from '../kinds/index.ts';
import { identityOf, namesOf, namespaceOf } from './identity.ts';

/**
 * Where a processor remembers how far it has read. Without `data`: that is the processor's, and what is not in an apply is
 * left as it is.
 */
export function checkpointConfigMap(flow: DataFlow): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: identityOf(flow, namesOf(flow).checkpoint) };
}

export function processorAccount(flow: DataFlow): ServiceAccount {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: identityOf(flow, namesOf(flow).access) };
}

/** A processor may read and write its own checkpoint, and nothing else. */
export function checkpointRole(flow: DataFlow): Role {
  const { access, checkpoint } = namesOf(flow);
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: identityOf(flow, access),
    rules: [
      { apiGroups: [''], resources: ['configmaps'], resourceNames: [checkpoint], verbs: ['get', 'patch', 'update'] },
    ],
  };
}

export function checkpointRoleBinding(flow: DataFlow): RoleBinding {
  const { access } = namesOf(flow);
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: identityOf(flow, access),
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: access },
    subjects: [{ kind: 'ServiceAccount', name: access, namespace: namespaceOf(flow) }],
  };
}
