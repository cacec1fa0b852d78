import { apiVersionOf } from '@polder/kube';
import { type JsonSchema, Schema } from '../schema/schema.ts';
import type { ServedKind, WireObject } from '../served-kind.ts';
import { renaming, resourceOf, type ServedResource } from '../served-kinds.ts';

/** A CustomResourceDefinition, as far as the server acts on it. It was validated when it was stored. */
export interface Definition extends WireObject {
  readonly spec: DefinitionSpec;
}

export interface DefinitionSpec {
  readonly group: string;
  readonly scope: 'Namespaced' | 'Cluster';
  readonly names: DefinitionNames;
  readonly versions: readonly DefinitionVersion[];
}

export interface DefinitionNames {
  readonly plural: string;
  readonly singular?: string;
  readonly kind: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

export interface DefinitionVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema?: { readonly openAPIV3Schema?: JsonSchema };
  readonly subresources?: {
    readonly status?: object;
    readonly scale?: {
      readonly specReplicasPath: string;
      readonly statusReplicasPath: string;
      readonly labelSelectorPath?: string;
    };
  };
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
}

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

/** The kinds that a definition brings, one for each served version. */
export function servedBy({ spec }: Definition): readonly ServedResource[] {
  const stored = spec.versions.find(({ storage }) => storage) ?? spec.versions[0];
  const storageVersion = apiVersionOf({ group: spec.group, version: stored?.name ?? '' });
  return spec.versions
    .filter(({ served }) => served)
    .map((version) => {
      const kind = kindOf(spec, version);
      return {
        kind,
        resource: resourceOf(kind),
        apiVersion: apiVersionOf(kind),
        selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, '')),
        conversion: renaming(storageVersion),
        ...(version.deprecated === true && {
          deprecation: version.deprecationWarning ?? `${apiVersionOf(kind)} ${kind.kind} is deprecated`,
        }),
      };
    });
}

function kindOf({ group, names, scope }: DefinitionSpec, version: DefinitionVersion): ServedKind {
  return {
    group,
    version: version.name,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: scope === 'Namespaced',
    verbs: VERBS,
    schema: new Schema(version.schema?.openAPIV3Schema ?? { 'x-kubernetes-preserve-unknown-fields': true }),
    subresources: {
      status: version.subresources?.status !== undefined,
      ...(version.subresources?.scale && { scale: version.subresources.scale }),
    },
    columns: [],
    origin: 'custom',
  };
}
