import type { Verdict } from './consensus/index.ts';
import { PACE } from './pace.ts';
import type { Peer } from './peer/index.ts';
import { type CollectionDefaults, type Entry, placement } from './state/index.ts';

export function defaultsOf(peer: Peer): CollectionDefaults {
  return {
    replicationFactor: 1,
    writeConsistencyFactor: 1,
    shardNumber: Object.keys(peer.view.peers).length,
    ...peer.settings.collections,
  };
}

/** The peers for so many new shards, as this peer sees the cluster: whether they live is not asked. */
export const place = (peer: Peer, shards: number, replicationFactor: number) =>
  placement(Object.keys(peer.view.peers), shards, replicationFactor, peer.random);

/** Creates a collection or a shard key, and waits for its replicas; not for ever, since some peers may not live. */
export async function create(
  peer: Peer,
  entry: Entry & { readonly collection: string },
  timeoutMs: number,
): Promise<Verdict> {
  const verdict = await peer.propose(entry, timeoutMs);
  if (verdict.is !== 'done') return verdict;
  const { cluster, view } = peer;
  const isHung = Object.values(view.peers).some((uri) => cluster.faultsOf(uri).isHung);
  // Who refuses is given up on sooner than who is silent.
  const until = peer.clock.now() + (isHung ? PACE.activationOfSilent : PACE.activation);
  const isActive = () =>
    (peer.view.collections[entry.collection]?.shards ?? []).every(({ replicas }) =>
      Object.values(replicas).every((state) => state !== 'Initializing'),
    );
  while (peer.isUp && !isActive() && peer.clock.now() < until) await peer.pause(PACE.follow);
  return verdict;
}
