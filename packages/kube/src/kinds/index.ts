export * from './builtin.ts';
export { crdOf } from './crd.ts';
export { structuralProblems } from './crd-problems.ts';
export { type CustomKind, defineKind, type KindDefinition } from './custom-kind.ts';
export {
  anything,
  atomicList,
  core,
  intOrString,
  listMap,
  listSet,
  secret,
  withRules,
  withUnknownFields,
} from './fields.ts';
export type { JsonSchema, ValidationRule } from './json-schema.ts';
export { nearest } from './nearest.ts';
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
export { unboundedUnderRules } from './rule-bounds.ts';
export { ConditionSchema, statusOf } from './status-fields.ts';
export { SchemaError } from './structural-schema.ts';
export { describeProblem, type FieldProblem, validate } from './validate.ts';
