/**
 * The declarations as the schema of a CRD: "structural", with both shapes of every block. The server then refuses by itself
 * what a schema can say, in the same words, also where no webhook runs.
 *
 * Defaults stay out of it. The server would write them into every stored flow, and one filled into `config` would be there
 * whatever the type; they are in the descriptions instead.
 */
import { flow } from './flow.ts';
import { extrasOf } from './given.ts';
import { type Block, type Format, type Schema, schemaOf, secretRefOf } from './schema.ts';

/** A node of the schema, as JSON. */
export interface CrdSchema {
  readonly [keyword: string]: unknown;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, CrdSchema>>;
  readonly items?: CrdSchema;
}

/** The schema of `spec`. */
export const crdSchema = (): CrdSchema => node(schemaOf(flow));

interface Rule {
  readonly rule: string;
  readonly message: string;
  readonly reason: 'FieldValueRequired' | 'FieldValueForbidden' | 'FieldValueInvalid';
  readonly fieldPath: string;
}

function node(schema: Schema): CrdSchema {
  const { 'x-polder-block': block, properties, additionalProperties: values, items } = schema;
  return {
    ...describe(schema),
    ...(block ? blockNode(block) : { ...scalar(schema), ...(properties && objectNode(schema, properties)) }),
    ...(values && { additionalProperties: node(values) }),
    ...(items && { items: node(items) }),
  };
}

const KEPT = [
  'type',
  'nullable',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'minProperties',
  'minLength',
  'x-kubernetes-int-or-string',
  'x-kubernetes-preserve-unknown-fields',
] as const satisfies readonly (keyof Schema)[];

/** What a server can tell of our formats; the empty text passes, which means that a field is not given. */
const PATTERNS: Partial<Record<Format, string>> = {
  'date-time': '^([0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9:.]+([Zz]|[+-][0-9]{2}:[0-9]{2}))?$',
  duration: '^(([0-9]+[.]?[0-9]*|[.][0-9]+)(ns|us|µs|μs|ms|s|m|h))*$',
  'unsigned-integer': '^[0-9]*$',
};

function scalar(schema: Schema): CrdSchema {
  const pattern = schema.format && PATTERNS[schema.format];
  // A server compares `enum` letter by letter, null too.
  const isExact = !schema['x-polder-any-case'] && !schema.nullable;
  return {
    ...Object.fromEntries(
      KEPT.flatMap((keyword) => (schema[keyword] === undefined ? [] : [[keyword, schema[keyword]]])),
    ),
    ...(schema.enum && isExact && { enum: [...schema.enum, ''] }),
    ...(pattern !== undefined && { pattern }),
  };
}

function describe({ description, default: fallback }: Schema): CrdSchema {
  if (description === undefined) return {};
  const isWorthSaying = typeof fallback === 'string' || typeof fallback === 'number' || fallback === true;
  return { description: isWorthSaying ? `${description} Default: ${fallback}.` : description };
}

const SECRET_REF: CrdSchema = {
  type: 'object',
  description: 'The key of a Secret that has the value.',
  required: ['name', 'key'],
  properties: {
    name: { type: 'string', minLength: 1 },
    key: { type: 'string', minLength: 1 },
    namespace: { type: 'string' },
  },
};

function objectNode(schema: Schema, properties: Readonly<Record<string, Schema>>): CrdSchema {
  const needed = Object.entries(properties).filter(
    ([name, property]) => schema.required?.includes(name) && property.default === undefined,
  );
  const required = needed.filter(([name, property]) => secretRefOf(name, property) === undefined).map(([name]) => name);
  const rules = needed.flatMap(([name, property]): Rule[] => {
    const ref = secretRefOf(name, property);
    if (ref === undefined) return [];
    const reason = property.type === 'array' ? 'FieldValueInvalid' : 'FieldValueRequired';
    const rule = `has(${celOf(name)}) || has(${celOf(ref)})`;
    return [{ rule, message: `${name} or ${ref} is required`, reason, fieldPath: `.${name}` }];
  });
  return {
    type: 'object',
    properties: withRefs(properties),
    ...(required.length > 0 && { required }),
    ...(rules.length > 0 && { 'x-kubernetes-validations': rules }),
  };
}

function withRefs(properties: Readonly<Record<string, Schema>>): Record<string, CrdSchema> {
  const entries = Object.entries(properties).flatMap(([name, property]) => {
    const ref = secretRefOf(name, property);
    // An empty list beside a reference is none, and no reason to refuse.
    const { minItems: _, ...lenient } = property;
    return [
      [name, node(ref === undefined ? property : lenient)] as const,
      ...(ref === undefined ? [] : [[ref, SECRET_REF] as const]),
    ];
  });
  return Object.fromEntries(entries);
}

function blockNode(block: Block): CrdSchema {
  const { noun, variants } = block;
  const types = Object.keys(variants);
  const typed = Object.entries(variants).map(([type, variant]) => [type, node(schemaOf(variant))] as const);
  const rules = types.flatMap((type): Rule[] => {
    const isBare = schemaOf(variants[type] ?? {})['x-polder-bare'] === true;
    const fieldPath = `.${type}`;
    const needed: Rule = {
      rule: `self.type != '${type}' || has(${celOf(type)}) || has(self.config)`,
      message: `${type} ${noun} configuration is required`,
      reason: 'FieldValueRequired',
      fieldPath,
    };
    const single: Rule = {
      rule: `!has(${celOf(type)}) || (self.type == '${type}' && !has(self.config))`,
      message: `is for type ${type}, and not to be given beside config`,
      reason: 'FieldValueForbidden',
      fieldPath,
    };
    return isBare ? [single] : [needed, single];
  });
  return {
    type: 'object',
    required: ['type'],
    properties: {
      type: { type: 'string', enum: types, description: `The type of the ${noun}.` },
      ...Object.fromEntries(typed),
      config: {
        type: 'object',
        description: 'The fields of the type, as they would be under its name.',
        properties: merged(typed.map(([, config]) => config)),
      },
      ...withRefs(extrasOf(block)),
    },
    'x-kubernetes-validations': rules,
  };
}

/**
 * All fields that a `config` may have, whatever the type. A field that several types have keeps what they all say of it; one
 * that is a list here and a map there may be anything. What a type needs is left to validation, and what a field is for is
 * said under the name of the type: twice would make the CRD too large for `kubectl apply`.
 */
function merged(configs: readonly CrdSchema[]): Record<string, CrdSchema> {
  const all: Record<string, CrdSchema> = {};
  for (const { properties = {} } of configs) {
    for (const [name, property] of Object.entries(properties)) {
      const own = undescribed(property);
      const known = all[name];
      all[name] = known === undefined ? own : common(known, own);
    }
  }
  return all;
}

function undescribed(schema: CrdSchema): CrdSchema {
  const { description: _, properties, items, ...rest } = schema;
  const fields = Object.entries(properties ?? {}).map(([name, property]) => [name, undescribed(property)] as const);
  return {
    ...rest,
    ...(properties && { properties: Object.fromEntries(fields) }),
    ...(items && { items: undescribed(items) }),
  };
}

const CHILDREN = ['type', 'properties', 'items', 'additionalProperties'] as const;

function common(one: CrdSchema, other: CrdSchema): CrdSchema {
  const isShared = (keyword: string) => JSON.stringify(one[keyword]) === JSON.stringify(other[keyword]);
  if (!CHILDREN.every(isShared)) return { 'x-kubernetes-preserve-unknown-fields': true };
  return Object.fromEntries(Object.entries(one).filter(([keyword]) => isShared(keyword)));
}

const CEL_WORDS: readonly string[] = ['namespace'];

/** Words that CEL has for itself are written with underscores. */
const celOf = (name: string) => `self.${CEL_WORDS.includes(name) ? `__${name}__` : name}`;
