import { UNSCHEDULABLE, untolerated } from '../nodes/taints.ts';
import { isSelectedBy } from './node-selection.ts';
import type { NodeFacts } from './occupancy.ts';
import { podAffinity } from './pod-affinity.ts';
import type { PodFacts } from './pod-facts.ts';
import type { Filter, Refusal } from './refusal.ts';
import { topologySpread } from './topology-spread.ts';
import { soleUse, volumes } from './volumes.ts';

const final = (reason: string): Refusal => ({ reasons: [reason], isFinal: true });

/** The taint that says the same is looked at here: whoever tolerates it may be on a node that is cordoned. */
const cordon: Filter =
  ({ pod }) =>
  ({ node }) =>
    node.spec?.unschedulable && untolerated([UNSCHEDULABLE], pod.spec?.tolerations, ['NoSchedule'])
      ? final('node(s) were unschedulable')
      : undefined;

const taints: Filter =
  ({ pod }) =>
  ({ node }) =>
    untolerated(node.spec?.taints, pod.spec?.tolerations, ['NoSchedule', 'NoExecute'])
      ? final('node(s) had untolerated taint(s)')
      : undefined;

const nodeAffinity: Filter =
  ({ pod }) =>
  ({ node }) =>
    isSelectedBy(pod, node) ? undefined : final("node(s) didn't match Pod's node affinity/selector");

const hostPorts: Filter = (pod) => (node) =>
  pod.ports.some((port) => node.room.isTaken(port))
    ? { reasons: ["node(s) didn't have free ports for the requested pod ports"], isFinal: false }
    : undefined;

const resources: Filter = (pod) => (node) => {
  const missing = missingResources(pod, node);
  const isFull = node.room.pods + 1 > (node.allocatable.get('pods') ?? 0);
  const reasons = [...(isFull ? ['Too many pods'] : []), ...missing.map((name) => `Insufficient ${name}`)];
  if (reasons.length === 0) return undefined;
  const isFinal = missing.some((name) => (pod.requests.get(name) ?? 0) > (node.allocatable.get(name) ?? 0));
  return { reasons, isFinal };
};

function missingResources({ requests }: PodFacts, { allocatable, room }: NodeFacts): readonly string[] {
  const isMissing = ([name, amount]: readonly [string, number]) =>
    amount > 0 && amount > (allocatable.get(name) ?? 0) - (room.requested.get(name) ?? 0);
  return [...requests].filter(isMissing).map(([name]) => name);
}

/** In the order of the real scheduler: the first that refuses a node is the one that is told. */
export const FILTERS: readonly Filter[] = [
  cordon,
  taints,
  nodeAffinity,
  hostPorts,
  resources,
  soleUse,
  volumes,
  topologySpread,
  podAffinity,
];
