import type { PeerId } from './cluster-state.ts';

/**
 * The peers of each new shard: as many as asked for or as there are, never one twice, the load even. Nobody asks whether a
 * peer lives. Which peers pair up differs from collection to collection.
 */
export function placement(
  peers: readonly PeerId[],
  shards: number,
  replicationFactor: number,
  random: () => number,
): readonly (readonly PeerId[])[] {
  const order = shuffled(peers, random);
  const copies = Math.min(replicationFactor, order.length);
  return Array.from({ length: shards }, (_, shard) =>
    Array.from({ length: copies }, (_, copy) => order[(shard * copies + copy) % order.length] ?? ''),
  );
}

export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
