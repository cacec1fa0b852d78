import type { Clock } from '../clock.ts';
import type { Sink } from '../connector.ts';
import { type Logger, messageOf } from '../log.ts';
import type { ErrorType, Failure, Message } from '../message.ts';
import { pause, pauseAfter, unlessAborted } from '../waiting.ts';
import { type Batch, Batcher, type Batching } from './batcher.ts';
import { Bell } from './bell.ts';
import type { Outlet, PipelineEvents } from './events.ts';
import { errorTypeOf } from './failures.ts';
import type { Retry } from './retry.ts';

export interface WriterOptions {
  readonly sink: Sink;
  readonly outlet: Outlet;
  /** The sink is connected already; else the writer does it when the first message comes, and tries again like a write. */
  readonly isConnected: boolean;
  readonly batching: Batching;
  /** So much may wait here or be under way. */
  readonly capacity: Capacity;
  readonly retry: Retry;
  /**
   * What the retry budget is for; left out, it is unlimited. `batch`: each may take that long, so that an outage moves as few
   * messages as possible to the error sink. `outage`: all batches together may, because others wait for this sink.
   */
  readonly budget?: 'batch' | 'outage' | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly on: PipelineEvents;
  /** These are durable. */
  readonly written: (messages: readonly Message[]) => void;
  /** These can't be written; they are the writer's until it resolves. Left out: there is nobody to take them, so it goes on trying. */
  readonly gaveUp?: (failures: readonly Failure[], signal: AbortSignal) => Promise<void>;
}

export interface Capacity {
  readonly messages: number;
  readonly bytes: number;
}

/**
 * Writes to one sink: in the order in which messages came, one batch at a time, each until it is durable or given up on. A
 * batch that threw is written again as a whole; of one that failed in part, only what failed (a sink that reports single
 * retryable failures answers for the order among its messages: Kafka fails whole partitions).
 */
export class Writer {
  readonly outlet: Outlet;
  readonly sink: Sink;
  readonly #options: WriterOptions;
  readonly #batcher: Batcher;
  /** For the loop: something is due, or nothing will come any more. */
  readonly #work: Bell;
  /** For those who have something to write: there may be room. */
  readonly #room: Bell;
  /** What waits and what is being written. */
  #messages = 0;
  #bytes = 0;
  #isConnected: boolean;
  #isEnded = false;
  #isDelivering = false;
  /** Partitions that were lost since the batch under way was taken. */
  readonly #gone = new Set<string>();
  /** When the sink last wrote something, or was given something to write after it had been idle. */
  #progressAt = 0;
  #outage: Outage | undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.outlet = options.outlet;
    this.sink = options.sink;
    this.#isConnected = options.isConnected;
    this.#batcher = new Batcher(options.batching);
    this.#work = new Bell(options.clock);
    this.#room = new Bell(options.clock);
  }

  /** How many messages wait or are being written. */
  get size(): number {
    return this.#messages;
  }

  get hasRoom(): boolean {
    const { messages, bytes } = this.#options.capacity;
    return this.#messages < messages && this.#bytes < bytes;
  }

  /**
   * Waits for room. False: the signal aborted, or nothing was written for as long as an outage may last, and whoever waits
   * should take the message elsewhere rather than hold up the others.
   */
  async room(signal: AbortSignal): Promise<boolean> {
    const { budget, retry, clock } = this.#options;
    while (!this.hasRoom) {
      const patience = budget === 'outage' ? this.#progressAt + retry.budgetMs - clock.monotonic() : undefined;
      if (signal.aborted || (patience !== undefined && patience <= 0)) return false;
      await this.#room.wait(signal, patience);
    }
    return true;
  }

  /** Whoever calls it has looked for room. */
  push(message: Message, bytes: number): void {
    const now = this.#options.clock.monotonic();
    if (this.#messages === 0) this.#progressAt = now;
    const wasEmpty = this.#batcher.size === 0;
    this.#batcher.push(message, bytes, now);
    this.#messages++;
    this.#bytes += bytes;
    // The loop sleeps until the first message has waited long enough; it has to know of that one, and of a batch that is full.
    if (wasEmpty || this.#batcher.isFull || !this.hasRoom) this.#work.ring();
  }

  /** What waits is written without waiting for more. */
  flush(): void {
    this.#batcher.flush();
    this.#work.ring();
  }

  /**
   * The partition has another reader now, who writes what is not committed, and newer things. What waits here is not written
   * any more, nor tried again: it would overwrite them.
   */
  discard(partition: string): void {
    const { messages, bytes } = this.#batcher.discard(({ origin }) => origin.partition === partition);
    this.#messages -= messages;
    this.#bytes -= bytes;
    if (this.#isDelivering) this.#gone.add(partition);
    this.#room.ring();
    this.#work.ring();
  }

  /** Nothing more will be pushed: `run` ends when everything is written. */
  end(): void {
    this.#isEnded = true;
    this.#work.ring();
  }

  /** Until it has ended, or the signal aborts: what is not written then is nobody's, and its input stays uncommitted. */
  async run(signal: AbortSignal): Promise<void> {
    for (let batch = await this.#next(signal); batch !== undefined; batch = await this.#next(signal)) {
      this.#options.on.taken?.(this.outlet, batch.messages.length, batch.waitedMs);
      this.#isDelivering = true;
      await this.#deliver(batch.messages, signal);
      if (signal.aborted) return;
      this.#isDelivering = false;
      this.#gone.clear();
      this.#messages -= batch.messages.length;
      this.#bytes -= batch.bytes;
      this.#room.ring();
    }
  }

  async #next(signal: AbortSignal): Promise<Batch | undefined> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      const { dueAt } = this.#batcher;
      if (dueAt === undefined && this.#isEnded) return undefined;
      const now = clock.monotonic();
      // A batch larger than the room there is would never fill.
      const isDue = dueAt !== undefined && (this.#isEnded || !this.hasRoom || dueAt <= now);
      if (isDue) return this.#batcher.take(now);
      await this.#work.wait(signal, dueAt === undefined ? undefined : dueAt - now);
    }
    return undefined;
  }

  async #deliver(batch: readonly Message[], signal: AbortSignal): Promise<void> {
    const { clock, retry, random, log, on, gaveUp } = this.#options;
    const startedAt = clock.monotonic();
    let pending = batch;
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#attempt(pending, { startedAt, isWhole: pending === batch }, signal);
      if (signal.aborted) return;
      const failures = this.#stillOurs(answer.failures);
      const isSpent = this.#budgetLeft(startedAt) <= 0;
      const again = gaveUp ? failures.filter(({ isRetryable }) => isRetryable && !isSpent) : failures;
      const lost = gaveUp ? failures.filter(({ isRetryable }) => !isRetryable || isSpent) : [];
      if (lost.length > 0) {
        on.gaveUp?.(this.outlet, lost.length);
        log.warn({ outlet: this.outlet.name, messages: lost.length, type: lost[0]?.type }, 'could not write; gave up');
        await gaveUp?.(lost, signal);
      }
      if (signal.aborted || again.length === 0) return;
      const ms = Math.min(pauseAfter(attempt, retry, random), this.#budgetLeft(startedAt));
      const trouble = { type: again[0]?.type, ...('error' in answer && { error: messageOf(answer.error) }) };
      log.warn(
        { outlet: this.outlet.name, messages: again.length, ...trouble, attempt, retryInMs: Math.round(ms) },
        'could not write; trying again',
      );
      await pause(clock, ms, signal);
      pending = this.#stillOurs(again).map(messageIn);
      if (signal.aborted || pending.length === 0) return;
    }
  }

  #stillOurs(failures: readonly Failure[]): readonly Failure[] {
    if (this.#gone.size === 0) return failures;
    return failures.filter(({ message }) => !this.#gone.has(message.origin.partition));
  }

  /** One attempt; what it wrote is told at once. */
  async #attempt(messages: readonly Message[], part: Part, signal: AbortSignal): Promise<Answer> {
    const { clock, on, written, budget } = this.#options;
    const { startedAt, isWhole } = part;
    const attemptAt = clock.monotonic();
    const outage = this.#outage;
    // Of a sink that is down for longer than its budget, not every batch has to find that out again.
    if (outage?.isTotal && budget === 'outage' && this.#budgetLeft(startedAt) <= 0 && attemptAt < outage.probeAt) {
      return { stage: 'write', failures: retryable(messages, outage) };
    }
    const answer = await this.#ask(messages, startedAt, signal);
    const { stage, failures } = answer;
    if (signal.aborted) return answer;
    const durable = failures.length === 0 ? messages : without(messages, failures);
    const trouble = failures.find(({ isRetryable }) => isRetryable);
    if (trouble && !outage) on.disconnected?.({ role: 'sink', outlet: this.outlet });
    if (!trouble && outage) on.connected?.({ role: 'sink', outlet: this.outlet });
    this.#outage = trouble && this.#stillOut(attemptAt, trouble, isWhole && durable.length === 0);
    for (const [type, count] of countByType(failures)) {
      on.failed?.({ stage, outlet: this.outlet, type, messages: count });
    }
    if (durable.length > 0) {
      this.#progressAt = clock.monotonic();
      on.written?.(this.outlet, durable, this.#progressAt - attemptAt);
      written(durable);
    }
    return answer;
  }

  async #ask(messages: readonly Message[], startedAt: number, outer: AbortSignal): Promise<Answer> {
    const { sink, on } = this.#options;
    const attempt = this.#attemptSignal(startedAt, outer);
    let stage: Answer['stage'] = 'connect';
    try {
      if (!this.#isConnected) {
        await unlessAborted(sink.connect(attempt.signal), attempt.signal);
        this.#isConnected = true;
        on.connected?.({ role: 'sink', outlet: this.outlet });
      }
      stage = 'write';
      const failures = await unlessAborted(sink.write(messages, attempt.signal), attempt.signal);
      assertKnown(failures, messages);
      return { stage, failures };
    } catch (error) {
      const failures = retryable(messages, { because: messageOf(error), type: errorTypeOf(error) });
      return { stage, failures, error };
    } finally {
      attempt.release();
    }
  }

  /**
   * Where there is a budget, a sink that does not answer gets no longer than that; but also the last attempt gets a fair time,
   * because a write that is cut off may well be done, and its messages are then in the error sink too.
   */
  #attemptSignal(startedAt: number, outer: AbortSignal): { readonly signal: AbortSignal; release(): void } {
    const { clock, retry, budget } = this.#options;
    if (budget === undefined) return { signal: outer, release() {} };
    const attempt = new AbortController();
    const onAbort = () => attempt.abort(outer.reason);
    outer.addEventListener('abort', onAbort);
    const ms = Math.max(this.#budgetLeft(startedAt), retry.longestMs);
    const timer = clock.after(ms, () => attempt.abort(new TimeoutError(`no answer within ${Math.ceil(ms)} ms`)));
    return {
      signal: attempt.signal,
      release() {
        timer.cancel();
        outer.removeEventListener('abort', onAbort);
      },
    };
  }

  #stillOut(since: number, { because, type }: Failure, isTotal: boolean): Outage {
    const { clock, retry, random } = this.#options;
    const failures = (this.#outage?.failures ?? 0) + 1;
    const probeAt = clock.monotonic() + pauseAfter(failures, retry, random);
    return { since: this.#outage?.since ?? since, failures, isTotal, probeAt, because, type };
  }

  #budgetLeft(startedAt: number): number {
    const { budget, retry, clock } = this.#options;
    if (budget === undefined) return Number.POSITIVE_INFINITY;
    const since = budget === 'outage' ? (this.#outage?.since ?? startedAt) : startedAt;
    return since + retry.budgetMs - clock.monotonic();
  }
}

/** The sink did not do what it was asked for, several times in a row. */
interface Outage {
  readonly since: number;
  readonly failures: number;
  /** It did nothing of the last batch; else it does part of its work, and each batch is worth an attempt. */
  readonly isTotal: boolean;
  /** When it is worth another attempt. */
  readonly probeAt: number;
  readonly because: string;
  readonly type: ErrorType;
}

/** What an attempt is made for: a batch, or what is left of it. */
interface Part {
  readonly startedAt: number;
  readonly isWhole: boolean;
}

interface Answer {
  readonly stage: 'connect' | 'write';
  readonly failures: readonly Failure[];
  /** What was thrown instead of an answer. */
  readonly error?: unknown;
}

class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

const messageIn = (failure: Failure): Message => failure.message;

function retryable(messages: readonly Message[], { because, type }: Pick<Failure, 'because' | 'type'>): Failure[] {
  return messages.map((message) => ({ message, because, type, isRetryable: true }));
}

function without(messages: readonly Message[], failed: readonly Failure[]): readonly Message[] {
  if (failed.length === messages.length) return [];
  const gone = new Set(failed.map(messageIn));
  return messages.filter((message) => !gone.has(message));
}

/** What is not among the failures counts as durable, so a failure that names no message of the batch would lose one. */
function assertKnown(failures: readonly Failure[], messages: readonly Message[]): void {
  if (failures.length === 0) return;
  const known = new Set(messages);
  for (const { message } of failures) {
    if (!known.delete(message)) throw new Error('the sink reported a failure of a message it was not given, or twice');
  }
}

function countByType(failures: readonly Failure[]): Map<ErrorType, number> {
  const counts = new Map<ErrorType, number>();
  for (const { type } of failures) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}
