import {
  type Kind,
  type KubernetesObject,
  type NewObject,
  ownerReference,
  type Pod,
  type PodTemplateSpec,
} from '@polder/kube';

const LONGEST_PREFIX = 253 - 5;

/** A pod of the template that `owner` controls, with a name that the server makes. */
export function newPod<T extends KubernetesObject>(kind: Kind<T>, owner: T, template: PodTemplateSpec): NewObject<Pod> {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  const { name, namespace = '' } = owner.metadata;
  return {
    metadata: {
      namespace,
      generateName: `${name}-`.slice(0, LONGEST_PREFIX),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(finalizers && { finalizers }),
      ownerReferences: [ownerReference(kind, owner)],
    },
    spec: template.spec ?? { containers: [] },
  };
}
