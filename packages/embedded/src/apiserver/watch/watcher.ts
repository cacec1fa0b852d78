import type { Clock, Timer } from '@polder/kube';
import { textOf } from '../object-text.ts';
import type { WireObject } from '../served-kind.ts';
import { StatusError } from '../status.ts';
import type { Change, Entry } from './entry.ts';
import type { ObjectStore } from './object-store.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

/** What a watch sends next. */
export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly entry: Entry }
  | { readonly type: 'BOOKMARK'; readonly revision: number; readonly endsInitialEvents: boolean }
  | { readonly type: 'ERROR'; readonly status: StatusError };

export interface WatchRequest {
  readonly resource: string;
  /** `namespace/`, or empty for all. */
  readonly prefix: string;
  readonly selects: (object: WireObject) => boolean;
  readonly start: WatchStart;
  readonly bookmarks: boolean;
  readonly timeoutMs: number;
}

/** Where a watch begins: with everything there is, or after a revision. */
export type WatchStart =
  | { readonly at: 'everything'; readonly announceEnd: boolean }
  | { readonly at: 'revision'; readonly revision: number };

/** Faults that are done to a watch while it runs; see `faults/`. */
export interface Interference {
  /** What to do with an event: deliver it so many times, after so many milliseconds. */
  readonly copies: number;
  readonly delayMs: number;
}

/** Real servers send a bookmark every minute and one shortly before the end of the watch. */
const BOOKMARK_EVERY = 60_000;
const BOOKMARK_BEFORE_END = 2_000;

/** A reader that is this far behind is cut off: it can come back and list, the server cannot get its memory back. */
const MOST_PENDING = 10_000;

/** How many of the initial objects are turned into text at a time. */
const INITIAL_BATCH = 100;

/**
 * One running watch: turns the changes of a resource into the events of a selection, in order. It is pulled: `next` waits
 * until there is something to send. Nothing is copied per watcher; all of them point to the same entries.
 */
export class Watcher {
  readonly #store: ObjectStore;
  readonly #clock: Clock;
  readonly #request: WatchRequest;
  readonly #stopListening: () => void;
  readonly #timers = new Set<Timer>();
  #initial: Iterator<Entry> | undefined;
  #pending: WatchEvent[] = [];
  #wake: (() => void) | undefined;
  #state: 'running' | 'ended' | 'silent' = 'running';
  #broken: Error | undefined;
  #interference: Interference = { copies: 1, delayMs: 0 };

  constructor(store: ObjectStore, clock: Clock, request: WatchRequest) {
    this.#store = store;
    this.#clock = clock;
    this.#request = request;
    const cache = store.cache(request.resource);
    const { start } = request;
    const after = start.at === 'everything' ? store.revision : start.revision;
    this.#stopListening = cache.listen((change) => {
      if (change.revision > after) this.#deliver(change);
    });
    if (start.at === 'everything') {
      // The list of the moment: the generator of the cache would see later changes as well.
      this.#initial = [...cache.entries(request.prefix)].values();
      if (start.announceEnd && request.bookmarks) {
        this.#pending.push({ type: 'BOOKMARK', revision: after, endsInitialEvents: true });
      }
    } else {
      this.#catchUp(start.revision);
    }
    if (this.#state !== 'running') return;
    const { timeoutMs } = request;
    if (request.bookmarks) {
      this.#bookmarkEveryMinute();
      if (timeoutMs > BOOKMARK_BEFORE_END) this.#later(timeoutMs - BOOKMARK_BEFORE_END, () => this.#bookmark());
    }
    this.#later(timeoutMs, () => this.end());
  }

  #catchUp(revision: number): void {
    try {
      for (const change of this.#store.cache(this.#request.resource).changesSince(revision)) this.#deliver(change);
    } catch (error) {
      // Too old: the answer has begun with 200 by now, so the news comes as an event.
      if (!(error instanceof StatusError)) throw error;
      this.fail(error);
    }
  }

  /** The next events, at least one; undefined when the watch is over. */
  async next(): Promise<readonly WatchEvent[] | undefined> {
    for (;;) {
      if (this.#broken !== undefined) throw this.#broken;
      const events = this.#state === 'silent' ? [] : this.#take();
      if (events.length > 0) return events;
      if (this.#state === 'ended') return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #take(): readonly WatchEvent[] {
    const events: WatchEvent[] = [];
    while (this.#initial !== undefined && events.length < INITIAL_BATCH) {
      const step = this.#initial.next();
      if (step.done) this.#initial = undefined;
      else if (this.#request.selects(step.value.object)) events.push({ type: 'ADDED', entry: step.value });
    }
    if (this.#initial !== undefined) return events;
    events.push(...this.#pending);
    this.#pending = [];
    return events;
  }

  #deliver(change: Change): void {
    if (!change.key.startsWith(this.#request.prefix)) return;
    const event = eventOf(change, this.#request.selects);
    if (event === undefined) return;
    const { copies, delayMs } = this.#interference;
    for (let copy = 0; copy < copies; copy++) {
      if (delayMs > 0) this.#later(delayMs, () => this.#push(event));
      else this.#push(event);
    }
  }

  #push(event: WatchEvent): void {
    if (this.#state !== 'running') return;
    if (this.#pending.length >= MOST_PENDING) {
      this.#pending = [];
      this.end();
      return;
    }
    this.#pending.push(event);
    this.#rouse();
  }

  #bookmarkEveryMinute(): void {
    this.#later(BOOKMARK_EVERY, () => {
      this.#bookmark();
      this.#bookmarkEveryMinute();
    });
  }

  /**
   * Everything up to the store's revision is already in the queue before it, or is of no interest to this watch. If events
   * are held up, it is held up as well: overtaking them it would promise what was never sent.
   */
  #bookmark(): void {
    const bookmark: WatchEvent = { type: 'BOOKMARK', revision: this.#store.revision, endsInitialEvents: false };
    const { delayMs } = this.#interference;
    if (delayMs > 0) this.#later(delayMs, () => this.#push(bookmark));
    else this.#push(bookmark);
  }

  #later(ms: number, callback: () => void): void {
    const timer = this.#clock.after(ms, () => {
      this.#timers.delete(timer);
      callback();
    });
    this.#timers.add(timer);
  }

  #rouse(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  /** Sends what is pending and ends. */
  end(): void {
    this.#release();
    if (this.#state === 'silent') return;
    this.#state = 'ended';
    this.#rouse();
  }

  /** Sends an ERROR event and ends. */
  fail(status: StatusError): void {
    this.#push({ type: 'ERROR', status });
    this.end();
  }

  /** Breaks off in the middle, as a lost connection does. */
  break(error: Error): void {
    this.#broken = error;
    this.end();
    this.#rouse();
  }

  /** Sends nothing more, not even bookmarks, and does not end either. */
  silence(): void {
    this.#release();
    this.#state = 'silent';
  }

  /** Adds to what is in force already. A delay only grows: no event may overtake an earlier one. */
  interfere({ copies, delayMs }: Interference): void {
    const before = this.#interference;
    this.#interference = { copies: Math.max(before.copies, copies), delayMs: Math.max(before.delayMs, delayMs) };
  }

  #release(): void {
    this.#stopListening?.();
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }
}

/** An object that enters the selection is added to the watcher's world, one that leaves it is deleted from it. */
function eventOf(change: Change, selects: (object: WireObject) => boolean): WatchEvent | undefined {
  const before = change.before !== undefined && selects(change.before.object);
  if (change.after !== undefined && selects(change.after.object)) {
    return { type: before ? 'MODIFIED' : 'ADDED', entry: change.after };
  }
  if (!before) return undefined;
  const last = change.last ?? leaving(change);
  return last && { type: 'DELETED', entry: last };
}

/** What leaves the selection by a change is shown as it was before, under the version of the change. */
function leaving({ before, revision }: Change): Entry | undefined {
  if (before === undefined) return undefined;
  const metadata = { ...before.object.metadata, resourceVersion: String(revision) };
  const object = { ...before.object, metadata };
  return { key: before.key, revision, object, text: textOf(object) };
}
