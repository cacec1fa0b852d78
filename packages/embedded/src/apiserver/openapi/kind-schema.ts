import type { JsonSchema } from '@polder/kube';
import { factsOf } from '../builtin/facts.ts';
import type { ServedKind } from '../served-kind.ts';
import { definitions, refTo } from './definitions.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

/** `io.k8s.api.core.v1.Pod`; a custom kind has its group's labels in front, last first: `io.dataflow.dataflow.v1.DataFlow`. */
export function definitionOf({ group, version, kind }: ServedKind): string {
  return factsOf({ group, version, kind })?.definition ?? [...group.split('.').toReversed(), version, kind].join('.');
}

/** The schemas of a kind and of its list, by name. */
export function schemasOf(kind: ServedKind): readonly (readonly [string, JsonSchema])[] {
  const name = definitionOf(kind);
  if (kind.origin === 'custom')
    return [
      [name, custom(kind)],
      [`${name}List`, listOf(kind, name)],
    ];
  return [name, `${name}List`].flatMap((known) => {
    const schema = definitions.get(known);
    return schema ? [[known, schema] as const] : [];
  });
}

/** A CRD's schema says nothing of the fields that all objects have; documents do. */
function custom(kind: ServedKind): JsonSchema {
  const schema = publish(kind.schema.node);
  return {
    ...schema,
    type: 'object',
    properties: { ...schema.properties, ...OBJECT },
    'x-kubernetes-group-version-kind': [{ group: kind.group, version: kind.version, kind: kind.kind }],
  };
}

function listOf(kind: ServedKind, name: string): JsonSchema {
  return {
    description: `${kind.listKind} is a list of ${kind.kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      ...COMMON,
      items: { description: `List of ${kind.plural}.`, type: 'array', items: refTo(name) },
      metadata: described('ListMeta', 'Standard list metadata.'),
    },
    'x-kubernetes-group-version-kind': [{ group: kind.group, version: kind.version, kind: kind.listKind }],
  };
}

const COMMON: Readonly<Record<string, JsonSchema>> = {
  apiVersion: { description: 'The group and version of this representation of the object.', type: 'string' },
  kind: { description: 'What the object is, in CamelCase.', type: 'string' },
};

const described = (type: string, description: string): JsonSchema => ({
  description,
  allOf: [refTo(`${META}.${type}`)],
});

const OBJECT: Readonly<Record<string, JsonSchema>> = {
  ...COMMON,
  metadata: described('ObjectMeta', "Standard object's metadata."),
};

/** OpenAPI readers know neither what is a number or a text nor objects within objects: both are spelled out for them. */
function publish(schema: JsonSchema): JsonSchema {
  const { items, additionalProperties, required = [] } = schema;
  const isObject = schema['x-kubernetes-embedded-resource'] === true;
  const properties = isObject ? { ...schema.properties, ...OBJECT } : schema.properties;
  return {
    ...schema,
    ...(schema['x-kubernetes-int-or-string'] && !schema.anyOf && { anyOf: [{ type: 'integer' }, { type: 'string' }] }),
    ...(isObject && { required: [...new Set([...required, 'kind', 'apiVersion'])] }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, publish(property)])),
    }),
    ...(items && { items: publish(items) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: publish(additionalProperties) }),
  };
}
