import { apiVersionOf, type Kind, type KubernetesObject, type OwnerReference } from '../kinds/index.ts';

/** What an object carries that `owner` controls: it goes when the owner goes. */
export function ownerReference<T extends KubernetesObject>(kind: Kind<T>, { metadata }: T): OwnerReference {
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name: metadata.name,
    uid: metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
}
