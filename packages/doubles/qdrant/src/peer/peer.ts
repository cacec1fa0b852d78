import type { Clock } from '../clock.ts';
import { sleep } from '../clock.ts';
import type { Cluster } from '../cluster.ts';
import { type RaftHost, RaftNode, type Verdict } from '../consensus/index.ts';
import type { Disk, PointOperation, RaftRecord } from '../disk.ts';
import type { Faults } from '../faults.ts';
import { PACE, within } from '../pace.ts';
import { normalUri, type PeerSettings } from '../settings.ts';
import type { ClusterState, Entry, PeerId, Transfer } from '../state/index.ts';
import { Caretaker } from './caretaker.ts';
import { ShardError, shardName } from './local-shard.ts';
import { Readiness } from './readiness.ts';
import { Sender } from './sender.ts';

/** What came of asking another peer. */
export type Called<T> =
  | { readonly is: 'answered'; readonly value: T }
  | { readonly is: 'failed'; readonly error: string };

export const VERSION = '1.19.0';

/** A process: one life of a peer. What outlives it is on its disk. */
export class Peer implements RaftHost {
  readonly id: PeerId;
  readonly uri: string;
  readonly settings: PeerSettings;
  readonly cluster: Cluster;
  readonly disk: Disk;
  readonly node: RaftNode;
  readonly startedAt: number;
  readonly readiness: Readiness;
  /** Shards that are being restored from a snapshot, by name: somebody looks after them. */
  readonly recovering = new Set<string>();
  readonly #caretaker: Caretaker;
  readonly #sender: Sender;
  /** Who hears of the end of the process. */
  readonly #bereaved = new Set<() => void>();
  #isUp = true;
  #isServing = false;
  #goOn: (() => void)[] = [];

  constructor(cluster: Cluster, settings: PeerSettings, disk: Disk, id: PeerId, record: RaftRecord) {
    this.cluster = cluster;
    this.settings = settings;
    this.disk = disk;
    this.id = id;
    this.uri = normalUri(settings.uri);
    this.startedAt = cluster.clock.now();
    this.node = new RaftNode(this, cluster.groupOf(record));
    this.readiness = new Readiness(this);
    this.#caretaker = new Caretaker(this);
    this.#sender = new Sender(this);
  }

  get peer(): PeerId {
    return this.id;
  }

  get host(): string {
    return new URL(this.uri).hostname;
  }

  get version(): string {
    return this.settings.version ?? VERSION;
  }

  get clock(): Clock {
    return this.cluster.clock;
  }

  get random(): () => number {
    return this.cluster.random;
  }

  get faults(): Faults {
    return this.cluster.faultsOf(this.uri);
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Clients are let in only once it has joined. */
  get isServing(): boolean {
    return this.#isServing;
  }

  get isClustered(): boolean {
    return this.settings.isClustered ?? true;
  }

  /** What it believes of the cluster. */
  get view(): ClusterState {
    return this.node.view;
  }

  begin(): void {
    this.cluster.enter(this);
    this.node.enter();
    this.cluster.settle();
    this.#keepShards(this.view);
    this.#sender.begin();
    this.#caretaker.look();
  }

  serve(): void {
    this.#isServing = true;
  }

  /** As SIGKILL does: at once. */
  stop(): void {
    if (!this.#isUp) return;
    this.#isUp = false;
    this.#isServing = false;
    this.node.leave();
    this.cluster.leave(this);
    for (const hear of this.#bereaved) hear();
    this.wake();
  }

  /** What somebody hears of this peer: the outcome of some work, or that the process ended over it. */
  whileUp<T>(work: Promise<T>, ended: () => Error): Promise<T> {
    return new Promise((resolve, reject) => {
      const hear = () => reject(ended());
      this.#bereaved.add(hear);
      void work.then(resolve, reject).finally(() => this.#bereaved.delete(hear));
    });
  }

  reaches(other: PeerId): boolean {
    const uri = this.cluster.peers.find(({ id }) => id === other)?.uri;
    return uri !== undefined && this.cluster.connects(this.uri, uri);
  }

  consensusFault(): 'lost' | 'late' | undefined {
    return this.cluster.captorOf(this) ? 'lost' : this.faults.consensus;
  }

  adopted(before: ClusterState, after: ClusterState): void {
    this.#keepShards(after);
    this.#sender.follow(before, after);
    this.#caretaker.look();
  }

  /** What users see of a transfer that this peer sends. */
  commentOn(transfer: Transfer): string | undefined {
    return this.#sender.comment(transfer);
  }

  propose(entry: Entry, timeoutMs = 10_000): Promise<Verdict> {
    return this.node.propose(entry, timeoutMs);
  }

  /** Proposes until it is settled one way or the other; for what the server does by itself. */
  async insist(entry: Entry, isStillWanted: () => boolean): Promise<void> {
    while (this.#isUp && !this.node.isStopped && isStillWanted()) {
      const { is } = await this.propose(entry);
      if (is === 'done' || is === 'refused' || is === 'broken') return;
      await this.pause(PACE.look);
    }
  }

  pause(range: readonly [number, number]): Promise<void> {
    return sleep(this.clock, within(range, this.random));
  }

  /** Resolves as soon as it gets CPU again. */
  async whileHung(): Promise<void> {
    while (this.#isUp && this.faults.isHung) await new Promise<void>((resolve) => this.#goOn.push(resolve));
  }

  wake(): void {
    const waiting = this.#goOn;
    this.#goOn = [];
    for (const goOn of waiting) goOn();
  }

  /** Does something at another peer, found by the URI that this one knows of it. What it throws is that peer's error. */
  async call<T>(to: PeerId, work: (target: Peer) => T): Promise<Called<T>> {
    if (to === this.id && this.#isUp) return attempt(() => work(this));
    const uri = this.view.peers[to];
    if (uri === undefined) return { is: 'failed', error: `Service internal error: Peer ${to} is not known` };
    const unreachable = `Service internal error: Tonic status error: status: Unavailable, message: "Failed to connect to ${uri}, error: transport error"`;
    // One that was cut off finds its connections broken, and opens them again no sooner than it hears of what it missed:
    // otherwise it would write to the replicas of the past, and leave out those of today.
    if (!this.cluster.peerAt(uri) || this.node.isBehind) {
      await this.pause(PACE.refused);
      return { is: 'failed', error: unreachable };
    }
    if (!this.cluster.connects(this.uri, uri)) {
      await this.pause(PACE.silent);
      return { is: 'failed', error: unreachable };
    }
    await this.pause(PACE.call);
    const { latencyMs = 0 } = this.cluster.faultsOf(uri);
    if (latencyMs > 0) await sleep(this.clock, latencyMs);
    const target = this.cluster.peerAt(uri);
    if (!target || !this.#isUp || !this.cluster.connects(this.uri, uri)) return { is: 'failed', error: unreachable };
    // Somebody else lives there now.
    if (target.id !== to) return { is: 'failed', error: `Not found: Peer ${to} has no shard at ${uri}` };
    return attempt(() => work(target));
  }

  /** Changes the points of a shard that is here. */
  write(shard: string, operation: PointOperation): void {
    if (!this.disk.points(shard)) throw new ShardError('Not found: the shard is not here');
    if (this.faults.isDiskFull) {
      throw new ShardError(
        'Service internal error: No space left on device: WAL buffer size exceeds available disk space',
      );
    }
    this.disk.write(shard, operation);
    this.#sender.forward(shard, operation);
  }

  /** What is on the disk follows what the log says: replicas that came are made, those that went are deleted. */
  #keepShards(state: ClusterState): void {
    const wanted = new Set(
      Object.values(state.collections).flatMap((collection) =>
        collection.shards.filter(({ replicas }) => this.id in replicas).map(({ id }) => shardName(collection, id)),
      ),
    );
    // A removed peer keeps what it has: nobody tells it to delete anything any more.
    if (!this.disk.raft?.isRemoved)
      for (const name of this.disk.shards) if (!wanted.has(name)) this.disk.deleteShard(name);
    for (const name of wanted) if (!this.disk.points(name)) this.disk.putShard(name, new Map());
  }
}

function attempt<T>(work: () => T): Called<T> {
  try {
    return { is: 'answered', value: work() };
  } catch (error) {
    if (error instanceof ShardError) return { is: 'failed', error: error.message };
    throw error;
  }
}
