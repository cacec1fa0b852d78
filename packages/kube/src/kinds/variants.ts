import type { ValidationRule } from './json-schema.ts';
import { SchemaError, type StructuralSchema, type Variants } from './structural-schema.ts';

export const needed = (name: string, { discriminator }: Variants, tag: string) =>
  `${name} is required when ${discriminator} is ${tag}`;
export const misplaced = (name: string, { discriminator, owners }: Variants) =>
  `${name} is only for ${discriminator} ${(owners[name] ?? []).join(' or ')}`;

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
  for (const node of nodes) refuseOthers(node, path);
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
  for (const name of Object.keys(marks.owners)) {
    if (properties[name]?.default === undefined) continue;
    const message = 'the server would fill in this default for every type, and the rules would refuse it for some';
    throw new SchemaError(`${path}.${name}`, `${message}; drop the default or give the field to all`);
  }
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
  for (const node of nodes) refuseOthers(node, path);
  const required = [...new Set(nodes.flatMap((node) => node.required ?? []))];
  const rules = nodes.flatMap((node) => node['x-kubernetes-validations'] ?? []);
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: propertiesOf(nodes, path),
    ...(rules.length > 0 && { 'x-kubernetes-validations': rules }),
  };
}

const JOINED: readonly string[] = [
  'type',
  'properties',
  'required',
  'description',
  'title',
  'x-kubernetes-validations',
];

/** Anything else said of one object would be said of all of them, or be lost. */
function refuseOthers(node: StructuralSchema, path: string): void {
  const other = Object.keys(node).find((keyword) => !JOINED.includes(keyword));
  if (node.type !== 'object')
    throw new SchemaError(path, 'only objects can be joined; write one object with all fields');
  if (other !== undefined) throw new SchemaError(path, `${other} on a part of it; say it of the whole`);
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
