export { ShardError, shardName } from './local-shard.ts';
export { type Called, Peer, VERSION } from './peer.ts';
export { type Start, startPeer } from './start.ts';
