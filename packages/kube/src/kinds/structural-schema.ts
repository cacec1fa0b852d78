import type { JsonSchema } from './json-schema.ts';

/** A structural schema with two marks that only we read; `crdOf` leaves them out. */
export interface StructuralSchema extends Omit<JsonSchema, 'properties' | 'items' | 'additionalProperties'> {
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly items?: StructuralSchema;
  readonly additionalProperties?: StructuralSchema | boolean;
  readonly 'x-polder-secret'?: boolean;
  readonly 'x-polder-variants'?: Variants;
}

/** Which fields hang on the discriminator, beside those that all variants have alike. */
export interface Variants {
  readonly discriminator: string;
  /** What each of its values asks for. */
  readonly needs: Readonly<Record<string, readonly string[]>>;
  /** The values for which a field may be there at all. */
  readonly owners: Readonly<Record<string, readonly string[]>>;
}

/** A schema that no CRD can say. Thrown where the kind is defined or its CRD made, never while serving. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';

  constructor(path: string, message: string) {
    super(`${path}: ${message}`);
  }
}
