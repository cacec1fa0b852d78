import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { Admin } from '@platformatic/kafka';
import { describe, expect, inject, test } from 'vitest';
import { committed, createTopic, readAll } from '../../../../../tools/kafka/topics.ts';
import type { Message, Origin } from '../../message.ts';
import { connectedSink, connectedSource, isMessage, numbered } from './fixture.ts';
import type { KafkaSource } from './source.ts';

const { plaintext: broker } = inject('kafka');

/** A reader that takes note of what it was given, commits some time after, and knows what it handed in. */
class Member {
  readonly seen: Message[] = [];
  readonly revoked: string[] = [];
  /** The next offset after what was handed in, by partition. */
  readonly handedIn = new Map<string, number>();
  readonly #source: KafkaSource;
  readonly #stopping = new AbortController();
  readonly #reading: Promise<void>;

  constructor(source: KafkaSource) {
    this.#source = source;
    this.#reading = this.#read();
  }

  get partitions(): ReadonlySet<string> {
    return new Set(this.seen.map(({ origin }) => origin.partition));
  }

  async leave(): Promise<void> {
    this.#stopping.abort();
    await this.#reading;
    await this.#source.close();
  }

  async #read(): Promise<void> {
    const revoked = (partitions: readonly string[]) => void this.revoked.push(...partitions);
    for await (const batch of this.#source.read(this.#stopping.signal, { revoked })) {
      const last = new Map<string, Origin>();
      for (const input of batch.filter(isMessage)) {
        this.seen.push(input);
        last.set(input.origin.partition, input.origin);
        this.handedIn.set(input.origin.partition, Number(input.metadata['offset']) + 1);
      }
      await this.#source.commit([...last.values()]);
    }
  }
}

async function until(what: string, isSo: () => boolean | Promise<boolean>, ms = 60_000): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`not within ${ms / 1000} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const numbersIn = (members: readonly Member[]) =>
  new Set(members.flatMap(({ seen }) => seen.map(({ payload }) => Number(payload?.text))));

describe('members of one group', () => {
  test('share the partitions when one joins and when it leaves; nothing is lost, and what is committed was handed in', async ({
    signal,
  }) => {
    const topic = await createTopic(broker, 6);
    const config = { brokers: [broker], topic, consumerGroup: topic };
    const sink = await connectedSink(broker, topic, signal);
    let written = 0;
    const write = async (count: number) => {
      expect(await sink.write(numbered(written, count, 100), signal)).toEqual([]);
      written += count;
    };
    await write(2_000);
    const first = new Member(await connectedSource(config, signal));
    await until('the first member reads all of it', () => first.seen.length >= 2_000);
    expect(first.partitions.size).toBe(6);

    // Written while the group rebalances.
    const joining = connectedSource(config, signal);
    for (let i = 0; i < 20; i++) await write(100);
    const second = new Member(await joining);
    await until('half of the partitions are taken from the first', () => first.revoked.length === 3);
    await write(2_000);
    await until('both have read everything', () => numbersIn([first, second]).size === written);
    expect(second.partitions.size).toBe(3);
    expect([...second.partitions].toSorted()).toEqual(first.revoked.toSorted());

    await first.leave();
    await write(1_000);
    await until('the second reads what was the first one’s', () => numbersIn([first, second]).size === written);
    const handedIn = (partition: number) =>
      [first, second].map((member) => member.handedIn.get(`${topic}/${partition}`) ?? -1);
    await until('everything is committed', async () => {
      const offsets = await committed(broker, topic, topic, 6);
      expect(offsets.every((offset, partition) => offset === -1 || handedIn(partition).includes(offset))).toBe(true);
      return offsets.reduce((sum, offset) => sum + offset, 0) === written;
    });
    await Promise.all([second.leave(), sink.close()]);
    // Each member counts what it reads of a partition without a gap, also over a rebalance.
    for (const { seen } of [first, second]) {
      const next = new Map<string, number>();
      for (const { origin } of seen) {
        expect(origin.sequence).toBe(next.get(origin.partition) ?? 0);
        next.set(origin.partition, origin.sequence + 1);
      }
    }
  });

  test('do not commit for a partition that another one has got', async ({ signal }) => {
    const topic = await createTopic(broker, 2);
    const config = { brokers: [broker], topic, consumerGroup: topic };
    const sink = await connectedSink(broker, topic, signal);
    await sink.write(numbered(0, 200, 20), signal);
    const slow = await connectedSource(config, signal);
    const stopping = new AbortController();
    const held: Message[] = [];
    const lost: string[] = [];
    const reading = (async () => {
      const events = { revoked: (partitions: readonly string[]) => void lost.push(...partitions) };
      for await (const batch of slow.read(stopping.signal, events)) held.push(...batch.filter(isMessage));
    })();
    await until('everything is in the hands of the first', () => held.length === 200);
    const other = new Member(await connectedSource(config, signal));
    await until('one partition has gone to the other', () => lost.length === 1 && other.seen.length > 0);
    await until('the other has committed it', async () =>
      (await committed(broker, topic, topic, 2)).some((at) => at > 0),
    );
    const before = await committed(broker, topic, topic, 2);

    // All that the first ever read of both, but not up to the end.
    const origins = [0, 1].flatMap((at) =>
      held.filter(({ origin }) => origin.partition === `${topic}/${at}`).slice(4, 5),
    );
    await slow.commit(origins.map(({ origin }) => origin));
    const gone = Number(lost[0]?.split('/')[1]);
    const after = await committed(broker, topic, topic, 2);
    expect(after[gone]).toBe(before[gone]);
    expect(after[1 - gone]).toBe(5);
    stopping.abort();
    await reading;
    await Promise.all([slow.close(), other.leave(), sink.close()]);
  });

  test('read partitions that a topic gets later', async ({ signal }) => {
    const topic = await createTopic(broker, 1);
    const member = new Member(await connectedSource({ brokers: [broker], topic, consumerGroup: topic }, signal));
    const admin = new Admin({ clientId: 'test', bootstrapBrokers: [broker] });
    await admin.createPartitions({ topics: [{ name: topic, count: 3, assignments: null }], validateOnly: false });
    await admin.close();
    const sink = await connectedSink(broker, topic, signal);
    expect(await sink.write(numbered(0, 300, 30), signal)).toEqual([]);
    await until('all are read', () => member.seen.length === 300);
    expect(member.partitions.size).toBe(3);
    await Promise.all([member.leave(), sink.close()]);
  });
});

test('a copier that is killed again and again loses none of 50,000 messages', { timeout: 240_000 }, async ({
  signal,
}) => {
  const COUNT = 50_000;
  const KILLS = 3;
  const from = await createTopic(broker, 4);
  const to = await createTopic(broker, 4);
  const sink = await connectedSink(broker, from, signal);
  for (let at = 0; at < COUNT; at += 5_000) expect(await sink.write(numbered(at, 5_000, 500), signal)).toEqual([]);
  await sink.close();

  const program = join(import.meta.dirname, 'fixture-copier.ts');
  /** Runs until it has copied so many, then kills it. Resolves with how many it copied and committed. */
  const copy = async (enough: number) => {
    const child: ChildProcess = spawn(process.execPath, [program, broker, from, to], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    let told = 0;
    let rest = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      told = Number(lines.at(-1) ?? told);
      if (told >= enough) child.kill('SIGKILL');
    });
    await ended;
    return told;
  };
  let copied = 0;
  for (let kill = 0; kill < KILLS; kill++) copied += await copy(1 + Math.floor(Math.random() * 10_000));
  await copy(COUNT - copied);
  const values = (await readAll(broker, to)).map(({ value }) => Number(value));
  expect(new Set(values).size).toBe(COUNT);
  // Written twice is what was written and not yet committed when it died: at most one batch of 500 each time.
  expect(values.length - COUNT).toBeLessThanOrEqual(KILLS * 500);
});
