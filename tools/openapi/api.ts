import type { JsonSchema } from '@polder/kube';
import type { ApiServer } from './api-server.ts';
import { SERVED_SUBRESOURCES, type ServedGroup } from './served.ts';

/** A built-in kind as discovery and OpenAPI describe it. */
export interface ApiKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly subresources: readonly ApiSubresource[];
  /** Its schema's key in `Api.definitions`. */
  readonly definition: string;
}

export interface ApiSubresource {
  readonly name: string;
  readonly verbs: readonly string[];
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface Api {
  /** `v1.36.3`. */
  readonly version: string;
  readonly kinds: readonly ApiKind[];
  /** All that the kinds, their lists and the bodies of their subresources refer to, sorted by name. */
  readonly definitions: ReadonlyMap<string, JsonSchema>;
}

/** The served part of a real server's API. */
export async function readApi(server: ApiServer, served: readonly ServedGroup[]): Promise<Api> {
  const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const groups: DiscoveredGroup[] = [];
  for (const path of ['/api', '/apis']) {
    const list: { readonly items: readonly DiscoveredGroup[] } = JSON.parse(await server.read(path, aggregated));
    groups.push(...list.items);
  }
  const { gitVersion }: { readonly gitVersion: string } = JSON.parse(await server.read('/version'));
  const all = new Map<string, JsonSchema>();
  for (const { group, version } of served) {
    const path = group === '' ? `api/${version}` : `apis/${group}/${version}`;
    const document: OpenApiDocument = JSON.parse(await server.read(`/openapi/v3/${path}`));
    for (const [name, schema] of Object.entries(document.components.schemas)) all.set(name, schema);
  }
  const kinds = served.flatMap((group) => kindsOf(group, groups, all));
  const roots = kinds.flatMap((kind) => [
    kind.definition,
    ...(kind.verbs.includes('list') ? [`${kind.definition}List`] : []),
    ...kind.subresources.flatMap((subresource) => definitionOf(subresource, all) ?? []),
  ]);
  const isServed = (gvk: Gvk) =>
    served.some(({ group, version }) => group === gvk.group && (version === gvk.version || group === 'autoscaling'));
  const definitions = closure([...roots, DELETE_OPTIONS, PATCH, STATUS], all);
  return {
    version: gitVersion,
    kinds,
    definitions: new Map([...definitions].map(([name, schema]) => [name, trim(schema, isServed)])),
  };
}

const DELETE_OPTIONS = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';
const PATCH = 'io.k8s.apimachinery.pkg.apis.meta.v1.Patch';
const STATUS = 'io.k8s.apimachinery.pkg.apis.meta.v1.Status';

interface OpenApiDocument {
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

interface Gvk {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

interface DiscoveredGroup {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly {
    readonly version: string;
    readonly resources: readonly {
      readonly resource: string;
      readonly responseKind: Gvk;
      readonly scope: 'Namespaced' | 'Cluster';
      readonly singularResource: string;
      readonly verbs: readonly string[];
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
      readonly subresources?: readonly { subresource: string; responseKind?: Gvk; verbs: readonly string[] }[];
    }[];
  }[];
}

function kindsOf(
  { group, version, resources }: ServedGroup,
  groups: readonly DiscoveredGroup[],
  definitions: ReadonlyMap<string, JsonSchema>,
): ApiKind[] {
  const found = groups.find(({ metadata }) => (metadata.name ?? '') === group);
  const versioned = found?.versions.find((candidate) => candidate.version === version);
  return resources.map((plural) => {
    const resource = versioned?.resources.find((candidate) => candidate.resource === plural);
    if (!resource) throw new Error(`the server has no ${plural} in ${group}/${version}`);
    const { kind } = resource.responseKind;
    const definition = definitionOf({ group, version, kind }, definitions);
    if (definition === undefined) throw new Error(`the OpenAPI of ${group}/${version} does not describe ${kind}`);
    return {
      group,
      version,
      kind,
      plural,
      singular: resource.singularResource,
      shortNames: resource.shortNames ?? [],
      categories: resource.categories ?? [],
      namespaced: resource.scope === 'Namespaced',
      verbs: resource.verbs,
      subresources: served(resource.subresources ?? []).map(({ subresource, responseKind, verbs }) => ({
        name: subresource,
        verbs,
        // Discovery leaves group and version empty where they are the resource's own.
        group: responseKind?.version ? responseKind.group : group,
        version: responseKind?.version || version,
        kind: responseKind?.kind ?? kind,
      })),
      definition,
    };
  });
}

const served = <T extends { subresource: string }>(subresources: readonly T[]) =>
  subresources.filter(({ subresource }) => SERVED_SUBRESOURCES.includes(subresource));

function definitionOf(gvk: Gvk, definitions: ReadonlyMap<string, JsonSchema>): string | undefined {
  for (const [name, schema] of definitions) {
    const [only, ...others] = schema['x-kubernetes-group-version-kind'] ?? [];
    if (others.length > 0 || only?.kind !== gvk.kind) continue;
    if (only.group === gvk.group && only.version === gvk.version) return name;
  }
  return undefined;
}

export const nameOfRef = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1);

/** The named definitions and all they refer to, sorted by name. */
export function closure(roots: readonly string[], all: ReadonlyMap<string, JsonSchema>): Map<string, JsonSchema> {
  const seen = new Map<string, JsonSchema>();
  const visit = (name: string) => {
    if (seen.has(name)) return;
    const schema = all.get(name);
    if (!schema) throw new Error(`the server's OpenAPI refers to ${name} but does not describe it`);
    seen.set(name, schema);
    for (const [, ref = ''] of JSON.stringify(schema).matchAll(/"\$ref":"([^"]+)"/g)) visit(nameOfRef(ref));
  };
  roots.forEach(visit);
  return new Map([...seen].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** DeleteOptions and Status name every group and version of the server, preview ones too. */
function trim(schema: JsonSchema, isServed: (gvk: Gvk) => boolean): JsonSchema {
  const gvks = schema['x-kubernetes-group-version-kind'];
  if (!gvks || gvks.length < 2) return schema;
  return { ...schema, 'x-kubernetes-group-version-kind': gvks.filter(isServed) };
}
