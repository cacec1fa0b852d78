import type { Manifest } from '../archive/index.ts';

export interface ShardKey {
  readonly key: string | number;
  readonly shards: number;
}

export type ShardKeys =
  | { readonly is: 'given'; readonly keys: readonly ShardKey[] }
  | { readonly is: 'impossible'; readonly because: string };

/**
 * The shard keys of a backup in the order in which they are made anew. A server numbers the shards of keys by itself, from one
 * on, and finds by the number in which shard of a key a point is: a file in a shard of another number would have points that
 * nobody finds again.
 */
export function shardKeysIn({ id, shards }: Manifest): ShardKeys {
  const keys: { key: string | number; shards: number }[] = [];
  for (const [at, shard] of shards.toSorted((a, b) => a.id - b.id).entries()) {
    const { key } = shard;
    if (key === undefined) return impossible(`shard ${shard.id} of backup ${id} has no key`);
    const last = keys.at(-1);
    const isScattered = last?.key !== key && keys.some((one) => one.key === key);
    if (shard.id !== at + 1 || isScattered) {
      const because = `shard ${shard.id} of backup ${id} has the key ${JSON.stringify(key)}, and can not get its number back`;
      return impossible(`${because}: those of a new collection are numbered from 1 on, key by key`);
    }
    if (last?.key === key) last.shards++;
    else keys.push({ key, shards: 1 });
  }
  return { is: 'given', keys };
}

const impossible = (because: string): ShardKeys => ({ is: 'impossible', because });
