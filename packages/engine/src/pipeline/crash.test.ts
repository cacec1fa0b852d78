import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Message, Origin } from '../message.ts';
import { MemorySink, MemorySource, MemoryTopic, Rig, refuse, to, VirtualClock } from '../testing/index.ts';

/**
 * What a program that is killed leaves: the tables of its sinks and the committed positions of its source. Every call that
 * reaches one of them is a point at which it can die, just before the effect or just after.
 */
class World {
  readonly topic: MemoryTopic;
  readonly main: Message[] = [];
  readonly route: Message[] = [];
  readonly errors: Message[] = [];
  /** Effects until the next death. */
  #left = Number.POSITIVE_INFINITY;
  #committedAtStart = new Map<string, number>();

  constructor(partitions: Readonly<Record<string, readonly string[]>>) {
    this.topic = new MemoryTopic(partitions);
  }

  /** Runs the program until it dies at its n-th effect, or ends. True: it ended. */
  async live(effects: number, moods: readonly string[]): Promise<boolean> {
    const clock = new VirtualClock();
    this.#left = effects;
    this.#committedAtStart = new Map(this.topic.committed);
    const left = [...moods];
    const sinkOf = (table: Message[]) =>
      new MemorySink(
        {
          write: async (batch) => {
            await this.#effect();
            const mood = left.shift();
            if (mood === 'throw') throw new Error('connection reset');
            const again = mood === 'again' ? batch.slice(0, 2) : [];
            const rest = table === this.errors ? [] : batch.slice(again.length);
            return [...refuse(again, () => true, true), ...refuse(rest, (text) => text.startsWith('refused'))];
          },
          wrote: async (batch) => {
            this.#onlyUncommitted(batch);
            await this.#effect();
          },
        },
        table,
      );
    const commit = async (origins: readonly Origin[]) => {
      await this.#effect();
      this.#onlyWritten(origins);
    };
    const rig = new Rig({
      clock,
      source: new MemorySource({ topic: this.topic, clock, faults: { commit }, batchSize: 7 }),
      sink: to(sinkOf(this.main)),
      routes: new Map([['eu', to(sinkOf(this.route), { size: 3 })]]),
      errors: { ...to(sinkOf(this.errors), { size: 2 }), ackPolicy: 'afterWrite' },
      limits: { bufferedMessages: 10, uncommitted: 25 },
      commitIntervalMs: 20,
      retry: { firstMs: 10, longestMs: 100 },
    });
    await clock.runUntil(() => rig.isOver || this.#left < 0, 3_600_000);
    if (rig.error !== undefined) throw rig.error;
    return rig.isOver;
  }

  /** Dead: neither this nor anything after it takes effect, and nobody gets an answer. */
  async #effect(): Promise<void> {
    if (this.#left-- <= 0) await new Promise<never>(() => {});
  }

  #onlyWritten(origins: readonly Origin[]): void {
    for (const { partition, position } of origins) {
      const texts = this.topic.partitions.get(partition)?.slice(0, Number(position) + 1) ?? [];
      for (const [at, { text }] of texts.entries()) {
        const found = new Set(this.durable.filter(isFrom(partition, at)).map(identityOf));
        if (found.size < outputsOf(text))
          throw new Error(`${partition}/${at} was committed, but ${text} is not written`);
      }
    }
  }

  #onlyUncommitted(batch: readonly Message[]): void {
    for (const { origin } of batch) {
      const committed = this.#committedAtStart.get(origin.partition) ?? 0;
      if (Number(origin.position) < committed)
        throw new Error(`${origin.partition}/${Number(origin.position)} was committed before`);
    }
  }

  get durable(): readonly Message[] {
    return [...this.main, ...this.route, ...this.errors];
  }
}

const isFrom = (partition: string, position: number) => (message: Message) =>
  message.origin.partition === partition && message.origin.position === position;

/** Of several outputs of one input, which one. */
const identityOf = ({ payload }: Message) => payload?.text.replace(/"timestamp":"[^"]*"/, '') ?? '';

function outputsOf(text: string): number {
  if (text.startsWith('drop')) return 0;
  return text.startsWith('split') ? text.split(' ').length - 1 : 1;
}

const word = fc.constantFrom('plain', 'drop', 'split x y z', 'split', 'break', 'refused', 'route eu', 'split break w');

const arbitraryWorld = fc.record({
  partitions: fc.record({ a: fc.array(word, { maxLength: 40 }), b: fc.array(word, { maxLength: 40 }) }),
  lives: fc.array(fc.nat(30), { maxLength: 8 }),
  moods: fc.array(fc.constantFrom('ok', 'ok', 'throw', 'again'), { maxLength: 30 }),
});

test('killed at any write or commit, again and again: everything arrives, nothing is committed before it is written', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryWorld, async ({ partitions, lives, moods }) => {
      const world = new World(partitions);
      for (const effects of lives) await world.live(effects, moods);
      expect(await world.live(Number.POSITIVE_INFINITY, moods)).toBe(true);
      expect(world.topic.isCommitted || Object.values(partitions).every((texts) => texts.length === 0)).toBe(true);
      for (const [partition, texts] of Object.entries(partitions)) {
        for (const [at, text] of texts.entries()) {
          const found = new Set(world.durable.filter(isFrom(partition, at)).map(identityOf));
          expect([partition, at, found.size]).toEqual([partition, at, outputsOf(text)]);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('without a death nothing is written twice, whatever a sink does before it has written', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryWorld, async ({ partitions, moods }) => {
      const world = new World(partitions);
      await world.live(Number.POSITIVE_INFINITY, moods);
      const outputs = Object.values(partitions).flatMap((texts) => texts.map(outputsOf));
      expect(world.durable.length).toBe(outputs.reduce((sum, count) => sum + count, 0));
    }),
  );
});

test('killed at every single point in turn', async () => {
  const texts = ['plain', 'split x y z', 'drop', 'break', 'route eu', 'refused', 'plain', 'plain', 'route eu', 'plain'];
  for (let effects = 0; ; effects++) {
    const world = new World({ a: texts, b: texts.toReversed() });
    const hasEnded = await world.live(effects, []);
    expect(await world.live(Number.POSITIVE_INFINITY, [])).toBe(true);
    const found = (partition: string, at: number) =>
      new Set(world.durable.filter(isFrom(partition, at)).map(identityOf)).size;
    expect(texts.map((_, at) => found('a', at))).toEqual(texts.map(outputsOf));
    expect(texts.map((_, at) => found('b', at))).toEqual(texts.map(outputsOf).toReversed());
    if (!hasEnded) continue;
    expect(effects).toBeGreaterThan(10);
    break;
  }
});
