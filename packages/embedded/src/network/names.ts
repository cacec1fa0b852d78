/** What a name inside the cluster stands for. */
export type ClusterName =
  | { readonly is: 'service'; readonly namespace: string; readonly service: string }
  /** A pod with a name of its own behind a headless service. */
  | { readonly is: 'pod'; readonly namespace: string; readonly service: string; readonly hostname: string };

/**
 * `qdrant.prod.svc.cluster.local`, `qdrant.prod.svc`, `qdrant.prod`, and `qdrant-0.` before each of them. Undefined if it is
 * none: a single word (whose namespace nobody could know), an address, a name of the world outside.
 */
export function clusterName(host: string): ClusterName | undefined {
  const short = host
    .toLowerCase()
    .replace(/\.$/, '')
    .replace(/\.svc(\.cluster\.local)?$/, '');
  const [first, second, third, ...more] = short.split('.');
  if (!first || !second || more.length > 0 || /^\d+$/.test(first)) return undefined;
  if (third === undefined) return { is: 'service', service: first, namespace: second };
  return { is: 'pod', hostname: first, service: second, namespace: third };
}

/** What a name stands for to a program in this namespace, which may leave its own away. Empty: nothing here. */
export function addressesOf(
  host: string,
  names: Readonly<Record<string, readonly string[]>>,
  namespace: string | undefined,
): readonly string[] {
  const name = clusterName(host.includes('.') ? host : `${host}.${namespace ?? ''}`);
  if (name === undefined) return [];
  const service = `${name.service}.${name.namespace}`;
  const short = name.is === 'pod' ? `${name.hostname}.${service}` : service;
  return Object.hasOwn(names, short) ? (names[short] ?? []) : [];
}
