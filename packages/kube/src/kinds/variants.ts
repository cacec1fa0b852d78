import type { JsonSchema, ValidationRule } from './json-schema.ts';

/** Two marks that only we read; `crdOf` leaves them out. */
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

export const needed = (name: string, { discriminator }: Variants, tag: string) =>
  `${name} is required when ${discriminator} is ${tag}`;
export const misplaced = (name: string, { discriminator, owners }: Variants) =>
  `${name} is only for ${discriminator} ${(owners[name] ?? []).join(' or ')}`;

/** A schema that no CRD can say. Thrown where the kind is defined or its CRD made, never while serving. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';

  constructor(path: string, message: string) {
    super(`${path}: ${message}`);
  }
}

interface Variant {
  readonly tag: string;
  readonly properties: Readonly<Record<string, StructuralSchema>>;
  readonly required: readonly string[];
  readonly rules: readonly ValidationRule[];
}

/**
 * One object out of the variants of a discriminated union: all fields, those not shared by all optional, and rules that tie
 * them to the discriminator. The rules are CEL and not `oneOf`, because of what the user reads: "topic is required when type
 * is kafka" instead of "must validate one and only one schema".
 */
export function mergeVariants(nodes: readonly StructuralSchema[], path: string): StructuralSchema {
  const discriminator = discriminatorOf(nodes);
  if (discriminator === undefined) {
    const advice =
      'give each a required field of the same name with its own Type.Literal (type: kafka, type: postgres)';
    throw new SchemaError(path, `cannot tell the objects of this union apart; ${advice}`);
  }
  const variants = nodes.map((node): Variant => {
    const { properties = {}, required = [], 'x-kubernetes-validations': rules = [] } = node;
    return { tag: tagOf(node, discriminator) ?? '', properties, required, rules };
  });
  const properties = propertiesOf(nodes, path, discriminator);
  const names = Object.keys(properties);
  const shared = names.filter((name) => variants.every((variant) => variant.required.includes(name)));
  const marks: Variants = {
    discriminator,
    needs: Object.fromEntries(
      variants.map(({ tag, required }) => [tag, required.filter((name) => !shared.includes(name))]),
    ),
    owners: Object.fromEntries(
      names
        .map((name) => [name, variants.filter((variant) => Object.hasOwn(variant.properties, name))] as const)
        .filter(([, owners]) => owners.length < variants.length)
        .map(([name, owners]) => [name, owners.map(({ tag }) => tag)]),
    ),
  };
  const rules = rulesOf(marks, variants);
  const tags = variants.map((variant) => variant.tag);
  return {
    type: 'object',
    required: shared,
    properties: { ...properties, [discriminator]: { type: 'string', ...properties[discriminator], enum: tags } },
    ...(rules.length > 0 && { 'x-kubernetes-validations': rules }),
    'x-polder-variants': marks,
  };
}

/** One object with the fields of all (an intersection). */
export function mergeAll(nodes: readonly StructuralSchema[], path: string): StructuralSchema {
  if (nodes.some((node) => node.type !== 'object' || node.properties === undefined || node['x-polder-variants'])) {
    throw new SchemaError(path, 'only plain objects can be joined; write the fields of both into one object');
  }
  const required = [...new Set(nodes.flatMap((node) => node.required ?? []))];
  const rules = nodes.flatMap((node) => node['x-kubernetes-validations'] ?? []);
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: propertiesOf(nodes, path),
    ...(rules.length > 0 && { 'x-kubernetes-validations': rules }),
  };
}

function propertiesOf(
  nodes: readonly StructuralSchema[],
  path: string,
  discriminator?: string,
): Record<string, StructuralSchema> {
  const merged: Record<string, StructuralSchema> = {};
  for (const [name, property] of nodes.flatMap((node) => Object.entries(node.properties ?? {}))) {
    const known = merged[name];
    if (known !== undefined && name !== discriminator && JSON.stringify(known) !== JSON.stringify(property)) {
      const advice = 'a CRD has one schema per field; use the same one in all, or give the fields different names';
      throw new SchemaError(`${path}.${name}`, `differs between the objects of this union; ${advice}`);
    }
    merged[name] ??= property;
  }
  return merged;
}

function discriminatorOf(nodes: readonly StructuralSchema[]): string | undefined {
  return Object.keys(nodes[0]?.properties ?? {}).find((name) => {
    const tags = new Set(nodes.map((node) => tagOf(node, name)));
    return !tags.has(undefined) && tags.size === nodes.length;
  });
}

/** The one text that a required field may have. */
function tagOf(node: StructuralSchema, name: string): string | undefined {
  const values = node.required?.includes(name) ? (node.properties?.[name]?.enum ?? []) : [];
  const [only] = values;
  return values.length === 1 && typeof only === 'string' ? only : undefined;
}

function rulesOf(marks: Variants, variants: readonly Variant[]): readonly ValidationRule[] {
  const tag = `self.${celName(marks.discriminator)}`;
  const required = Object.entries(marks.needs).flatMap(([value, fields]) =>
    fields.map(
      (name): ValidationRule => ({
        rule: `${tag} != ${JSON.stringify(value)} || has(self.${celName(name)})`,
        message: needed(name, marks, value),
        reason: 'FieldValueRequired',
        fieldPath: fieldPath(name),
      }),
    ),
  );
  const forbidden = Object.entries(marks.owners).map(
    ([name, values]): ValidationRule => ({
      rule: `!has(self.${celName(name)}) || ${tag} in ${JSON.stringify(values)}`,
      message: misplaced(name, marks),
      reason: 'FieldValueForbidden',
      fieldPath: fieldPath(name),
    }),
  );
  const own = variants.flatMap(({ tag: value, rules }) =>
    rules.map((rule) => ({ ...rule, rule: `${tag} != ${JSON.stringify(value)} || (${rule.rule})` })),
  );
  return [...required, ...forbidden, ...own];
}

const fieldPath = (name: string) => (/^\w+$/.test(name) ? `.${name}` : `['${name}']`);

const CEL_WORDS = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/** How a CEL rule spells a field: the characters and words that CEL has for itself are written out. */
export function celName(name: string): string {
  if (CEL_WORDS.has(name)) return `__${name}__`;
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
}
