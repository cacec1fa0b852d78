import { crdSchema } from '@polder/engine/spec';

type Schema = ReturnType<typeof crdSchema>;

/** What the declarations say of a field, in the words that a page uses in its column `default`. */
export type Declared = ReadonlyMap<string, string>;

/** The types that a block of a flow may have, each with its schema. */
export function variantsOf(block: 'source' | 'sink' | 'transformations'): ReadonlyMap<string, Schema> {
  const { [block]: field = {} } = crdSchema().properties ?? {};
  const { type, ...others } = (field.items ?? field).properties ?? {};
  const types: unknown = type?.['enum'];
  if (!Array.isArray(types)) throw new Error(`${block} is no block`);
  return new Map(types.map((one) => [String(one), others[String(one)] ?? {}]));
}

/** The fields of an object, those of the objects in a list of it included: `routes`, `routes[].condition`. */
export function fieldsOf(schema: Schema): Declared {
  const { properties = {} } = schema;
  return new Map(
    Object.entries(properties).flatMap(([name, property]) => [
      [name, defaultOf(schema, name, property)] as const,
      ...(property.items?.properties ? prefixed(`${name}[]`, fieldsOf(property.items)) : []),
    ]),
  );
}

/** The objects in an object: `tls` of a source, `basicAuth` of its registry. Not those that only name a Secret. */
export function objectsIn({ properties = {} }: Schema): readonly (readonly [string, Schema])[] {
  return Object.entries(properties).flatMap(([name, property]) =>
    property.properties === undefined || name.endsWith('SecretRef')
      ? []
      : [[name, property] as const, ...objectsIn(property)],
  );
}

const prefixed = (prefix: string, fields: Declared) =>
  [...fields].map(([name, value]) => [`${prefix}.${name}`, value] as const);

/** The CRD has defaults in its descriptions: the server is not to fill them in. */
function defaultOf(schema: Schema, name: string, property: Schema): string {
  const { required, 'x-kubernetes-validations': rules } = schema;
  const needs = JSON.stringify([rules ?? []]);
  if (Array.isArray(required) && required.includes(name)) return 'required';
  if (needs.includes(`"${name} or `)) return 'required';
  const [, value] = /Default: (.*)\.$/.exec(String(property['description'])) ?? [];
  if (value !== undefined) return `\`${value}\``;
  return property.type === 'boolean' ? '`false`' : '';
}
