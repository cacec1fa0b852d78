/** Which nodes a pod, or a volume, says it may be on. */
import type { Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod } from '@polder/kube';

/** `nodeSelector` and the required node affinity; the same question decides where a DaemonSet has pods. */
export function isSelectedBy({ spec }: Pod, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  const isLabeled = Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
  return isLabeled && matchesSelector(requiredOf(spec), node);
}

/** One of the terms suffices; a selector without terms selects nothing. */
export function matchesSelector(selector: NodeSelector | undefined, node: Node): boolean {
  return selector === undefined || selector.nodeSelectorTerms.some((term) => matchesTerm(term, node));
}

/** An empty term, too, selects nothing. */
export function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  const { labels = {}, name } = node.metadata;
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((requirement) => holds(requirement, labels[requirement.key])) &&
    matchFields.every((requirement) => holds(requirement, requirement.key === 'metadata.name' ? name : undefined))
  );
}

function holds({ operator, values = [] }: NodeSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
    case 'Lt': {
      const [bound = ''] = values;
      if (value === undefined || !isInteger(value) || !isInteger(bound)) return false;
      return operator === 'Gt' ? BigInt(value) > BigInt(bound) : BigInt(value) < BigInt(bound);
    }
  }
}

const isInteger = (text: string) => /^-?\d+$/.test(text);

/**
 * The nodes that every term asks for by name; undefined if a term leaves it open. DaemonSet pods do so, and no other node
 * is even looked at for them: the real scheduler's explanation then differs.
 */
export function namedNodes({ spec }: Pod): ReadonlySet<string> | undefined {
  const terms = requiredOf(spec)?.nodeSelectorTerms ?? [];
  const named = terms.map(({ matchFields = [] }) => {
    const fields = matchFields.filter(({ key, operator }) => key === 'metadata.name' && operator === 'In');
    const sets = fields.map(({ values = [] }) => new Set(values));
    return sets.reduce<Set<string> | undefined>((common, set) => common?.intersection(set) ?? set, undefined);
  });
  const all = new Set<string>();
  for (const names of named) {
    if (names === undefined) return undefined;
    for (const name of names) all.add(name);
  }
  return terms.length > 0 ? all : undefined;
}

const requiredOf = (spec: Pod['spec']) => spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
