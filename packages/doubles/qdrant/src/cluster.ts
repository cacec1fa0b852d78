import { isCallTaken } from './certificates.ts';
import type { Clock } from './clock.ts';
import { ConnectionFailure } from './connection-failure.ts';
import { RaftGroup } from './consensus/index.ts';
import type { Disk, RaftRecord } from './disk.ts';
import type { Faults } from './faults.ts';
import type { Peer } from './peer/index.ts';
import { type Start, startPeer } from './peer/index.ts';
import { exchange, type QdrantRequest, type QdrantResponse } from './rest/index.ts';
import { normalUri, type PeerSettings } from './settings.ts';

export interface ClusterOptions {
  readonly clock: Clock;
  /** 0 <= r < 1. */
  readonly random: () => number;
  /** Gets a snapshot from outside the cluster. Without it, there is no outside. */
  readonly download?: (url: string, headers: Readonly<Record<string, string>>) => Promise<Download>;
}

export interface Download {
  readonly status: number;
  readonly bytes: Uint8Array;
}

export interface LoggedRequest {
  /** In milliseconds. */
  readonly at: number;
  /** The host of the peer. */
  readonly host: string;
  readonly method: string;
  readonly path: string;
  /** None while it is under way, and if the connection was closed without an answer. */
  status?: number;
}

/** Enough for any test; a long-lived cluster must not grow with its traffic. */
const LOG_LENGTH = 10_000;

/**
 * Peers and what is between them: who runs where, who can talk to whom, what is wrong with whom. It is one world rather than
 * one cluster of Qdrant: peers that never heard of each other form clusters of their own in it.
 */
export class Cluster {
  readonly clock: Clock;
  readonly random: () => number;
  readonly download: NonNullable<ClusterOptions['download']>;
  /** By URI. */
  readonly #peers = new Map<string, Peer>();
  readonly #groups = new Map<string, RaftGroup>();
  readonly #faults = new Map<string, Faults>();
  /** Who is on which side; those that no side names are with everybody. */
  #sides = new Map<string, number>();
  readonly #requests: LoggedRequest[] = [];

  constructor({ clock, random, download }: ClusterOptions) {
    this.clock = clock;
    this.random = random;
    this.download = download ?? (async (url) => Promise.reject(new Error(`nothing is known of ${url}`)));
  }

  /** Resolves when the peer serves requests, or has given up. */
  start(settings: PeerSettings, disk: Disk, signal?: AbortSignal): Promise<Start> {
    return startPeer(this, settings, disk, signal);
  }

  /** The process that runs at a URI, if any does. */
  peerAt(uri: string): Peer | undefined {
    return this.#peers.get(normalUri(uri));
  }

  get peers(): readonly Peer[] {
    return [...this.#peers.values()];
  }

  /** In the order in which they came. */
  get requests(): readonly Readonly<LoggedRequest>[] {
    return this.#requests;
  }

  /** Asks a peer by its host. Rejects as a connection does: refused, or closed. */
  async request(host: string, request: QdrantRequest): Promise<QdrantResponse> {
    const { method, path } = request;
    const peer = this.peers.find((one) => one.host === host);
    if (!peer?.isServing || peer.faults.refusesClients)
      throw new ConnectionFailure('ECONNREFUSED', `connect ECONNREFUSED ${host}:6333`);
    const logged: LoggedRequest = { at: this.clock.now(), host, method, path };
    this.#requests.push(logged);
    if (this.#requests.length > LOG_LENGTH) this.#requests.shift();
    const response = await exchange(peer, request);
    logged.status = response.status;
    return response;
  }

  faultsOf(uri: string): Faults {
    return this.#faults.get(normalUri(uri)) ?? {};
  }

  /** From now on, these and no others. */
  setFaults(uri: string, faults: Faults): void {
    this.#faults.set(normalUri(uri), faults);
    this.settle();
    this.peerAt(uri)?.wake();
  }

  /** Cuts the network: peers of different sides do not reach each other. Clients reach all of them. */
  partition(...sides: readonly (readonly string[])[]): void {
    this.#sides = new Map(sides.flatMap((uris, side) => uris.map((uri) => [normalUri(uri), side] as const)));
    this.settle();
  }

  /** Whether what is sent from one URI to another is answered: by somebody who runs, and without a cut between them. */
  connects(from: string, to: string): boolean {
    const [source, target] = [this.peerAt(from), this.peerAt(to)];
    if (!target || this.faultsOf(from).isHung || this.faultsOf(to).isHung) return false;
    if (source && !this.isTaken(source.settings, target.settings)) return false;
    const [one, other] = [this.#sides.get(normalUri(from)), this.#sides.get(normalUri(to))];
    return one === undefined || other === undefined || one === other;
  }

  /** Whether two processes take what they show each other, in both directions: messages go both ways. */
  isTaken(one: PeerSettings, other: PeerSettings): boolean {
    const now = this.clock.now();
    const takes = (from: PeerSettings, to: PeerSettings) =>
      isCallTaken(from.certificates, to.certificates, new URL(to.uri).hostname, now);
    return takes(one, other) && takes(other, one);
  }

  enter(peer: Peer): void {
    this.#peers.set(peer.uri, peer);
  }

  leave(peer: Peer): void {
    if (this.#peers.get(peer.uri) === peer) this.#peers.delete(peer.uri);
    this.settle();
  }

  settle(): void {
    for (const group of this.#groups.values()) group.settle();
  }

  groupOf(record: Pick<RaftRecord, 'group' | 'stored' | 'term'>): RaftGroup {
    const known = this.#groups.get(record.group);
    if (known) return known;
    const group = new RaftGroup(record, this.clock, this.random);
    this.#groups.set(record.group, group);
    return group;
  }

  /**
   * The leader of another group who takes a peer for one of its own, because a member has the same URI. It sends its messages
   * there, and whoever lives there now follows it, into no cluster that both would know of.
   */
  captorOf(peer: Peer): Peer | undefined {
    for (const group of this.#groups.values()) {
      if (group === peer.node.group || !group.leader) continue;
      const isMistaken = Object.entries(group.committed.state.peers).some(
        ([id, uri]) => uri === peer.uri && id !== peer.id,
      );
      const leader = isMistaken ? this.peers.find(({ node }) => node === group.leader) : undefined;
      if (leader && this.connects(leader.uri, peer.uri)) return leader;
    }
    return undefined;
  }
}
