import fc from 'fast-check';
import { expect, test } from 'vitest';
import { get, isObject, type Json } from '../json/index.ts';
import type { Message, Origin } from '../message.ts';
import { MemorySink, MemorySource, MemoryTopic, Rig, refuse, to, VirtualClock } from '../testing/index.ts';
import { compileTransforms } from '../transforms/index.ts';
import { pause } from '../waiting.ts';

/** What one message of an input is: where it is to go, and what stands in its way. */
interface Item {
  readonly to: 'main' | 'eu' | 'us';
  readonly fate: 'passes' | 'is dropped' | 'can not be cast' | 'is refused';
}

/** `items` are taken apart by `flatten`; none leaves one message, which goes to the main sink. */
interface Input {
  readonly items: readonly Item[];
  readonly isUndecodable: boolean;
}

const TABLES = ['main', 'eu', 'us', 'errors'] as const;
type Table = (typeof TABLES)[number];

/** A write as it goes wrong, and how long it takes: what is written later may be done earlier. */
interface Write {
  readonly mood: 'ok' | 'throws' | 'fails in part' | 'throws when it is done';
  readonly takesMs: number;
}

const TRANSFORMATIONS = compileTransforms(
  [
    { type: 'flatten', config: { field: 'items' } },
    { type: 'filter', config: { condition: '!dropped' } },
    { type: 'cast', config: { spec: { number: 'int64' } } },
    { type: 'router', config: { routes: [{ condition: 'to == eu' }, { condition: 'to == us' }] } },
  ],
  { now: () => 0 },
);

const textOf = ({ items }: Input): string =>
  JSON.stringify({
    items: items.map(({ to, fate }, index) => ({
      index,
      to,
      dropped: fate === 'is dropped',
      number: fate === 'can not be cast' ? 'x' : '5',
      refused: fate === 'is refused',
    })),
  });

/** What has to be durable of an input before it may be committed: `table index`, each. */
function derivedOf({ items, isUndecodable }: Input): readonly string[] {
  if (isUndecodable) return ['errors whole'];
  if (items.length === 0) return ['main whole'];
  return items.flatMap(({ to, fate }, index) => {
    if (fate === 'is dropped') return [];
    return [`${fate === 'passes' ? to : 'errors'} ${index}`];
  });
}

/**
 * What a program that is killed leaves: the tables of its sinks and the committed positions of its source. Every call that
 * reaches one of them is a point at which it can die, just before the effect or just after.
 */
class World {
  readonly inputs: Readonly<Record<string, readonly Input[]>>;
  readonly topic: MemoryTopic;
  readonly tables: Readonly<Record<Table, Message[]>> = { main: [], eu: [], us: [], errors: [] };
  /** Promises that were broken. Told here: what is thrown into a pipeline is one more fault, which it survives. */
  readonly broken: string[] = [];
  /** Effects until the next death. */
  #left = Number.POSITIVE_INFINITY;
  #committedAtStart = new Map<string, number>();

  constructor(inputs: Readonly<Record<string, readonly Input[]>>) {
    this.inputs = inputs;
    const records = ({ isUndecodable, ...input }: Input) => ({
      text: textOf({ ...input, isUndecodable }),
      isUndecodable,
    });
    this.topic = new MemoryTopic(
      Object.fromEntries(Object.entries(inputs).map(([partition, all]) => [partition, all.map(records)])),
    );
  }

  /** Runs the program until it dies at its n-th effect, or ends. True: it ended. */
  async live(effects: number, writes: readonly Write[]): Promise<boolean> {
    const clock = new VirtualClock();
    this.#left = effects;
    this.#committedAtStart = new Map(this.topic.committed);
    const left = [...writes];
    const sinkOf = (table: Table) => {
      let under: Write | undefined;
      return new MemorySink(
        {
          write: async (batch, signal) => {
            under = left.shift();
            await pause(clock, under?.takesMs ?? 0, signal);
            await this.#effect();
            if (under?.mood === 'throws') throw new Error('connection reset');
            const again = under?.mood === 'fails in part' ? batch.slice(0, 2) : [];
            const rest = table === 'errors' ? [] : batch.slice(again.length);
            return [...refuse(again, () => true, true), ...refuse(rest, (text) => text.includes('"refused":true'))];
          },
          wrote: async (batch) => {
            this.#expectUncommitted(batch);
            await this.#effect();
            if (under?.mood === 'throws when it is done') throw new Error('connection reset');
          },
        },
        this.tables[table],
      );
    };
    const rig = new Rig({
      clock,
      source: new MemorySource({
        topic: this.topic,
        clock,
        faults: {
          commit: async (origins) => {
            this.#expectWritten(origins);
            await this.#effect();
          },
        },
        batchSize: 7,
      }),
      transformations: TRANSFORMATIONS,
      sink: to(sinkOf('main')),
      routes: new Map([
        ['to == eu', to(sinkOf('eu'), { size: 3 })],
        ['to == us', to(sinkOf('us'), { size: 1 })],
      ]),
      errors: { ...to(sinkOf('errors'), { size: 2 }), ackPolicy: 'afterWrite' },
      limits: { bufferedMessages: 10, uncommitted: 25 },
      commitIntervalMs: 5,
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

  /** As `table index`, in the order in which they were written. */
  durableOf(partition: string, position: number): readonly string[] {
    return TABLES.flatMap((table) =>
      this.tables[table]
        .filter(({ origin }) => origin.partition === partition && origin.position === position)
        .map((message) => `${table} ${indexOf(message)}`),
    );
  }

  #expectWritten(origins: readonly Origin[]): void {
    for (const { partition, position } of origins) {
      const before = this.inputs[partition]?.slice(0, Number(position) + 1) ?? [];
      for (const [at, input] of before.entries()) {
        const durable = this.durableOf(partition, at);
        const missing = derivedOf(input).filter((one) => !durable.includes(one));
        for (const one of missing) this.broken.push(`${partition}/${at} is committed, and ${one} is not written`);
      }
    }
  }

  #expectUncommitted(batch: readonly Message[]): void {
    for (const { origin } of batch) {
      const committed = this.#committedAtStart.get(origin.partition) ?? 0;
      if (Number(origin.position) < committed)
        this.broken.push(`${origin.partition}/${Number(origin.position)} was committed before, and is written again`);
    }
  }
}

/** Which of the messages of its input it is; in the error sink, by what it was. */
function indexOf({ payload }: Message): string {
  const index = member(member(payload?.json, 'original_message') ?? payload?.json, 'index');
  return typeof index === 'number' ? String(index) : 'whole';
}

const member = (value: Json | undefined, key: string): Json | undefined =>
  isObject(value) ? get(value, key) : undefined;

const item: fc.Arbitrary<Item> = fc.record({
  to: fc.constantFrom('main', 'eu', 'us'),
  fate: fc.oneof(
    { weight: 5, arbitrary: fc.constant('passes' as const) },
    { weight: 3, arbitrary: fc.constantFrom('is dropped', 'can not be cast', 'is refused') },
  ),
});
const input: fc.Arbitrary<Input> = fc.record({
  items: fc.array(item, { maxLength: 4 }),
  isUndecodable: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});
const MOODS = ['ok', 'ok', 'throws', 'fails in part'] as const;
const writesWith = (...moods: readonly Write['mood'][]) =>
  fc.array(fc.record({ mood: fc.constantFrom(...moods), takesMs: fc.nat(50) }), { maxLength: 60 });
const inputs = fc.record({ a: fc.array(input, { maxLength: 30 }), b: fc.array(input, { maxLength: 30 }) });

const expectedOf = (world: World) => Object.entries(world.inputs).map(([, all]) => all.map(derivedOf));
const foundIn = (world: World) =>
  Object.entries(world.inputs).map(([partition, all]) => all.map((_, at) => world.durableOf(partition, at)));
const distinct = (found: readonly (readonly (readonly string[])[])[]) =>
  found.map((partition) => partition.map((some) => [...new Set(some)].toSorted()));

test('killed at any write or commit, again and again: everything arrives where it should, nothing is committed before', async () => {
  const lives = fc.array(fc.nat(30), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(inputs, lives, writesWith(...MOODS, 'throws when it is done'), async (given, deaths, writes) => {
      const world = new World(given);
      for (const effects of deaths) await world.live(effects, writes);
      expect(await world.live(Number.POSITIVE_INFINITY, writes)).toBe(true);
      expect(world.broken).toEqual([]);
      expect(world.topic.isCommitted).toBe(true);
      expect(distinct(foundIn(world))).toEqual(distinct(expectedOf(world)));
    }),
    { numRuns: 300 },
  );
});

test('without a death nothing is written twice, whatever a sink does before it has written', async () => {
  await fc.assert(
    fc.asyncProperty(inputs, writesWith(...MOODS), async (given, writes) => {
      const world = new World(given);
      expect(await world.live(Number.POSITIVE_INFINITY, writes)).toBe(true);
      expect(world.broken).toEqual([]);
      const sorted = foundIn(world).map((partition) => partition.map((some) => some.toSorted()));
      expect(sorted).toEqual(distinct(expectedOf(world)));
    }),
  );
});

test('killed at every single point in turn', async () => {
  const pass = (to: Item['to']): Item => ({ to, fate: 'passes' });
  const all: readonly Input[] = [
    [pass('main')],
    [pass('main'), pass('eu'), pass('us')],
    [{ to: 'main', fate: 'is dropped' } as const],
    [pass('us'), { to: 'eu', fate: 'can not be cast' } as const],
    [],
    [{ to: 'eu', fate: 'is refused' } as const, pass('eu')],
    [pass('main')],
  ].map((items) => ({ items, isUndecodable: false }));
  const partitions = { a: all, b: [{ items: [], isUndecodable: true }, ...all.toReversed()] };
  // The routes take their time, so that later inputs are done before earlier ones.
  const writes = Array.from({ length: 40 }, (_, n): Write => ({ mood: 'ok', takesMs: (n * 7) % 23 }));
  for (let effects = 0; ; effects++) {
    const world = new World(partitions);
    const hasEnded = await world.live(effects, writes);
    expect(await world.live(Number.POSITIVE_INFINITY, writes)).toBe(true);
    expect(world.broken).toEqual([]);
    expect(distinct(foundIn(world))).toEqual(distinct(expectedOf(world)));
    if (!hasEnded) continue;
    expect(effects).toBeGreaterThan(10);
    break;
  }
});
