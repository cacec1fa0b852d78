/**
 * Whatever happens that does not destroy data by design: what two of three replicas acknowledged is still there when all is well
 * again. One is not enough: a peer that hung does not know for a moment that its replicas were given up, and acknowledges writes
 * to nobody but itself, which are gone when it is filled again.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { World } from './world.ts';

const PEERS = [0, 1, 2, 3];
const SHARDS = [0, 1];

const peer = fc.constantFrom(...PEERS);
const shard = fc.constantFrom(...SHARDS);
const event = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ do: fc.constant('write' as const), at: peer, count: fc.integer({ min: 1, max: 5 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 6_000 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('kill' as const), at: peer }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('start' as const), at: peer }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('hang' as const), at: peer }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cut' as const), at: peer }) },
  { weight: 4, arbitrary: fc.constant({ do: 'heal' as const }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('move' as const), shard, from: peer, to: peer }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('replicate' as const), shard, from: peer, to: peer }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('abort' as const), shard, from: peer, to: peer }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail-transfers' as const), at: peer }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('late' as const), at: peer }) },
);
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

/** Carries out events one after the other, and remembers what was acknowledged. */
class Course {
  readonly world: World;
  readonly acknowledged = new Set<number>();
  #next = 1;

  constructor(world: World) {
    this.world = world;
  }

  async meet(event: Event): Promise<void> {
    const { world } = this;
    switch (event.do) {
      case 'write':
        return this.#write(event.at, event.count);
      case 'wait':
        return world.rest(event.ms);
      case 'kill':
        return world.kill(event.at);
      case 'start':
        if (!this.#isUp(event.at)) await world.start(event.at);
        return;
      case 'hang':
        return world.cluster.setFaults(world.uri(event.at), { isHung: true });
      case 'cut':
        return world.cluster.partition(
          [world.uri(event.at)],
          PEERS.filter((at) => at !== event.at).map((at) => world.uri(at)),
        );
      case 'heal':
        return this.heal();
      case 'fail-transfers':
        return world.cluster.setFaults(world.uri(event.at), { failsTransfers: true });
      case 'late':
        return world.cluster.setFaults(world.uri(event.at), { consensus: 'late' });
      case 'move':
        // Onto a peer that has the shard, the server would take a replica away without a word.
        return this.#operate('move_shard', event, !this.#holds(event.shard, event.to));
      case 'replicate':
        return this.#operate('replicate_shard', event, !this.#holds(event.shard, event.to));
      case 'abort':
        return this.#operate('abort_transfer', event, true);
    }
  }

  heal(): void {
    for (const at of PEERS) this.world.cluster.setFaults(this.world.uri(at), {});
    this.world.cluster.partition();
  }

  #isUp(at: number): boolean {
    return this.world.cluster.peerAt(this.world.uri(at)) !== undefined;
  }

  /** As the one that knows most says; nobody knows more than was agreed on. */
  #holds(shard: number, at: number): boolean {
    return this.world.cluster.peers.some(({ node }) => {
      const replicas = node.group.committed.state.collections['a']?.shards[shard]?.replicas;
      return replicas !== undefined && this.world.id(at) in replicas;
    });
  }

  /** Clients are sent to peers that were ready, as a Service sends them. */
  async #write(at: number, count: number): Promise<void> {
    const { world } = this;
    if (!this.#isUp(at) || world.peer(at).faults.isHung || !(await this.#isReady(at))) return;
    const numbers = Array.from({ length: count }, () => this.#next++);
    const asked = await world.upsert(at, 'a', numbers).catch(() => undefined);
    if (asked?.status === 200) for (const number of numbers) this.acknowledged.add(number);
  }

  async #isReady(at: number): Promise<boolean> {
    for (const _ of [1, 2]) {
      const asked = await this.world.ask(at, 'GET', '/readyz').catch(() => undefined);
      if (asked?.status === 200) return true;
    }
    return false;
  }

  async #operate(
    operation: string,
    { shard, from, to }: { shard: number; from: number; to: number },
    isSafe: boolean,
  ): Promise<void> {
    const { world } = this;
    const at = PEERS.find((one) => this.#isUp(one) && !world.peer(one).faults.isHung);
    if (at === undefined || from === to || !isSafe) return;
    const ids = { shard_id: shard, from_peer_id: BigInt(world.id(from)), to_peer_id: BigInt(world.id(to)) };
    await world.operate(at, 'a', { [operation]: ids }, 2).catch(() => undefined);
  }
}

test('points that two of three replicas acknowledged survive crashes, cuts, hangs, and transfers that come and go', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer(),
      fc.array(event, { minLength: 20, maxLength: 80, size: 'max' }),
      async (seed, events) => {
        const world = await World.of(PEERS.length, seed);
        await world.create(0, 'a', { shard_number: SHARDS.length, replication_factor: 3, write_consistency_factor: 2 });
        await world.rest(2_000);
        const course = new Course(world);
        for (const event of events) await course.meet(event);
        course.heal();
        for (const at of PEERS) if (!world.cluster.peerAt(world.uri(at))) await world.start(at);
        await world.rest();
        await world.until(() => world.isHealed(...PEERS), 300_000);
        for (const shard of SHARDS) {
          const replicas = world.holders(0, 'a', shard).map((at) => world.points(at, 'a', shard));
          const own = new Set(replicas.flat().filter((number) => course.acknowledged.has(number)));
          for (const replica of replicas) expect(own.difference(new Set(replica))).toEqual(new Set());
        }
        for (const at of PEERS) {
          expect(course.acknowledged.difference(new Set(await world.numbers(at, 'a')))).toEqual(new Set());
        }
      },
    ),
    { numRuns: 60 },
  );
});
