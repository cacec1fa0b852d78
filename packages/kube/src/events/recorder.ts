import { ApiError, type Client, isNotFound, isTooManyRequests } from '../client/index.ts';
import { type Clock, sleep, type Timer } from '../clock/index.ts';
import { EventsV1Event, type KubernetesObject, keyOf } from '../kinds/index.ts';
import { type Logger, messageOf } from '../log.ts';
import { WorkQueue } from '../queue/index.ts';
import { type Happening, newEvent, objectionTo, objectKey, type Reporter, seriesKey, similarityKey } from './event.ts';
import { ObjectLimit, Similarity } from './limits.ts';
import { microTime } from './micro-time.ts';

export interface EventRecorderOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** 0 <= r < 1. Makes names unlike each other and spreads attempts. */
  readonly random: () => number;
  readonly log: Logger;
  readonly reporter: Reporter;
}

const WRITERS = 8;
/** More than this many events unwritten, and new ones are dropped: telling must never cost the teller its memory. */
const MOST_UNWRITTEN = 1000;
const MOST_TRIES = 12;
const RETRY_MS = 10_000;
const HOUSEKEEPING_MS = 60_000;
/** A series is over when it was not seen again for this long. */
const SILENCE_MS = 6 * 60_000;
/** A series that goes on is written this often, or it would look over (and the server would forget it after an hour). */
const REFRESH_MS = 30 * 60_000;

/** One happening and its repetitions. What has to be written is what the server does not know yet. */
interface Series {
  event: EventsV1Event;
  count: number;
  lastAt: number;
  /** How many of them the server knows of. */
  written: number;
  writtenAt: number;
  tries: number;
}

/**
 * Tells people what a controller did, by Events beside the object (`kubectl describe`, `kubectl events`). Telling is best
 * effort: `record` never waits and never fails, and what can't be written is dropped. Record transitions, not passes.
 *
 * The first repetition turns an event into a series; further ones are counted here and written when the series ends, every
 * half hour, and on `flush`.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #series = new Map<string, Series>();
  /** Keys of series with something to write; the queue keeps two writers from the same one. */
  readonly #unwritten = new Set<string>();
  readonly #queue: WorkQueue;
  readonly #limit = new ObjectLimit();
  readonly #similarity = new Similarity();
  readonly #stop = new AbortController();
  readonly #writers: Promise<void>[];
  #housekeeping: Timer | undefined;
  #whenWritten: (() => void)[] = [];
  #dropped = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({ clock: options.clock });
    this.#writers = Array.from({ length: WRITERS }, () => this.#write());
  }

  record(regarding: KubernetesObject, happening: Happening): void {
    if (this.#stop.signal.aborted) return;
    const objection = objectionTo(happening);
    if (objection !== undefined) {
      this.#options.log.error({ object: keyOf(regarding.metadata), because: objection }, 'event not recorded');
      return;
    }
    const series = seriesKey(regarding, happening);
    const group = similarityKey(regarding, happening);
    const now = this.#options.clock.monotonic();
    if (!this.#similarity.isTooMuch(group, series, now)) return this.#take(series, regarding, happening);
    const { related: _, ...rest } = happening;
    const note = `(combined from similar events): ${happening.note}`;
    this.#take(`combined ${group}`, regarding, { ...rest, note });
  }

  /** Waits until everything told so far is written, counts of series included, but no longer than this. */
  async flush(timeoutMs: number): Promise<void> {
    for (const [key, series] of this.#series) if (series.count > series.written) this.#enqueue(key);
    if (this.#unwritten.size === 0) return;
    const done = new AbortController();
    const written = new Promise<void>((resolve) => this.#whenWritten.push(resolve));
    const timeout = sleep(this.#options.clock, timeoutMs, done.signal).catch(() => {});
    await Promise.race([written, timeout]);
    done.abort();
  }

  /** Drops what is not written (`flush` first) and leaves no timer and no request behind. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the event recorder was stopped'));
    this.#housekeeping?.cancel();
    this.#queue.close();
    await Promise.all(this.#writers);
  }

  #take(key: string, regarding: KubernetesObject, happening: Happening): void {
    const { clock, random, reporter } = this.#options;
    const now = clock.now();
    const known = this.#series.get(key);
    if (known) {
      known.count++;
      known.lastAt = now;
      // The second one is written, so that it shows; the others wait for the next occasion.
      if (known.count === 2) this.#enqueue(key);
      return;
    }
    if (!this.#limit.take(objectKey(regarding), clock.monotonic())) return;
    const suffix = now.toString(16) + Math.floor(random() * 2 ** 32).toString(16);
    const event = newEvent(regarding, happening, reporter, now, suffix);
    this.#series.set(key, { event, count: 1, lastAt: now, written: 0, writtenAt: now, tries: 0 });
    this.#enqueue(key);
    this.#housekeeping ??= this.#keepHouse();
  }

  #enqueue(key: string): void {
    if (!this.#unwritten.has(key) && this.#unwritten.size >= MOST_UNWRITTEN) {
      if (this.#series.get(key)?.written === 0) this.#series.delete(key);
      if (this.#dropped++ === 0)
        this.#options.log.warn({}, `over ${MOST_UNWRITTEN} events unwritten, dropping new ones`);
      return;
    }
    this.#unwritten.add(key);
    this.#queue.add(key);
  }

  async #write(): Promise<void> {
    for (let key = await this.#queue.take(); key !== undefined; key = await this.#queue.take()) {
      const series = this.#series.get(key);
      if (series) await this.#writeOne(key, series);
      this.#queue.done(key);
    }
  }

  async #writeOne(key: string, series: Series): Promise<void> {
    const { clock, random, log } = this.#options;
    const { count } = series;
    try {
      await this.#send(series);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      if (isFinal(error) || ++series.tries >= MOST_TRIES) {
        log.warn(
          { event: keyOf(series.event.metadata), reason: series.event.reason, error: messageOf(error) },
          'event dropped',
        );
        this.#series.delete(key);
        this.#settled(key);
      } else this.#queue.add(key, { afterMs: RETRY_MS * (0.75 + random() / 2) });
      return;
    }
    series.written = count;
    series.writtenAt = clock.now();
    series.tries = 0;
    // A flush wants all that was counted, also while this was being written.
    if (series.count > count && this.#whenWritten.length > 0) this.#queue.add(key);
    else this.#settled(key);
  }

  async #send({ event, count, lastAt, written }: Series): Promise<void> {
    const { client } = this.#options;
    const { signal } = this.#stop;
    const series = count > 1 ? { series: { count, lastObservedTime: microTime(lastAt) } } : {};
    if (written > 0) {
      try {
        await client.patch(EventsV1Event, event.metadata, { type: 'merge', body: series }, { signal });
        return;
      } catch (error) {
        // The server forgets events after an hour; this series goes on.
        if (!isNotFound(error)) throw error;
      }
    }
    await client.create(EventsV1Event, { ...event, ...series }, { signal });
  }

  #settled(key: string): void {
    this.#unwritten.delete(key);
    if (this.#unwritten.size > 0) return;
    if (this.#dropped > 0) this.#options.log.warn({ dropped: this.#dropped }, 'events were dropped');
    this.#dropped = 0;
    for (const resolve of this.#whenWritten.splice(0)) resolve();
  }

  /** Runs only while there are series to look after: an idle recorder holds no timer. */
  #keepHouse(): Timer {
    return this.#options.clock.after(HOUSEKEEPING_MS, () => {
      const now = this.#options.clock.now();
      for (const [key, series] of this.#series) {
        const isBehind = series.count > series.written;
        const isOver = now - series.lastAt >= SILENCE_MS;
        if (isBehind && (isOver || now - series.writtenAt >= REFRESH_MS)) this.#enqueue(key);
        else if (isOver && !this.#unwritten.has(key)) this.#series.delete(key);
      }
      this.#housekeeping = this.#series.size > 0 ? this.#keepHouse() : undefined;
    });
  }
}

/** The server understood and will not have it, now or later. */
function isFinal(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500 && !isTooManyRequests(error);
}
