import type { Container, Pod, ResourceFieldSelector } from '@polder/kube';
import { parseQuantity } from '../../apiserver/builtin/quantity.ts';
import type { Facts } from './references.ts';

/** A reference that can't be followed; the message is the real kubelet's. */
export class UnresolvedReference extends Error {}

const SUBSCRIPTED = /^(.+?)\['(.*)'\]$/s;

/** The text of a field that a pod may know about itself, as `metadata.labels['app']`. */
export function podField({ metadata, spec }: Pod, path: string, { podIPs, hostIPs }: Facts): string {
  const [, map, key = ''] = SUBSCRIPTED.exec(path) ?? [];
  if (map === 'metadata.labels') return metadata.labels?.[key] ?? '';
  if (map === 'metadata.annotations') return metadata.annotations?.[key] ?? '';
  if (map !== undefined) throw new UnresolvedReference(`fieldPath ${JSON.stringify(path)} does not support subscript`);
  switch (path) {
    case 'metadata.name':
      return metadata.name;
    case 'metadata.namespace':
      return metadata.namespace ?? '';
    case 'metadata.uid':
      return metadata.uid ?? '';
    case 'metadata.labels':
      return lines(metadata.labels);
    case 'metadata.annotations':
      return lines(metadata.annotations);
    case 'spec.nodeName':
      return spec?.nodeName ?? '';
    case 'spec.serviceAccountName':
      return spec?.serviceAccountName ?? '';
    case 'status.hostIP':
      return hostIPs[0] ?? '';
    case 'status.hostIPs':
      return hostIPs.join(',');
    case 'status.podIP':
      return podIPs[0] ?? '';
    case 'status.podIPs':
      return podIPs.join(',');
    default:
      throw new UnresolvedReference(`unsupported fieldPath: ${path}`);
  }
}

function lines(map: Readonly<Record<string, string>> = {}): string {
  const entries = Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, value]) => `${key}=${quoted(value)}`).join('\n');
}

/** As Go quotes: like JSON, but for the control characters that have no letter there. */
function quoted(text: string): string {
  const escapes: Readonly<Record<string, string>> = { '\\u0007': '\\a', '\\u000b': '\\v' };
  return JSON.stringify(text).replace(/\\\\|\\u00[01]./g, (code) =>
    code === '\\\\' ? code : (escapes[code] ?? `\\x${code.slice(-2)}`),
  );
}

const WITH_NODE_LIMIT = ['cpu', 'memory', 'ephemeral-storage'];

/** How much of a resource a container may use or asked for, in units of the divisor, rounded up. */
export function containerResource(
  pod: Pod,
  own: Container | undefined,
  { resource, divisor, containerName = '' }: ResourceFieldSelector,
  facts: Facts,
): string {
  const container = containerName === '' ? own : findContainer(pod, containerName);
  if (container === undefined) throw new UnresolvedReference(`container ${containerName} not found`);
  const [, list, name = ''] = /^(limits|requests)\.(.+)$/.exec(resource) ?? [];
  if (list === undefined || !(WITH_NODE_LIMIT.includes(name) || name.startsWith('hugepages-'))) {
    throw new UnresolvedReference(`unsupported container resource : ${resource}`);
  }
  const { limits, requests } = container.resources ?? {};
  const amount = list === 'requests' ? unitsOf(name, requests?.[name]) : unitsOf(name, limits?.[name]);
  const isUnlimited = list === 'limits' && amount === 0n && WITH_NODE_LIMIT.includes(name);
  const bounded = isUnlimited ? unitsOf(name, podLimit(pod, name) ?? facts.allocatable[name]) : amount;
  return String(divideUp(bounded, unitsOf(name, divisor) || unitsOf(name, '1')));
}

function podLimit({ spec }: Pod, name: string) {
  const limit = spec?.resources?.limits?.[name];
  return unitsOf(name, limit) === 0n ? undefined : limit;
}

function findContainer({ spec }: Pod, name: string): Container | undefined {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].find((container) => container.name === name);
}

/** Processors are counted in thousandths, everything else in whole numbers. */
function unitsOf(name: string, quantity: unknown): bigint {
  return divideUp(parseQuantity(quantity ?? '0')?.nanos ?? 0n, name === 'cpu' ? 1_000_000n : 1_000_000_000n);
}

function divideUp(amount: bigint, by: bigint): bigint {
  return (amount + by - 1n) / by;
}
