import type { NewCondition } from '@polder/kube';
import { agreementIn, type Situation } from './situation.ts';
import { effectiveOf } from './wanted.ts';

/** How many copies there are of each shard. The cluster's controller makes and drops them: the server only notes the number. */
export type Replication =
  | { readonly is: 'unknown'; readonly because: string }
  | { readonly is: 'complete' }
  /** There are as many copies as there can be, which is less than was asked for. */
  | { readonly is: 'capped'; readonly because: string }
  | { readonly is: 'under way'; readonly because: string }
  /** A shard without any copy: it is listed nowhere, and what was in it is gone. */
  | { readonly is: 'lost'; readonly because: string };

export function replicationOf(situation: Situation): Replication {
  const { declared, observed, server, seen } = situation;
  if (!observed.server.known) return { is: 'unknown', because: observed.server.because };
  if (!server || !seen) return { is: 'unknown', because: 'there is no collection yet' };
  const { shardCount, replicas, transfers } = seen.placement;
  const agreement = agreementIn(situation);
  // A dead peer's copies are called active by all others.
  if (agreement?.status === 'False') return { is: 'unknown', because: agreement.message };
  const settings = effectiveOf(declared, seen.config);
  const factor = Number(settings['replication_factor']);
  const isNumbered = settings['sharding_method'] !== 'custom';
  const ids = isNumbered ? Array.from({ length: shardCount }, (_, id) => id) : replicas.map(({ shard }) => shard);
  // As many as the cluster is to have: while it grows, copies are on their way.
  const wanted = Math.min(factor, observed.cluster?.spec.replicas ?? server.info.members.size);
  const counts = [...new Set(ids)].map((id) => ({
    id,
    all: replicas.filter(({ shard }) => shard === id).length,
    active: replicas.filter(({ shard, state }) => shard === id && state === 'Active').length,
  }));
  const lost = counts.find(({ all }) => all === 0);
  if (lost) return { is: 'lost', because: `shard ${lost.id} has no copy any more` };
  const off = counts.filter(({ all, active }) => active < wanted || active < all || all > factor);
  if (off.length > 0 || transfers.length > 0) {
    const shards = off.slice(0, MOST_SHOWN).map(({ id, active }) => `shard ${id} has ${active} of ${wanted} copies`);
    const more = off.length > MOST_SHOWN ? ` and ${off.length - MOST_SHOWN} more` : '';
    const because = off.length > 0 ? `${shards.join(', ')}${more}` : 'a shard is on its way';
    return { is: 'under way', because };
  }
  if (factor > wanted) {
    const because = `${factor} copies are wanted of each shard, and ${wanted} peers can hold one`;
    return { is: 'capped', because };
  }
  return { is: 'complete' };
}

/** A status is for people to read. */
const MOST_SHOWN = 8;

export function replicatedCondition(replication: Replication): NewCondition {
  const type = 'Replicated';
  switch (replication.is) {
    case 'complete':
      return { type, status: 'True', reason: 'AllCopies', message: '' };
    case 'unknown':
      return { type, status: 'Unknown', reason: 'NotKnown', message: replication.because };
    case 'capped':
      return { type, status: 'False', reason: 'TooFewPeers', message: replication.because };
    case 'under way':
      return { type, status: 'False', reason: 'Replicating', message: replication.because };
    case 'lost':
      return { type, status: 'False', reason: 'ShardLost', message: replication.because };
  }
}
