import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../clock.ts';
import type { Disk, RaftRecord, Version } from '../disk.ts';
import { PACE, within } from '../pace.ts';
import type { ClusterState, Entry, PeerId } from '../state/index.ts';
import { Proposal, type Verdict } from './proposal.ts';
import type { LogItem, RaftGroup } from './raft-group.ts';

/** What a node needs of the process it is part of. */
export interface RaftHost {
  readonly peer: PeerId;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: () => number;
  /** Whether messages pass between two nodes. */
  reaches(other: PeerId): boolean;
  /** The peer now acts on another version of the state. */
  adopted(before: ClusterState, after: ClusterState): void;
  /** What is wrong with what this peer proposes: it never arrives, or nobody hears back. */
  consensusFault(): 'lost' | 'late' | undefined;
}

export type Role = 'Leader' | 'Follower' | 'Candidate';

/** One peer's part in consensus, for the life of its process. */
export class RaftNode {
  readonly #host: RaftHost;
  readonly #group: RaftGroup;
  #role: Role | undefined;
  /** As it believes. `'0'`: nobody, it asks for votes itself. */
  #leader: PeerId | undefined;
  #term: number;
  #standsSince = 0;
  #tail: LogItem[];
  #isLive = true;
  #stoppedSince: number | undefined;
  #hearing: RaftNode | undefined;
  #isAboutToCampaign = false;
  #missed = 0;
  #isApplying = false;
  readonly #proposals = new Set<Proposal>();
  #waitingForLeader: (() => void)[] = [];
  readonly #silentSince = new Map<PeerId, number>();

  constructor(host: RaftHost, group: RaftGroup) {
    this.#host = host;
    this.#group = group;
    this.#term = this.record.term;
    this.#tail = this.record.tail.map((entry) => ({ entry }));
  }

  get peer(): PeerId {
    return this.#host.peer;
  }

  get record(): RaftRecord {
    const record = this.#host.disk.raft;
    if (!record) throw new Error('a peer without a log is in no group');
    return record;
  }

  /** What this peer believes of the cluster. */
  get view(): ClusterState {
    return this.record.applied.state;
  }

  get group(): RaftGroup {
    return this.#group;
  }

  get role(): Role | undefined {
    return this.#role;
  }

  get leader(): PeerId | undefined {
    return this.#leader;
  }

  get term(): number {
    if (this.#role !== 'Candidate') return this.#term;
    return this.#term + Math.floor((this.#host.clock.now() - this.#standsSince) / PACE.candidacy);
  }

  get tail(): readonly LogItem[] {
    return this.#tail;
  }

  get logLength(): number {
    return this.record.stored.index + this.#tail.length;
  }

  /** An entry that can't be applied, or its own removal, has ended its part in consensus. */
  get isStopped(): boolean {
    return this.#stoppedSince !== undefined;
  }

  get stoppedSince(): number | undefined {
    return this.#stoppedSince;
  }

  get pendingOperations(): number {
    const { stored, applied, isRemoved } = this.record;
    return isRemoved ? 1 : stored.index - applied.index;
  }

  /** The others that are out of reach, and since when. */
  get silentSince(): ReadonlyMap<PeerId, number> {
    return this.#silentSince;
  }

  enter(): void {
    if (this.record.isRemoved) {
      this.#stoppedSince = this.#host.clock.now();
      return;
    }
    this.#group.enter(this);
    this.#missed = this.#group.committed.index;
    // A group of one needs nobody's vote and waits for nobody.
    if (Object.keys(this.view.peers).length === 1 && this.#group.isMember(this.peer)) this.#group.campaign(this);
    this.#group.settle();
  }

  leave(): void {
    this.#isLive = false;
    for (const proposal of this.#proposals) proposal.end({ is: 'timed-out' });
    this.#group.leave(this);
  }

  reaches(other: RaftNode): boolean {
    return this.#isLive && other.#isLive && !other.isStopped && this.#host.reaches(other.peer);
  }

  noteSilence(nodes: ReadonlyMap<PeerId, RaftNode>): void {
    for (const peer of Object.keys(this.view.peers)) {
      const other = nodes.get(peer);
      if (peer === this.peer || (other && this.reaches(other))) this.#silentSince.delete(peer);
      else if (!this.#silentSince.has(peer)) this.#silentSince.set(peer, this.#host.clock.now());
    }
  }

  /** A leader can reach this node: soon it knows. */
  hear(leader: RaftNode): void {
    if (this.#leader === leader.peer && this.#term === this.#group.term && !this.#lacksEntries) return;
    if (this.#hearing === leader || this.isStopped) return;
    this.#hearing = leader;
    this.#after(PACE.hear, () => {
      this.#hearing = undefined;
      if (this.#group.leader !== leader || !leader.reaches(this)) return;
      this.#become('Follower', leader.peer);
      // What it accepted as the leader of earlier is not what was agreed on since.
      this.#setTail([]);
      this.store(this.#group.committed, 0);
      this.#group.settle();
    });
  }

  get #lacksEntries(): boolean {
    return this.record.stored.index < this.#group.committed.index;
  }

  /** An entry was agreed on while this node was out of reach. */
  miss(index: number): void {
    this.#missed = index;
  }

  /** It was out of reach while the others went on, and does not act on what it missed yet. */
  get isBehind(): boolean {
    return this.record.applied.index < this.#missed;
  }

  /** No leader reaches this node. One that believes it leads notices nothing. */
  loseLeader(): void {
    if (this.#role === 'Leader' || this.#isAboutToCampaign || this.isStopped) return;
    this.#isAboutToCampaign = true;
    this.#after(PACE.election, () => {
      this.#isAboutToCampaign = false;
      if (this.#role !== 'Leader' && !this.isStopped) this.#group.campaign(this);
    });
  }

  /** Asks for votes and gets none. */
  stand(): void {
    if (this.#role === 'Candidate') return;
    this.#standsSince = this.#host.clock.now();
    this.#become('Candidate', '0');
  }

  lead(): void {
    this.#become('Leader', this.peer);
  }

  #become(role: Role, leader: PeerId): void {
    this.#role = role;
    this.#leader = leader;
    this.#term = this.#group.term;
    this.#host.disk.writeRaft({ ...this.record, term: this.#term });
    if (leader === '0') return;
    const waiting = this.#waitingForLeader;
    this.#waitingForLeader = [];
    for (const submit of waiting) submit();
  }

  /** Writes down what was agreed on, and acts on it after a while. */
  store(version: Version, afterMs: number): void {
    if (version.index > this.record.stored.index) this.#host.disk.writeRaft({ ...this.record, stored: version });
    if (this.#isApplying || this.record.applied.index === this.record.stored.index) return;
    this.#isApplying = true;
    this.#after([afterMs, afterMs], () => {
      this.#isApplying = false;
      this.#apply();
    });
  }

  #apply(): void {
    if (this.isStopped) return;
    const { stored, applied } = this.record;
    const before = applied.state;
    const isRemoved = this.peer in before.peers && !(this.peer in stored.state.peers);
    if (stored.broken !== undefined) {
      this.#host.disk.writeRaft({ ...this.record, applied: { index: stored.index - 1, state: stored.state } });
      this.#stoppedSince = this.#host.clock.now();
    } else if (isRemoved) {
      const alone = { ...stored.state, peers: { [this.peer]: this.record.uri } };
      this.#host.disk.writeRaft({ ...this.record, applied: { ...stored, state: alone }, isRemoved: true });
      this.#stoppedSince = this.#host.clock.now();
      this.#group.leave(this);
    } else {
      this.#host.disk.writeRaft({ ...this.record, applied: stored });
    }
    this.#host.adopted(before, this.view);
    for (const proposal of this.#proposals) {
      if (proposal.reached(stored.index)) this.#proposals.delete(proposal);
    }
    // A member that joined or left makes another majority.
    this.#group.settle();
  }

  /** Asks the cluster to agree on an entry. Waits for the verdict of this peer's own log, as long as `timeoutMs`. */
  async propose(entry: Entry, timeoutMs: number): Promise<Verdict> {
    if (!this.#isLive) return { is: 'timed-out' };
    const proposal = new Proposal();
    const fault = this.#host.consensusFault();
    let isSubmitted = false;
    const timer = this.#host.clock.after(timeoutMs, () =>
      proposal.end({ is: isSubmitted || this.isStopped ? 'timed-out' : 'no-leader' }),
    );
    // Nobody hears back: the entry goes on its way without the one who waits for it.
    const item: LogItem = fault === 'late' ? { entry } : { entry, proposal };
    this.#proposals.add(proposal);
    if (!this.isStopped) {
      this.#onceLed(() => {
        // Whoever was told that there is no leader has been told so.
        if (!this.#proposals.has(proposal)) return;
        isSubmitted = true;
        if (fault !== 'lost') this.#submit(item);
      });
    }
    try {
      return await proposal.verdict;
    } finally {
      timer.cancel();
      this.#proposals.delete(proposal);
    }
  }

  #onceLed(submit: () => void): void {
    if (this.#leader !== undefined && this.#leader !== '0') submit();
    else this.#waitingForLeader.push(submit);
  }

  /** To whom it believes leads. If that one is gone, or does not lead, nobody ever hears of the entry. */
  #submit(item: LogItem): void {
    if (this.#role === 'Leader') return this.#accept(item);
    const leader = this.#group.node(this.#leader ?? '');
    if (leader && this.reaches(leader)) this.#after(PACE.call, () => leader.#accept(item));
  }

  /** What a leader writes into its log unasked, once. */
  append(entry: Entry): void {
    if (!this.#tail.some((item) => isDeepStrictEqual(item.entry, entry))) this.#accept({ entry });
  }

  #accept(item: LogItem): void {
    if (this.#role !== 'Leader' || this.isStopped || !this.#isLive) return;
    this.#setTail([...this.#tail, item]);
    this.#group.flushSoon(this);
  }

  shiftTail(): LogItem | undefined {
    const [first, ...rest] = this.#tail;
    if (first) this.#setTail(rest);
    return first;
  }

  #setTail(tail: LogItem[]): void {
    if (tail.length === 0 && this.#tail.length === 0) return;
    this.#tail = tail;
    this.#host.disk.writeRaft({ ...this.record, tail: tail.map(({ entry }) => entry) });
  }

  #after(range: readonly [number, number], callback: () => void): void {
    this.#host.clock.after(within(range, this.#host.random), () => {
      if (this.#isLive) callback();
    });
  }
}
