import { apiVersionOf, type Kind } from '../kinds/object.ts';

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The path of a kind's collection, or of one object in it, or of an object's subresource. */
export function pathOf(
  kind: Pick<Kind, 'group' | 'version' | 'plural' | 'namespaced'>,
  at: {
    readonly namespace?: string | undefined;
    readonly name?: string | undefined;
    readonly subresource?: string | undefined;
  },
  query: Query = {},
): string {
  const parts = [kind.group === '' ? 'api' : 'apis', ...apiVersionOf(kind).split('/')];
  if (kind.namespaced && at.namespace !== undefined) parts.push('namespaces', at.namespace);
  parts.push(kind.plural);
  if (at.name !== undefined) parts.push(at.name);
  if (at.subresource !== undefined) parts.push(at.subresource);
  return `/${parts.map(encodeURIComponent).join('/')}${queryOf(query)}`;
}

export function queryOf(query: Query): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) pairs.set(name, String(value));
  const text = pairs.toString();
  return text === '' ? '' : `?${text}`;
}
