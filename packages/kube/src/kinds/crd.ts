import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from './core.gen.ts';
import type { CustomKind } from './custom-kind.ts';
import type { JsonSchema } from './json-schema.ts';
import { resourceNameOf } from './object.ts';
import { structuralOf } from './structural.ts';
import { SchemaError, type StructuralSchema } from './structural-schema.ts';

/**
 * The CustomResourceDefinition of a kind. Of several versions of one kind the first is the one that is stored; the others are
 * served by renaming alone, so a field that only one version has is lost on the way through another.
 */
export function crdOf(...versions: readonly [CustomKind, ...CustomKind[]]): CustomResourceDefinition {
  const [stored] = versions;
  const name = resourceNameOf(stored);
  for (const kind of versions) {
    for (const field of ['group', 'kind', 'plural', 'singular', 'namespaced'] as const) {
      if (kind[field] === stored[field]) continue;
      const message = `${field} is ${kind[field]} in ${kind.version} and ${stored[field]} in ${stored.version}`;
      throw new SchemaError(name, `${message}; all versions of a kind share it`);
    }
  }
  const { shortNames, categories } = stored;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: {
      group: stored.group,
      names: {
        kind: stored.kind,
        listKind: `${stored.kind}List`,
        plural: stored.plural,
        singular: stored.singular,
        ...(shortNames && { shortNames }),
        ...(categories && { categories }),
      },
      scope: stored.namespaced ? 'Namespaced' : 'Cluster',
      versions: versions.map((kind) => versionOf(kind, kind === stored)),
    },
  };
}

const AGE = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' } as const;

function versionOf(kind: CustomKind, isStored: boolean): CustomResourceDefinitionVersion {
  const { columns, scale, selectableFields } = kind;
  return {
    name: kind.version,
    served: true,
    storage: isStored,
    schema: { openAPIV3Schema: withoutMarks(rootSchemaOf(kind)) },
    subresources: { status: {}, ...(scale && { scale }) },
    // A list of columns replaces the server's own, which is the age alone.
    ...(columns && { additionalPrinterColumns: [...columns, AGE] }),
    ...(selectableFields && { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) }),
  };
}

/** The schema of a whole object, with our own marks. Of `metadata` a CRD may only say that it is there. */
export function rootSchemaOf(kind: CustomKind): StructuralSchema {
  return {
    type: 'object',
    ...(kind.description !== undefined && { description: kind.description }),
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: structuralOf(kind.spec, 'spec'),
      status: structuralOf(kind.status, 'status'),
    },
    ...(kind.rules && { 'x-kubernetes-validations': kind.rules }),
  };
}

/** The API server refuses keywords that it does not know when asked to be strict, and drops them otherwise. */
function withoutMarks(node: StructuralSchema): JsonSchema {
  const {
    'x-polder-secret': _secret,
    'x-polder-variants': _variants,
    properties,
    items,
    additionalProperties,
    ...rest
  } = node;
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, withoutMarks(child)])),
    }),
    ...(items && { items: withoutMarks(items) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'boolean' ? additionalProperties : withoutMarks(additionalProperties),
    }),
  };
}
