import type { ServedKinds, ServedResource } from '../served-kinds.ts';

/** What a path names. */
export interface RequestTarget {
  readonly served: ServedResource;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** The old form of a watch: `/api/v1/watch/pods`. */
  readonly isWatchPath: boolean;
}

/** Undefined if the path names nothing that is served now. */
export function targetOf(segments: readonly string[], kinds: ServedKinds): RequestTarget | undefined {
  const [root, ...rest] = segments;
  if (root === 'api') return inVersion('', rest[0], rest.slice(1), kinds);
  if (root === 'apis') return inVersion(rest[0] ?? '', rest[1], rest.slice(2), kinds);
  return undefined;
}

function inVersion(
  group: string,
  version: string | undefined,
  path: readonly string[],
  kinds: ServedKinds,
): RequestTarget | undefined {
  if (version === undefined || path.length === 0) return undefined;
  const isWatchPath = path[0] === 'watch';
  const parts = isWatchPath ? path.slice(1) : path;
  const find = (plural: string | undefined) => (plural === undefined ? undefined : kinds.find(group, version, plural));

  if (parts[0] === 'namespaces' && parts.length > 2) {
    const [, namespace, plural, name, ...more] = parts;
    const served = find(plural);
    if (served?.kind.namespaced && more.length <= 1) {
      return { served, namespace, name, subresource: more[0], isWatchPath };
    }
  }
  const [plural, name, ...more] = parts;
  const served = find(plural);
  if (served === undefined || more.length > 1 || parts.length > 3) return undefined;
  // A namespaced kind without a namespace can only be listed and watched.
  if (served.kind.namespaced && name !== undefined) return undefined;
  return { served, namespace: undefined, name, subresource: more[0], isWatchPath };
}
