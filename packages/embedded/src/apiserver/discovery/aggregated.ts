import { createHash } from 'node:crypto';
import type { GroupVersionKind } from '../builtin/facts.ts';
import type { ServedKind } from '../served-kind.ts';
import type { Document } from './documents.ts';
import { groupsOf } from './groups.ts';
import { subresourcesOf } from './subresources.ts';

/** The media type of the answer; a client that wants it names these parameters, in any order. */
export const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Whether an `Accept` header asks for the aggregated form before the plain one. */
export function acceptsAggregated(accept: string | undefined): boolean {
  for (const range of (accept ?? '').split(',')) {
    const [type, ...parameters] = range.split(';').map((part) => part.trim());
    if (type !== 'application/json') continue;
    if (!parameters.some((parameter) => parameter.startsWith('as='))) return false;
    if (['g=apidiscovery.k8s.io', 'v=v2', 'as=APIGroupDiscoveryList'].every((wanted) => parameters.includes(wanted))) {
      return true;
    }
  }
  return false;
}

/** `/api` (the core group) or `/apis` (all others) in one document: what kubectl asks for since 1.27. */
export function aggregated(kinds: readonly ServedKind[], root: '/api' | '/apis'): Document {
  const groups = groupsOf(kinds).filter(({ name }) => (name === '') === (root === '/api'));
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === '' ? {} : { name },
      versions: versions.map(({ version, kinds }) => ({
        version,
        resources: kinds.map(resource),
        freshness: 'Current',
      })),
    })),
  };
}

/** Changes exactly when the document does: clients send it back as `If-None-Match` and get 304. */
export function etagOf(document: Document): string {
  return `"${createHash('sha512').update(JSON.stringify(document)).digest('hex').toUpperCase()}"`;
}

function resource(kind: ServedKind) {
  const subresources = subresourcesOf(kind);
  return {
    resource: kind.plural,
    responseKind: responseKind(kind, kind),
    scope: kind.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs: kind.verbs,
    ...(kind.shortNames.length > 0 && { shortNames: kind.shortNames }),
    ...(kind.categories.length > 0 && { categories: kind.categories }),
    ...(subresources.length > 0 && {
      subresources: subresources.map((subresource) => ({
        subresource: subresource.name,
        responseKind: responseKind(kind, subresource),
        verbs: subresource.verbs,
      })),
    }),
  };
}

/** The real server leaves group and version empty for a built-in kind's own; clients then take the enclosing ones. */
function responseKind(owner: ServedKind, { group, version, kind }: GroupVersionKind): GroupVersionKind {
  const isOwn = owner.origin === 'builtin' && group === owner.group && version === owner.version;
  return isOwn ? { group: '', version: '', kind } : { group, version, kind };
}
