import type { Counts, NodeFacts } from './occupancy.ts';

/** Adds up what is on the nodes of a domain: those with the same value of a label. Nodes without it are in none. */
export function byDomain(nodes: readonly NodeFacts[], topologyKey: string, counts: Counts): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { name, labels } of nodes) {
    const domain = labels[topologyKey];
    if (domain !== undefined) sums.set(domain, (sums.get(domain) ?? 0) + (counts.get(name) ?? 0));
  }
  return sums;
}
