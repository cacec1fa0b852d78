import { PACE } from '../pace.ts';
import { type Collection, type Entry, peersIn, type Shard } from '../state/index.ts';
import { shardName } from './local-shard.ts';
import type { Peer } from './peer.ts';

/** What a peer does for its own replicas, unasked: new ones become active, those that missed something are filled again. */
export class Caretaker {
  readonly #peer: Peer;
  #isLooking = false;

  constructor(peer: Peer) {
    this.#peer = peer;
  }

  /** Looks soon, and again for as long as something is left to do. */
  look(): void {
    if (this.#isLooking || !this.#hasWork()) return;
    this.#isLooking = true;
    void this.#work();
  }

  async #work(): Promise<void> {
    while (this.#hasWork()) {
      await this.#peer.pause(PACE.look);
      await this.#peer.whileHung();
      if (!this.#peer.isUp) return;
      await Promise.all(this.#due().map((entry) => this.#peer.propose(entry)));
    }
    this.#isLooking = false;
  }

  #hasWork(): boolean {
    const { isUp, node, id } = this.#peer;
    return isUp && !node.isStopped && this.#own().some(({ shard }) => shard.replicas[id] !== 'Active');
  }

  #own(): readonly { readonly collection: Collection; readonly shard: Shard }[] {
    const { view, id } = this.#peer;
    return Object.values(view.collections).flatMap((collection) =>
      collection.shards.filter(({ replicas }) => id in replicas).map((shard) => ({ collection, shard })),
    );
  }

  #due(): readonly Entry[] {
    const { id } = this.#peer;
    const healing = new Set<string>();
    return this.#own().flatMap(({ collection, shard }): readonly Entry[] => {
      const replica = { collection: collection.name, shard: shard.id, peer: id };
      const isBeingFilled = collection.transfers.some((one) => one.shard === shard.id && one.to === id);
      const state = shard.replicas[id];
      if (state === undefined || isBeingFilled) return [];
      switch (state) {
        case 'Initializing':
          return [{ do: 'set-replica', ...replica, from: 'Initializing', to: 'Active' }];
        // It was being filled by something that is over.
        case 'Partial':
        case 'Recovery':
        case 'ManualRecovery': {
          if (this.#peer.recovering.has(shardName(collection, shard.id))) return [];
          const to = peersIn(shard, 'Active').length > 0 ? 'Dead' : 'Active';
          return [{ do: 'set-replica', ...replica, from: state, to }];
        }
        case 'Dead': {
          const source = healing.has(collection.name) ? undefined : this.#sourceOf(collection, shard);
          if (source === undefined) return [];
          healing.add(collection.name);
          const transfer = { collection: collection.name, shard: shard.id, from: source, to: id } as const;
          return [{ do: 'start-transfer', ...transfer, sync: true, method: 'wal_delta' }];
        }
        case 'Active':
        case 'ActiveRead':
        case 'Listener':
        case 'PartialSnapshot':
        case 'Resharding':
        case 'ReshardingScaleDown':
          return [];
      }
    });
  }

  /** From whom to fill a dead replica. One transfer at a time comes in, and one goes out, for each collection. */
  #sourceOf({ transfers }: Collection, shard: Shard): string | undefined {
    const { id } = this.#peer;
    if (transfers.some((one) => one.to === id || one.shard === shard.id)) return undefined;
    return peersIn(shard, 'Active').find(
      (peer) => this.#peer.reaches(peer) && !transfers.some(({ from }) => from === peer),
    );
  }
}
