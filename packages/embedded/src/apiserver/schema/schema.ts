import type { JsonSchema } from '@polder/kube';

export type { JsonSchema };

/** Values as they come from the wire. A bigint is a whole number that is none of JavaScript's: see `exact-json.ts`. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * A schema with its references looked up: built-in kinds come from OpenAPI documents full of `$ref`, CRDs come whole.
 * Everything below (`merge/`, validation, pruning, defaulting) walks a value and a `Schema` together and sees no difference.
 * A built-in kind starts from its own reference: `new Schema({ $ref: '#/components/schemas/io.k8s.api.core.v1.Pod' }, …)`.
 */
export class Schema {
  readonly node: JsonSchema;
  readonly #definitions: ReadonlyMap<string, JsonSchema>;
  /** Below a `$ref` the document was generated from Go types, and two of its habits need undoing; see `flatten`, `default`. */
  readonly #generated: boolean;
  /** Every write walks the schema of its kind: parts are looked up once. */
  readonly #parts = new Map<JsonSchema, Schema>();

  constructor(node: JsonSchema, definitions: ReadonlyMap<string, JsonSchema> = new Map(), generated = false) {
    this.#definitions = definitions;
    this.#generated = generated || node.$ref !== undefined || node.allOf?.[0]?.$ref !== undefined;
    this.node = flatten(node, definitions);
  }

  /** The schema of a property: declared, or the one that all undeclared ones share; undefined when nothing is known. */
  property(name: string): Schema | undefined {
    const declared = this.node.properties && Object.hasOwn(this.node.properties, name) && this.node.properties[name];
    if (declared) return this.within(declared);
    const others = this.node.additionalProperties;
    return typeof others === 'object' ? this.within(others) : undefined;
  }

  /** The schema of a list's items. */
  get items(): Schema | undefined {
    return this.node.items && this.within(this.node.items);
  }

  /** The default to fill in. Generated documents give every field that Go always writes its zero value: no default. */
  get default(): unknown {
    const value = this.node.default;
    return this.#generated && isZero(value) ? undefined : value;
  }

  /** Another schema of the same document: an alternative, or a part, of this one. */
  within(node: JsonSchema): Schema {
    const known = this.#parts.get(node);
    if (known !== undefined) return known;
    const part = new Schema(node, this.#definitions, this.#generated);
    this.#parts.set(node, part);
    return part;
  }
}

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false || (isObject(value) && Object.keys(value).length === 0);
}

/** A text or a number by its definition, so that only its name tells what it has to be. CRDs have no such format. */
const QUANTITY = 'io.k8s.apimachinery.pkg.api.resource.Quantity';

/**
 * `{ allOf: [{ $ref }], description, default }` is how OpenAPI 3.0 says "that type, with my own description".
 * A generated definition without any structure (RawExtension, FieldsV1, JSON) is a place for anything.
 */
function flatten(node: JsonSchema, definitions: ReadonlyMap<string, JsonSchema>): JsonSchema {
  if (node.$ref !== undefined) {
    const name = node.$ref.slice(node.$ref.lastIndexOf('/') + 1);
    const definition = flatten(definitions.get(name) ?? {}, definitions);
    if (name === QUANTITY) return { ...definition, format: 'quantity' };
    const { type = 'object', properties, additionalProperties, oneOf } = definition;
    const isOpen = type === 'object' && (properties ?? additionalProperties ?? oneOf) === undefined;
    return isOpen ? { ...definition, 'x-kubernetes-preserve-unknown-fields': true } : definition;
  }
  const only = node.allOf?.length === 1 ? node.allOf[0] : undefined;
  if (only?.$ref === undefined) return node;
  const { allOf: _, ...own } = node;
  return { ...flatten(only, definitions), ...own };
}
