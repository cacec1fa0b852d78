import type { LabelSelector, Namespace, Pod, PodAffinityTerm } from '@polder/kube';
import { type StructuredSelector, structuredLabelSelector } from '../apiserver/selectors/index.ts';

export type Labels = Readonly<Record<string, string>>;

/** Pods that another pod wants to be near to, or away from; with everything filled in that a term may leave to its pod. */
export interface AffinityTerm {
  /** Equal terms have equal keys. */
  readonly key: string;
  readonly topologyKey: string;
  /** Whether the labels of namespaces matter. */
  readonly selectsNamespaces: boolean;
  /** Whether it speaks of a pod of this namespace with these labels. */
  matches(namespace: string, labels: Labels, namespaces: NamespaceLabels): boolean;
}

export type NamespaceLabels = ReadonlyMap<string, Labels>;

export function namespaceLabels(namespaces: readonly Namespace[]): NamespaceLabels {
  return new Map(namespaces.map(({ metadata }) => [metadata.name, metadata.labels ?? {}]));
}

export function affinityTerm(term: PodAffinityTerm, { metadata }: Pod): AffinityTerm {
  const { topologyKey, namespaces = [], namespaceSelector } = term;
  const selector = withLabelKeys(term, metadata.labels ?? {});
  const own = namespaces.length === 0 && namespaceSelector === undefined ? [metadata.namespace ?? ''] : namespaces;
  const selects = selectorOf(selector);
  // No selector selects no namespace, an empty one all of them.
  const selectsNamespace = selectorOf(namespaceSelector);
  return {
    key: JSON.stringify([topologyKey, own, namespaceSelector, selector]),
    topologyKey,
    selectsNamespaces: namespaceSelector !== undefined,
    matches: (namespace, labels, known) =>
      selects(labels) && (own.includes(namespace) || selectsNamespace(known.get(namespace) ?? {})),
  };
}

/** What the labels of the pod itself add to a selector. The API server adds it too: twice is as good as once. */
export function withLabelKeys(
  term: Pick<PodAffinityTerm, 'labelSelector' | 'matchLabelKeys' | 'mismatchLabelKeys'>,
  labels: Labels,
): LabelSelector | undefined {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  if (labelSelector === undefined) return undefined;
  const added = [
    ...matchLabelKeys.map((key) => ({ key, operator: 'In' })),
    ...mismatchLabelKeys.map((key) => ({ key, operator: 'NotIn' })),
  ].flatMap(({ key, operator }) => {
    const value = labels[key];
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  });
  if (added.length === 0) return labelSelector;
  return { ...labelSelector, matchExpressions: [...(labelSelector.matchExpressions ?? []), ...added] };
}

/** No selector selects nothing. */
export function selectorOf(selector: StructuredSelector | undefined): (labels: Labels) => boolean {
  return selector === undefined ? () => false : structuredLabelSelector(selector);
}
