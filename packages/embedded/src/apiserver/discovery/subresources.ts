import { factsOf, type SubresourceFacts } from '../builtin/facts.ts';
import type { ServedKind } from '../served-kind.ts';

const VERBS = ['get', 'patch', 'update'];

/** The endpoints below a kind's objects, in the order in which the real server lists them. */
export function subresourcesOf(kind: ServedKind): readonly SubresourceFacts[] {
  if (kind.origin === 'builtin') return factsOf(kind)?.subresources ?? [];
  const { group, version } = kind;
  return [
    ...(kind.subresources.status ? [{ name: 'status', verbs: VERBS, group, version, kind: kind.kind }] : []),
    ...(kind.subresources.scale
      ? [{ name: 'scale', verbs: VERBS, group: 'autoscaling', version: 'v1', kind: 'Scale' }]
      : []),
  ];
}
