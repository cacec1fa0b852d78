import type {
  LabelSelector,
  Node,
  Pod,
  PodAffinityTerm,
  Taint,
  Toleration,
  TopologySpreadConstraint,
} from '@polder/kube';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Occupancy } from './occupancy.ts';
import { place } from './place.ts';
import { among, aNode, aPod, asking, type PodParts } from './test-objects.ts';

// ── A slow model: each rule as its documentation says it, looking at every pod and every node each time. ──

const labelOf = (node: Node | undefined, key: string) => node?.metadata.labels?.[key];
const labelsOf = ({ metadata }: Pod) => metadata.labels ?? {};
const nodeOf = (pod: Pod, nodes: readonly Node[]) => nodes.find(({ metadata }) => metadata.name === pod.spec?.nodeName);

function selects(selector: LabelSelector | undefined, pod: Pod): boolean {
  return Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => labelsOf(pod)[key] === value);
}

function speaksOf(term: PodAffinityTerm, owner: Pod, other: Pod): boolean {
  const own = owner.metadata.namespace ?? '';
  return (term.namespaces ?? [own]).includes(other.metadata.namespace ?? '') && selects(term.labelSelector, other);
}

function isTolerated(taint: Taint, { spec }: Pod): boolean {
  return (spec?.tolerations ?? []).some(
    ({ key, operator, value }) => key === taint.key && (operator === 'Exists' || value === taint.value),
  );
}

const required = {
  near: (pod: Pod) => pod.spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [],
  apart: (pod: Pod) => pod.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [],
};

const cpuOf = (pod: Pod) => Number(String(pod.spec?.containers[0]?.resources?.requests?.['cpu'] ?? '0m').slice(0, -1));
const portOf = (pod: Pod) => pod.spec?.containers[0]?.ports?.[0]?.hostPort;

/** The first promise that a pod on this node would break; undefined if none. */
function broken(pod: Pod, node: Node, nodes: readonly Node[], pods: readonly Pod[]): string | undefined {
  const there = pods.filter(({ spec }) => spec?.nodeName === node.metadata.name);
  const isNear = (other: Pod, key: string) => {
    const domain = labelOf(node, key);
    return domain !== undefined && labelOf(nodeOf(other, nodes), key) === domain;
  };
  const hasDomain = (other: Pod, key: string) => labelOf(nodeOf(other, nodes), key) !== undefined;
  if (node.spec?.unschedulable) return 'cordon';
  if (!(node.spec?.taints ?? []).every((taint) => isTolerated(taint, pod))) return 'taint';
  if (!isChosen(pod, node)) return 'selector';
  const port = portOf(pod);
  if (port !== undefined && there.some((other) => portOf(other) === port)) return 'port';
  const used = there.reduce((sum, other) => sum + cpuOf(other), 0);
  if (cpuOf(pod) > 0 && used + cpuOf(pod) > Number(node.status?.allocatable?.['cpu']) * 1000) return 'cpu';
  if (there.length + 1 > Number(node.status?.allocatable?.['pods'])) return 'pods';

  for (const constraint of pod.spec?.topologySpreadConstraints ?? []) {
    if (skew(constraint, pod, node, nodes, pods) > constraint.maxSkew) return 'spread';
  }
  const near = required.near(pod);
  const neighbours = pods.filter((other) => near.every((term) => speaksOf(term, pod, other)));
  const isFirst =
    !neighbours.some((other) => near.some(({ topologyKey }) => hasDomain(other, topologyKey))) &&
    near.every((term) => speaksOf(term, pod, pod));
  for (const { topologyKey } of near) {
    if (labelOf(node, topologyKey) === undefined) return 'affinity';
    if (!isFirst && !neighbours.some((other) => isNear(other, topologyKey))) return 'affinity';
  }
  for (const term of required.apart(pod)) {
    if (pods.some((other) => speaksOf(term, pod, other) && isNear(other, term.topologyKey))) return 'anti-affinity';
  }
  for (const other of pods) {
    for (const term of required.apart(other)) {
      if (speaksOf(term, other, pod) && isNear(other, term.topologyKey)) return 'anti-affinity of others';
    }
  }
  return undefined;
}

function isChosen({ spec }: Pod, node: Node): boolean {
  return Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => labelOf(node, key) === value);
}

function skew(
  { topologyKey, labelSelector }: TopologySpreadConstraint,
  pod: Pod,
  node: Node,
  nodes: readonly Node[],
  pods: readonly Pod[],
): number {
  const own = labelOf(node, topologyKey);
  if (own === undefined) return Infinity;
  const counted = nodes.filter((one) => isChosen(pod, one));
  const countIn = (domain: string) =>
    pods.filter((other) => {
      const isCounted = other.metadata.namespace === pod.metadata.namespace && selects(labelSelector, other);
      const on = counted.find(({ metadata }) => metadata.name === other.spec?.nodeName);
      return isCounted && other.metadata.deletionTimestamp === undefined && labelOf(on, topologyKey) === domain;
    }).length;
  const domains = new Set(counted.flatMap((one) => labelOf(one, topologyKey) ?? []));
  return countIn(own) + (selects(labelSelector, pod) ? 1 : 0) - Math.min(...[...domains].map(countIn));
}

// ── What there may be. ──

const NAMES = ['n1', 'n2', 'n3', 'n4'];
const TOPOLOGIES = ['zone', 'kubernetes.io/hostname'];
const taint: fc.Arbitrary<Taint> = fc.record({
  key: fc.constantFrom('x', 'y'),
  value: fc.constantFrom('1', '2'),
  effect: fc.constantFrom('NoSchedule', 'NoExecute'),
});
const toleration: fc.Arbitrary<Toleration> = fc.oneof(
  fc.record({ key: fc.constantFrom('x', 'y'), operator: fc.constant('Exists' as const) }),
  fc.record({ key: fc.constantFrom('x', 'y'), value: fc.constantFrom('1', '2') }),
);
const few = <T>(one: fc.Arbitrary<T>, maxLength = 1) => fc.array(one, { maxLength });

const nodes: fc.Arbitrary<readonly Node[]> = fc.uniqueArray(
  fc
    .record({
      name: fc.constantFrom(...NAMES),
      zone: fc.constantFrom('a', 'b', undefined),
      taints: few(taint),
      unschedulable: fc.constantFrom(false, false, false, true),
      cpu: fc.constantFrom('1', '2'),
      pods: fc.constantFrom('2', '5'),
    })
    .map(({ name, zone, taints, unschedulable, cpu, pods }) =>
      aNode(name, {
        labels: zone === undefined ? {} : { zone },
        spec: { taints, unschedulable },
        allocatable: { cpu, pods },
      }),
    ),
  { selector: ({ metadata }) => metadata.name, maxLength: NAMES.length },
);

const labels = fc.record({ app: fc.constantFrom('a', 'b') }, { requiredKeys: [] });
const labelSelector = fc.record({ matchLabels: labels });
const term: fc.Arbitrary<PodAffinityTerm> = fc.record(
  {
    topologyKey: fc.constantFrom(...TOPOLOGIES),
    labelSelector,
    namespaces: fc.constantFrom(['default'], ['other'], ['default', 'other']),
  },
  { requiredKeys: ['topologyKey', 'labelSelector'] },
);
const terms = few(term, 2).map((given) => ({ requiredDuringSchedulingIgnoredDuringExecution: given }));
const constraint: fc.Arbitrary<TopologySpreadConstraint> = fc.record({
  maxSkew: fc.constantFrom(1, 2),
  topologyKey: fc.constantFrom(...TOPOLOGIES),
  whenUnsatisfiable: fc.constant('DoNotSchedule' as const),
  labelSelector,
});

const parts: fc.Arbitrary<PodParts> = fc
  .record({
    namespace: fc.constantFrom('default', 'default', 'other'),
    labels,
    isLeaving: fc.constantFrom(false, false, true),
    owner: fc.constantFrom('one', 'two'),
    tolerations: few(toleration, 2),
    cpu: fc.constantFrom('0m', '300m', '1000m'),
    hostPort: fc.constantFrom(undefined, undefined, 80),
    zone: fc.constantFrom(undefined, undefined, 'a'),
    podAffinity: fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, terms),
    podAntiAffinity: fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, terms),
    topologySpreadConstraints: few(constraint),
  })
  .map(({ cpu, hostPort, zone, podAffinity, podAntiAffinity, ...rest }) => ({
    ...rest,
    containers: asking({ cpu }).containers.map((container) => ({
      ...container,
      ...(hostPort !== undefined && { ports: [{ containerPort: 80, hostPort }] }),
    })),
    ...(zone !== undefined && { nodeSelector: { zone } }),
    affinity: { podAffinity, podAntiAffinity },
  }));

const placed: fc.Arbitrary<readonly Pod[]> = fc
  .array(fc.record({ parts, nodeName: fc.constantFrom(...NAMES) }), { maxLength: 8 })
  .map((all) => all.map((one, i) => aPod(`there-${i}`, { ...one.parts, nodeName: one.nodeName })));

const newcomer = parts.map((given) => aPod('new', { ...given, isLeaving: false }));

// ── What must hold. ──

test('a pod goes where it breaks no promise, and nowhere only if every node would break one', () => {
  fc.assert(
    fc.property(newcomer, nodes, placed, (pod, all, there) => {
      const placement = place(pod, among(all, there));
      const possible = all.filter((node) => broken(pod, node, all, there) === undefined);
      const names = possible.map(({ metadata }) => metadata.name);
      if (placement.is === 'on-node') expect(names).toContain(placement.node);
      else expect(names).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});

test('a decision does not depend on the order in which nodes and pods are told', () => {
  fc.assert(
    fc.property(newcomer, nodes, placed, (pod, all, there) => {
      const placement = place(pod, among(all, there));
      expect(place(pod, among(all.toReversed(), there.toReversed()))).toEqual(placement);
    }),
    { numRuns: 500 },
  );
});

test('what is kept up from change to change decides like what is counted afresh', () => {
  fc.assert(
    fc.property(newcomer, nodes, fc.array(placed, { minLength: 1, maxLength: 4 }), (pod, all, pictures) => {
      const occupancy = new Occupancy();
      occupancy.updateNodes(all);
      for (const there of pictures) {
        occupancy.updatePods(there);
        expect(place(pod, { ...among([], []), occupancy })).toEqual(place(pod, among(all, there)));
      }
    }),
    { numRuns: 500 },
  );
});
