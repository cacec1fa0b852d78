import { sleep } from '../clock.ts';
import type { Cluster } from '../cluster.ts';
import type { Disk, RaftRecord, Version } from '../disk.ts';
import { PACE, within } from '../pace.ts';
import { isAtLeast, normalUri, type PeerSettings } from '../settings.ts';
import { type ClusterState, EMPTY, hasReplicas, isLearner, type PeerId } from '../state/index.ts';
import { Peer } from './peer.ts';

export type Start =
  | { readonly is: 'serving'; readonly peer: Peer }
  | { readonly is: 'exited'; readonly exitCode: number; readonly message: string };

/** A panic: what the server does when it can't begin. */
const panic = (message: string): Start => ({ is: 'exited', exitCode: 101, message });

const KILLED: Start = { is: 'exited', exitCode: 137, message: 'killed' };

/**
 * From an empty or a used volume to a peer that serves. A used one goes back to where it was, whatever `bootstrap` says; an
 * empty one joins whom `bootstrap` names, and is the first of a new cluster if that is nobody or itself.
 */
export async function startPeer(
  cluster: Cluster,
  settings: PeerSettings,
  disk: Disk,
  signal?: AbortSignal,
): Promise<Start> {
  if (signal?.aborted) return KILLED;
  const uri = normalUri(settings.uri);
  const bootstrap = settings.bootstrap ? normalUri(settings.bootstrap) : undefined;
  const id = disk.peer ?? settings.peerId ?? newPeerId(cluster.random);
  disk.identify(id);
  const known = disk.raft;
  const isFirst = bootstrap === undefined || bootstrap === uri;
  if (known && !settings.reinit) {
    if (known.stored.broken !== undefined) return panic(`Failed to apply committed entries: ${known.stored.broken}`);
    if (known.isSpoiled)
      return panic("Failed to load local shard: Can't init WAL: No such file or directory (os error 2)");
    disk.writeRaft({ ...known, uri });
  } else if (isFirst) {
    disk.writeRaft(
      recordOf(newGroup(cluster.random), uri, { index: 1, state: { ...stateOf(known), peers: { [id]: uri } } }),
    );
  } else {
    const joined = await join(cluster, { id, uri, bootstrap, settings }, known);
    if (signal?.aborted) return KILLED;
    if ('is' in joined) return joined;
    disk.writeRaft(joined);
  }
  if (!disk.raft) throw new Error('a peer starts with a log');
  const peer = new Peer(cluster, settings, disk, id, disk.raft);
  // A process that is killed while it starts is dead at once: the next one must not find it leading.
  signal?.addEventListener('abort', () => peer.stop(), { once: true });
  peer.begin();
  const announced = peer.view.peers[id];
  if (announced !== undefined && announced !== uri) void peer.propose({ do: 'add-peer', peer: id, uri }, 60_000);
  if (known || !isFirst) await sleep(cluster.clock, within(PACE.join, cluster.random));
  await promoted(peer);
  if (!peer.isUp) return KILLED;
  peer.serve();
  return { is: 'serving', peer };
}

/** Whoever joins is let vote before clients find it; without a quorum, it does not wait for ever. */
async function promoted(peer: Peer): Promise<void> {
  const until = peer.clock.now() + PACE.bootstrap;
  while (peer.isUp && isLearner(peer.view, peer.id) && peer.clock.now() < until) await peer.pause(PACE.hear);
}

/** What a peer that starts over keeps: its collections, also the replicas of others in them. */
const stateOf = (known: RaftRecord | undefined): ClusterState => known?.applied.state ?? EMPTY;

const recordOf = (group: string, uri: string, version: Version, term = 0): RaftRecord => ({
  group,
  uri,
  term,
  stored: version,
  applied: version,
  tail: [],
  isRemoved: false,
  isSpoiled: false,
});

interface Joining {
  readonly id: PeerId;
  readonly uri: string;
  readonly bootstrap: string;
  readonly settings: PeerSettings;
}

async function join(
  cluster: Cluster,
  { id, uri, bootstrap, settings }: Joining,
  former: RaftRecord | undefined,
): Promise<Start | RaftRecord> {
  const through = cluster.peerAt(bootstrap);
  if (!through || !cluster.connects(uri, bootstrap)) {
    await sleep(cluster.clock, PACE.joinRefused);
    return panic(`Failed to bootstrap from ${bootstrap}: transport error: tcp connect error: Connection refused`);
  }
  if (!cluster.isTaken(settings, through.settings)) {
    await sleep(cluster.clock, PACE.joinRefused);
    return panic(`Failed to bootstrap from ${bootstrap}: transport error: invalid peer certificate`);
  }
  const { view } = through;
  const owner = Object.entries(view.peers).find(([peer, its]) => its === uri && peer !== id)?.[0];
  const keeps = ownerKeeps(through.version, owner !== undefined && hasReplicas(view, owner));
  if (owner !== undefined && keeps === 'its-place') {
    await sleep(cluster.clock, PACE.joinRefused);
    return panic(
      `Failed to add peer to known: code: 'The system is not in a state required for the operation's execution', message: "peer URI ${uri} already used by peer ${owner} which still has shards, remove its shards first or use a different URI"`,
    );
  }
  // If this times out, it may still be agreed on: then the cluster waits for a peer that has given up.
  const added = await through.propose({
    do: 'add-peer',
    peer: id,
    uri,
    ...(owner !== undefined && keeps === 'nothing' && { replaces: owner }),
  });
  if (added.is !== 'done') {
    return panic(
      'Failed to add peer: Service internal error: Waiting for consensus operation commit failed. Timeout set at: 10 seconds',
    );
  }
  const { group, term } = through.node;
  // It finds its own removal in the log again: the others count on it, and it does not vote.
  if (former?.isRemoved) return { ...former, uri, stored: former.applied };
  const had = former !== undefined && hasReplicas(former.applied.state, id);
  const isSpoiled = had && !hasReplicas(group.committed.state, id);
  return { ...recordOf(group.id, uri, group.committed, term), isSpoiled };
}

/** What is left to a peer whose URI another one comes with: what a version made of a volume that was lost. */
function ownerKeeps(version: string, hasShards: boolean): 'its-place' | 'its-id' | 'nothing' {
  if (!isAtLeast(version, '1.16.0')) return 'its-id';
  return hasShards || !isAtLeast(version, '1.17.1') ? 'its-place' : 'nothing';
}

/** 14 to 16 digits: not above 2^53, unless the configuration says so. */
const newPeerId = (random: () => number): PeerId =>
  String(Math.floor(10 ** (13 + 2.9 * random()) + random() * 10 ** 13));

const newGroup = (random: () => number): string => Math.floor(random() * 2 ** 52).toString(16);
