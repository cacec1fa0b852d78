import { sleep } from '../clock.ts';
import type { PointOperation } from '../disk.ts';
import { PACE, within } from '../pace.ts';
import type { ClusterState, Transfer, TransferKey } from '../state/index.ts';
import { shardName } from './local-shard.ts';
import type { Peer } from './peer.ts';

interface Sending {
  readonly collection: string;
  readonly shard: string;
  readonly transfer: Transfer;
  readonly since: number;
  phase: 'transferring' | 'waiting consensus' | 'finalizing';
}

/** Carries out the transfers of which this peer is the source. */
export class Sender {
  readonly #peer: Peer;
  /** By their serial. */
  readonly #sending = new Map<number, Sending>();

  constructor(peer: Peer) {
    this.#peer = peer;
  }

  /** What its former life had begun to send, nobody sends any more. */
  begin(): void {
    for (const { collection, transfer } of this.#own(this.#peer.view))
      void this.#abort(collection, transfer, PACE.transferOrphaned);
  }

  follow(before: ClusterState, after: ClusterState): void {
    const known = new Set(this.#own(before).map(({ transfer }) => transfer.serial));
    for (const { collection, serial, transfer } of this.#own(after)) {
      if (known.has(transfer.serial)) continue;
      const shard = shardName({ serial }, transfer.shard);
      void this.#send({ collection, shard, transfer, since: this.#peer.clock.now(), phase: 'transferring' });
    }
  }

  /** What is written here after the copy was made goes to its target as well, whoever wrote it. */
  forward(shard: string, operation: PointOperation): void {
    for (const { transfer, phase, shard: sent } of this.#sending.values()) {
      if (sent !== shard || phase !== 'finalizing' || !this.#peer.reaches(transfer.to)) continue;
      const target = this.#peer.cluster.peers.find(({ id }) => id === transfer.to);
      if (target?.disk.points(shard)) target.disk.write(shard, operation);
    }
  }

  /** What users see of a transfer at its source. */
  comment({ serial }: Transfer): string | undefined {
    const sending = this.#sending.get(serial);
    if (!sending) return undefined;
    return `${sending.phase} (${((this.#peer.clock.now() - sending.since) / 1_000).toFixed(2)}s)`;
  }

  async #send(sending: Sending): Promise<void> {
    const { collection, shard, transfer } = sending;
    const { clock, random } = this.#peer;
    this.#sending.set(transfer.serial, sending);
    const points = this.#peer.disk.points(shard)?.size ?? 0;
    await sleep(clock, within(PACE.transfer, random) + points * PACE.transferPoint);
    await this.#peer.whileHung();
    const entry = { collection, ...keyOf(transfer) };
    const isThere = () => this.#isListed(collection, transfer);
    if (isThere() && transfer.method !== 'stream_records')
      await this.#peer.insist({ do: 'recovered-transfer', ...entry }, isThere);
    sending.phase = 'waiting consensus';
    await this.#everybodyKnows();
    if (!this.#peer.isUp || !isThere()) return this.#end(transfer);
    const copied = await this.#peer.call(transfer.to, (target) => {
      const copy = this.#peer.disk.points(shard);
      const { failsTransfers, isDiskFull } = target.faults;
      if (!copy || failsTransfers || isDiskFull || this.#peer.faults.failsTransfers) return false;
      target.disk.putShard(shard, copy);
      sending.phase = 'finalizing';
      return true;
    });
    if (copied.is === 'failed' || !copied.value) return this.#abort(collection, transfer, PACE.transferGivesUp);
    await this.#peer.insist({ do: 'finish-transfer', ...entry }, isThere);
    this.#end(transfer);
  }

  async #abort(collection: string, transfer: Transfer, after: readonly [number, number]): Promise<void> {
    await this.#peer.pause(after);
    await this.#peer.insist({ do: 'abort-transfer', collection, ...keyOf(transfer) }, () =>
      this.#isListed(collection, transfer),
    );
    this.#end(transfer);
  }

  #end({ serial }: Transfer): void {
    this.#sending.delete(serial);
  }

  /**
   * Whoever coordinates writes must know of the new replica before it counts, or would leave it out. So the end of a transfer
   * waits for every peer that could write here.
   */
  async #everybodyKnows(): Promise<void> {
    const { applied, group } = this.#peer.node.record;
    const isBehind = () =>
      this.#peer.cluster.peers.some(
        ({ id, node }) =>
          node.group.id === group &&
          node.group.isMember(id) &&
          !node.isStopped &&
          this.#peer.reaches(id) &&
          node.record.applied.index < applied.index,
      );
    while (this.#peer.isUp && isBehind()) await this.#peer.pause(PACE.follow);
  }

  #isListed(collection: string, { serial }: Transfer): boolean {
    return this.#own(this.#peer.view).some((one) => one.collection === collection && one.transfer.serial === serial);
  }

  #own(
    state: ClusterState,
  ): readonly { readonly collection: string; readonly serial: number; readonly transfer: Transfer }[] {
    return Object.values(state.collections).flatMap(({ name, serial, transfers }) =>
      transfers
        .filter(({ from }) => from === this.#peer.id)
        .map((transfer) => ({ collection: name, serial, transfer })),
    );
  }
}

const keyOf = ({ serial, shard, from, to }: Transfer): TransferKey => ({ serial, shard, from, to });
