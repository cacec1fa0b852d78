export type { JsonSchema, ValidationRule } from './json-schema.ts';
export {
  apiVersionOf,
  type Kind,
  type KubernetesObject,
  keyOf,
  type ManagedFieldsEntry,
  type ObjectMeta,
  type ObjectRef,
  type OwnerReference,
  type Resource,
  type ResourceOf,
  refOf,
  resourceNameOf,
} from './object.ts';
