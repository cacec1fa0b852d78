import type { Clock } from '../clock.ts';
import type { RaftRecord, Version } from '../disk.ts';
import { PACE, within } from '../pace.ts';
import { apply, type Entry, isLearner, type PeerId, votersIn } from '../state/index.ts';
import type { Proposal, Verdict } from './proposal.ts';
import type { RaftNode } from './raft-node.ts';

/** An entry on its way; whoever proposed it may still be there to be told. */
export interface LogItem {
  readonly entry: Entry;
  readonly proposal?: Proposal;
}

/**
 * Peers that go back to the same first one, and the one log they have. This is Raft as its users see it (terms, leaders,
 * majorities, what is lost and what comes back), without its messages: who could have talked to whom decides.
 */
export class RaftGroup {
  readonly id: string;
  readonly #clock: Clock;
  readonly #random: () => number;
  #committed: Version;
  #term: number;
  #leader: RaftNode | undefined;
  /** Those that run. */
  readonly #nodes = new Map<PeerId, RaftNode>();
  readonly #disturbing = new Set<RaftNode>();

  constructor(
    { group, stored, term }: Pick<RaftRecord, 'group' | 'stored' | 'term'>,
    clock: Clock,
    random: () => number,
  ) {
    this.id = group;
    this.#committed = stored;
    this.#term = term;
    this.#clock = clock;
    this.#random = random;
  }

  get term(): number {
    return this.#term;
  }

  get leader(): RaftNode | undefined {
    return this.#leader;
  }

  get committed(): Version {
    return this.#committed;
  }

  node(peer: PeerId): RaftNode | undefined {
    return this.#nodes.get(peer);
  }

  enter(node: RaftNode): void {
    this.#nodes.set(node.peer, node);
    // After a stop of all of them, whoever holds more of the log knows more of what was agreed.
    const { stored, term } = node.record;
    if (stored.index > this.#committed.index) this.#committed = stored;
    this.#term = Math.max(this.#term, term);
  }

  leave(node: RaftNode): void {
    if (this.#nodes.get(node.peer) === node) this.#nodes.delete(node.peer);
    if (this.#leader === node) this.#leader = undefined;
    this.#disturbing.delete(node);
    this.settle();
  }

  isMember(peer: PeerId): boolean {
    return peer in this.#committed.state.peers;
  }

  /** To be called whenever somebody came, went, or can be reached or no longer be reached. */
  settle(): void {
    const leader = this.#leader;
    for (const node of this.#nodes.values()) {
      node.noteSilence(this.#nodes);
      if (node === leader) continue;
      if (leader && this.isMember(node.peer) && leader.reaches(node)) node.hear(leader);
      else node.loseLeader();
    }
    if (!leader) return;
    this.#promote(leader);
    this.flushSoon(leader);
  }

  /** Who joined and has caught up gets a vote. Until then nobody waits for it: if it dies, nothing is lost. */
  #promote(leader: RaftNode): void {
    const { state, index } = this.#committed;
    for (const peer of state.learners ?? []) {
      const node = this.#nodes.get(peer);
      const hasHeard = node?.leader === leader.peer && node.record.applied.index === index;
      if (node && hasHeard && leader.reaches(node)) leader.append({ do: 'promote-peer', peer });
    }
  }

  /** A node has heard nothing from a leader for too long. */
  campaign(node: RaftNode): void {
    if (this.#leader?.reaches(node) && this.isMember(node.peer)) return;
    if (!this.isMember(node.peer)) return this.#disturb(node);
    if (isLearner(this.#committed.state, node.peer)) return;
    const near = this.#near(node);
    if (!this.#isMajority(near)) return node.stand();
    // Raft elects nobody whose log is behind that of a voter: what one leader alone had accepted wins if it is there.
    const best = Math.max(...near.map((one) => one.logLength));
    this.#elect(near.filter((one) => one.logLength === best));
  }

  #elect(candidates: readonly RaftNode[]): void {
    const winner = candidates[Math.floor(this.#random() * candidates.length)];
    if (!winner) return;
    this.#term++;
    this.#leader = winner;
    winner.lead();
    winner.store(this.#committed, 0);
    this.settle();
  }

  /** A removed peer that does not know it asks for votes again and again: its terms unseat whoever leads. */
  #disturb(node: RaftNode): void {
    node.stand();
    if (this.#disturbing.has(node)) return;
    this.#disturbing.add(node);
    const disturb = () => {
      if (!this.#disturbing.has(node)) return;
      const leader = this.#leader;
      if (leader?.reaches(node)) {
        this.#term++;
        const near = this.#near(leader);
        if (this.#isMajority(near)) this.#elect(near.filter((one) => one.logLength === leader.logLength));
      }
      this.#clock.after(within(PACE.disturbance, this.#random), disturb);
    };
    this.#clock.after(within(PACE.disturbance, this.#random), disturb);
  }

  /** A node and the voters that it reaches. */
  #near(node: RaftNode): readonly RaftNode[] {
    return [...this.#nodes.values()].filter(
      (one) => this.#isVoter(one) && !one.isStopped && (one === node || node.reaches(one)),
    );
  }

  #isMajority(nodes: readonly RaftNode[]): boolean {
    return nodes.length * 2 > votersIn(this.#committed.state).length;
  }

  #isVoter({ peer }: RaftNode): boolean {
    return this.isMember(peer) && !isLearner(this.#committed.state, peer);
  }

  flushSoon(leader: RaftNode): void {
    if (leader.tail.length > 0) {
      this.#clock.after(within(PACE.commit, this.#random), () => this.#flush(leader));
    }
  }

  /** Agrees on what the leader has accepted, if a majority is there for it. */
  #flush(leader: RaftNode): void {
    while (leader === this.#leader && this.#committed.broken === undefined && this.#isMajority(this.#near(leader))) {
      const item = leader.shiftTail();
      if (!item) return;
      this.#commit(leader, item);
    }
  }

  #commit(leader: RaftNode, { entry, proposal }: LogItem): void {
    const { index, state } = this.#committed;
    const applied = apply(state, entry);
    this.#committed =
      applied.is === 'broken'
        ? {
            index: index + 1,
            state,
            broken: `Failed to apply collection meta operation entry: Service internal error: ${applied.because}`,
          }
        : { index: index + 1, state: applied.state };
    proposal?.decide(index + 1, verdictOf(applied));
    for (const node of this.#nodes.values()) {
      const isConcerned = node.peer in state.peers || this.isMember(node.peer);
      if (node === leader) node.store(this.#committed, 0);
      else if (isConcerned && leader.reaches(node)) node.store(this.#committed, within(PACE.follow, this.#random));
      else node.miss(index + 1);
    }
  }
}

function verdictOf(applied: ReturnType<typeof apply>): Verdict {
  switch (applied.is) {
    case 'done':
      return { is: 'done', value: applied.value };
    case 'refused':
      return { is: 'refused', refusal: applied.refusal };
    case 'broken':
      return { is: 'broken', because: applied.because };
  }
}
