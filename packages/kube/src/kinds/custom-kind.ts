import type { Static, TSchema } from 'typebox';
import type { CustomResourceColumnDefinition, CustomResourceSubresourceScale } from './core.gen.ts';
import type { ValidationRule } from './json-schema.ts';
import type { Kind, Resource } from './object.ts';

/** What a kind says of itself. The TypeScript type, the CRD and the validator all come from `spec` and `status`. */
export interface KindDefinition<S extends TSchema, T extends TSchema> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  /** The lower-case kind if not given, as kubectl takes it: `kubectl get pipeline`. */
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  /** Groups for `kubectl get <category>`, `all` for instance. */
  readonly categories?: readonly string[];
  /** True if not given. */
  readonly namespaced?: boolean;
  readonly description?: string;
  readonly spec: S;
  readonly status: T;
  /** Columns of `kubectl get` between the name and the age, which is always the last. */
  readonly columns?: readonly CustomResourceColumnDefinition[];
  /** JSON paths, `.spec.replicas` for instance; with it `kubectl scale` and autoscalers work. */
  readonly scale?: CustomResourceSubresourceScale;
  /** JSON paths that field selectors may use, `.spec.color` for instance. */
  readonly selectableFields?: readonly string[];
  /** CEL rules over the whole object: they see `self.spec`, `self.status` and `self.metadata.name`. */
  readonly rules?: readonly ValidationRule[];
}

/** A kind of our own. Everything that works with a `Kind` works with it; `crdOf` and `validate` want this one. */
export interface CustomKind<Spec = unknown, Status = unknown>
  extends Kind<Resource<Spec, Status>>,
    Omit<KindDefinition<TSchema, TSchema>, 'namespaced' | 'singular'> {
  readonly singular: string;
}

/**
 * Defines a kind once. The value registers it, the type of the same name writes it:
 *
 *     export const Pipeline = defineKind({ group: 'data.example.com', version: 'v1', kind: 'Pipeline', … });
 *     export type Pipeline = ResourceOf<typeof Pipeline>;
 */
export function defineKind<S extends TSchema, T extends TSchema>(
  definition: KindDefinition<S, T>,
): CustomKind<Static<S>, Static<T>> {
  return { namespaced: true, singular: definition.kind.toLowerCase(), ...definition };
}
