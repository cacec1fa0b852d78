import { sleep } from '../clock.ts';
import { PACE } from '../pace.ts';
import { shardsOf } from '../state/index.ts';
import type { Peer } from './peer.ts';

/**
 * What `/readyz` says. It is a gate for starting and no more: true once means true for the life of the process, whatever
 * happens to it. It gets further only when it is asked, so that the first answer is no even when all is well.
 */
export class Readiness {
  readonly #peer: Peer;
  #isReady = false;
  #wasAsked = false;

  constructor(peer: Peer) {
    this.#peer = peer;
  }

  async ask(): Promise<boolean> {
    if (this.#isReady) return true;
    const hasCompany = Object.keys(this.#peer.view.peers).length > 1;
    this.#isReady = (this.#wasAsked || !hasCompany) && this.#isCaughtUp() && this.#hasItsShards();
    this.#wasAsked = true;
    if (!this.#isReady) await sleep(this.#peer.clock, PACE.notReady);
    return this.#isReady;
  }

  /** With whom it can reach. Whether anybody leads is not asked. */
  #isCaughtUp(): boolean {
    const { node, cluster } = this.#peer;
    if (node.isStopped) return true;
    const near = cluster.peers.filter((one) => one.node.group === node.group && this.#peer.reaches(one.id));
    return near.every((one) => one.node.record.applied.index <= node.record.applied.index);
  }

  #hasItsShards(): boolean {
    const { view, id } = this.#peer;
    return shardsOf(view).every(({ shard }) => (shard.replicas[id] ?? 'Active') === 'Active');
  }
}
