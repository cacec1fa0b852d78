import type { ServedKind } from '../served-kind.ts';
import { type Group, groupsOf, groupVersionOf } from './groups.ts';
import { subresourcesOf } from './subresources.ts';

export type Document = Readonly<Record<string, unknown>>;

/** `/api`. */
export function coreVersions(kinds: readonly ServedKind[], serverAddress: string): Document {
  const core = groupsOf(kinds).find(({ name }) => name === '');
  return {
    kind: 'APIVersions',
    versions: core?.versions.map(({ version }) => version) ?? [],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** `/apis`. */
export function groupList(kinds: readonly ServedKind[]): Document {
  const named = groupsOf(kinds).filter(({ name }) => name !== '');
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: named.map(groupEntry) };
}

/** `/apis/<group>`; undefined for a group that is not served. */
export function group(kinds: readonly ServedKind[], name: string): Document | undefined {
  const found = groupsOf(kinds).find((candidate) => candidate.name === name && name !== '');
  return found && { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(found) };
}

function groupEntry({ name, versions }: Group) {
  const entries = versions.map(({ version }) => ({ groupVersion: groupVersionOf(name, version), version }));
  return { name, versions: entries, preferredVersion: entries[0] };
}

/** `/api/v1` and `/apis/<group>/<version>`; undefined for a version that is not served. */
export function resourceList(kinds: readonly ServedKind[], group: string, version: string): Document | undefined {
  const found = groupsOf(kinds).find(({ name }) => name === group);
  const served = found?.versions.find((candidate) => candidate.version === version);
  if (!served) return undefined;
  return {
    kind: 'APIResourceList',
    // The real server leaves the version out of the core group's list alone.
    ...(group !== '' && { apiVersion: 'v1' }),
    groupVersion: groupVersionOf(group, version),
    resources: served.kinds.flatMap((kind) => [
      {
        name: kind.plural,
        singularName: kind.singular,
        namespaced: kind.namespaced,
        kind: kind.kind,
        verbs: kind.verbs,
        ...(kind.shortNames.length > 0 && { shortNames: kind.shortNames }),
        ...(kind.categories.length > 0 && { categories: kind.categories }),
      },
      ...subresourcesOf(kind).map((subresource) => ({
        name: `${kind.plural}/${subresource.name}`,
        singularName: '',
        namespaced: kind.namespaced,
        // Named only where it is another group's: `deployments/scale` is answered by autoscaling/v1.
        ...((subresource.group !== group || subresource.version !== version) && {
          group: subresource.group,
          version: subresource.version,
        }),
        kind: subresource.kind,
        verbs: subresource.verbs,
      })),
    ]),
  };
}
