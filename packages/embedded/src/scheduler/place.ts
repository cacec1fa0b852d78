import type { Pod } from '@polder/kube';
import { explainProblem, explainRefusals, NO_NODES } from './explanation.ts';
import { FILTERS } from './filters.ts';
import { namedNodes } from './node-selection.ts';
import type { NodeFacts } from './occupancy.ts';
import { type PodFacts, podFacts } from './pod-facts.ts';
import type { Refusal, Surroundings } from './refusal.ts';
import { scoreOf } from './scores.ts';
import { type ClaimChoice, claimChoices, claimProblem } from './volumes.ts';

export type Placement =
  /** `claims` are to be bound before the pod can go there. */
  | { readonly is: 'on-node'; readonly node: string; readonly claims: readonly ClaimChoice[] }
  | { readonly is: 'nowhere'; readonly because: string };

/** Decides on which node a pod goes: of those that no filter refuses the one with the best score, by name among equals. */
export function place(pod: Pod, surroundings: Surroundings): Placement {
  const { nodes } = surroundings.occupancy;
  if (nodes.length === 0) return { is: 'nowhere', because: NO_NODES };
  const problem = conflictOfNames(pod) ?? claimProblem(pod, surroundings.storage);
  if (problem !== undefined) return { is: 'nowhere', because: explainProblem(problem, nodes.length) };

  const facts = podFacts(pod);
  const refusalOf = filtering(facts, surroundings);
  const judged = nodes.map((node) => ({ node, refusal: refusalOf(node) }));
  const candidates = judged.filter(({ refusal }) => refusal === undefined).map(({ node }) => node);
  const score = scoreOf(facts, candidates, surroundings);
  const [best] = candidates
    .map((node) => ({ node, score: score(node) }))
    .toSorted((a, b) => b.score - a.score || (a.node.name < b.node.name ? -1 : 1));
  if (!best)
    return {
      is: 'nowhere',
      because: explainRefusals(
        pod,
        judged.flatMap(({ refusal }) => refusal ?? []),
      ),
    };
  const { node, name } = best.node;
  return { is: 'on-node', node: name, claims: claimChoices(pod, node, surroundings.storage) };
}

/** Why a node will not do: what the first filter says that refuses it. */
function filtering(pod: PodFacts, surroundings: Surroundings): (node: NodeFacts) => Refusal | undefined {
  const named = namedNodes(pod.pod);
  const filters = FILTERS.map((filter) => filter(pod, surroundings));
  return (node) => {
    if (named !== undefined && !named.has(node.name)) return NOT_NAMED;
    for (const filter of filters) {
      const refusal = filter(node);
      if (refusal) return refusal;
    }
    return undefined;
  };
}

const NOT_NAMED: Refusal = { reasons: ["node(s) didn't satisfy plugin(s) [NodeAffinity]"], isFinal: true };

function conflictOfNames(pod: Pod): string | undefined {
  return namedNodes(pod)?.size === 0 ? 'pod affinity terms conflict' : undefined;
}
