import type { Message } from '../message.ts';

/** When messages that wait are written together. */
export interface Batching {
  /** So many fill a batch. 0: only time does (`batchSize: 0`). */
  readonly size: number;
  /** So many bytes do, whatever their number. One message that is larger is a batch of its own. */
  readonly bytes: number;
  /** A batch that is not full goes after this long. 0: there is no timer (`batchFlushIntervalSeconds: 0`). */
  readonly flushIntervalMs: number;
}

/** Without a timer a batch may wait to be filled, but not for ever: a source can fall silent for days. */
export const LONGEST_WAIT_MS = 60_000;

export interface Batch {
  readonly messages: readonly Message[];
  readonly bytes: number;
  /** How long its first message waited. */
  readonly waitedMs: number;
}

/** Messages that wait for their sink, first come first served, cut into batches. Holds no timer: it says when to look again. */
export class Batcher {
  readonly #batching: Batching;
  readonly #patienceMs: number;
  #waiting: Waiting[] = [];
  /** Everything before this index was taken. */
  #head = 0;
  #bytes = 0;
  /** So many go without being asked whether they fill a batch. */
  #flushed = 0;

  constructor(batching: Batching) {
    this.#batching = batching;
    const { size, flushIntervalMs } = batching;
    // Neither size nor time is to be waited for: what is there goes.
    this.#patienceMs = flushIntervalMs > 0 ? flushIntervalMs : size > 0 ? LONGEST_WAIT_MS : 0;
  }

  get size(): number {
    return this.#waiting.length - this.#head;
  }

  get isFull(): boolean {
    const { size, bytes } = this.#batching;
    return (size > 0 && this.size >= size) || this.#bytes >= bytes;
  }

  /** When a batch is to be taken, on the clock of `push`. Undefined: nothing waits. */
  get dueAt(): number | undefined {
    const first = this.#waiting[this.#head];
    if (first === undefined) return undefined;
    return this.isFull || this.#flushed > 0 ? first.since : first.since + this.#patienceMs;
  }

  push(message: Message, bytes: number, now: number): void {
    this.#waiting.push({ message, bytes, since: now });
    this.#bytes += bytes;
  }

  /** What waits now is due now. */
  flush(): void {
    this.#flushed = this.size;
  }

  /** Takes out those that nobody is to write any more. */
  discard(isGone: (message: Message) => boolean): { readonly messages: number; readonly bytes: number } {
    const waiting = this.#waiting.slice(this.#head);
    const kept = waiting.filter(({ message }) => !isGone(message));
    const bytes = kept.reduce((sum, one) => sum + one.bytes, 0);
    const discarded = { messages: waiting.length - kept.length, bytes: this.#bytes - bytes };
    this.#waiting = kept;
    this.#head = 0;
    this.#bytes = bytes;
    this.#flushed = Math.min(this.#flushed, kept.length);
    return discarded;
  }

  /** The next batch, due or not. */
  take(now: number): Batch {
    const { size, bytes: limit } = this.#batching;
    const messages: Message[] = [];
    const since = this.#waiting[this.#head]?.since ?? now;
    let bytes = 0;
    for (;;) {
      const next = this.#waiting[this.#head];
      if (next === undefined || (size > 0 && messages.length >= size)) break;
      if (messages.length > 0 && bytes + next.bytes > limit) break;
      messages.push(next.message);
      bytes += next.bytes;
      this.#head++;
    }
    this.#bytes -= bytes;
    this.#flushed = Math.max(0, this.#flushed - messages.length);
    // Amortised: what is copied is at most what was taken.
    if (this.#head * 2 >= this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#head);
      this.#head = 0;
    }
    return { messages, bytes, waitedMs: now - since };
  }
}

interface Waiting {
  readonly message: Message;
  readonly bytes: number;
  readonly since: number;
}
