import type { Collection } from '../state/index.ts';

/** Of a shard on a disk. */
export const shardName = ({ serial }: Pick<Collection, 'serial'>, shard: number): string => `${serial}-${shard}`;

/** What a peer answers another one that asks for the impossible. */
export class ShardError extends Error {}
