import type { JsonSchema } from '@polder/kube';

export type { JsonSchema };

/** Values as they come from the wire. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * A schema with its references looked up: built-in kinds come from OpenAPI documents full of `$ref`, CRDs come whole.
 * Everything below (`merge/`, validation, pruning, defaulting) walks a value and a `Schema` together and sees no difference.
 */
export class Schema {
  readonly node: JsonSchema;
  readonly #definitions: ReadonlyMap<string, JsonSchema>;

  constructor(node: JsonSchema, definitions: ReadonlyMap<string, JsonSchema> = new Map()) {
    this.#definitions = definitions;
    this.node = flatten(node, definitions);
  }

  /** The schema of a property: declared, or the one that all undeclared ones share; undefined when nothing is known. */
  property(name: string): Schema | undefined {
    const declared = this.node.properties && Object.hasOwn(this.node.properties, name) && this.node.properties[name];
    if (declared) return new Schema(declared, this.#definitions);
    const others = this.node.additionalProperties;
    return typeof others === 'object' ? new Schema(others, this.#definitions) : undefined;
  }

  /** The schema of a list's items. */
  get items(): Schema | undefined {
    return this.node.items && new Schema(this.node.items, this.#definitions);
  }
}

/** `{ allOf: [{ $ref }], description, default }` is how OpenAPI 3.0 says "that type, with my own description". */
function flatten(node: JsonSchema, definitions: ReadonlyMap<string, JsonSchema>): JsonSchema {
  if (node.$ref !== undefined) {
    const name = node.$ref.slice(node.$ref.lastIndexOf('/') + 1);
    return flatten(definitions.get(name) ?? { 'x-kubernetes-preserve-unknown-fields': true }, definitions);
  }
  const only = node.allOf?.length === 1 ? node.allOf[0] : undefined;
  if (only?.$ref === undefined) return node;
  const { allOf: _, ...own } = node;
  return { ...flatten(only, definitions), ...own };
}
