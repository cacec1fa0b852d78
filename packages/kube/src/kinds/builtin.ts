import { type CoreTypes, coreSchemas } from './core-schemas.gen.ts';
import type { JsonSchema } from './json-schema.ts';

/** The kinds that every cluster serves: `Pod` is a value (how to reach pods) and a type (what a pod looks like). */
export * from './builtin.gen.ts';
export type { CoreTypes };

/** A schema that carries the TypeScript type of what it describes (`of` is never there at run time). */
export interface CoreSchema<T> extends JsonSchema {
  readonly of?: T;
}

/**
 * A core type's schema for use inside a CRD, as the API server itself describes it: inlined, structural, without
 * descriptions. With typebox: `Type.Unsafe<Affinity>(coreSchema('Affinity'))`.
 */
export function coreSchema<Name extends keyof CoreTypes>(name: Name): CoreSchema<CoreTypes[Name]> {
  return coreSchemas[name];
}
