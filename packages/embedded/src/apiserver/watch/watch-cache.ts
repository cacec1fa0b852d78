import { expired } from '../status.ts';
import type { Change, Entry } from './entry.ts';
import { SortedKeys } from './sorted-keys.ts';

/**
 * All objects of one resource, in memory, with the changes that led there. Reads, lists, pages at an older revision and
 * watches are answered from here; history is bounded, and what lies before it is `Expired`.
 */
export class WatchCache {
  readonly #entries = new Map<string, Entry>();
  readonly #keys = new SortedKeys();
  #history: Change[] = [];
  /** Changes up to this revision are forgotten. */
  #floor: number;
  readonly #historyLimit: number;
  readonly #listeners = new Set<(change: Change) => void>();

  constructor(floor: number, historyLimit: number) {
    this.#floor = floor;
    this.#historyLimit = historyLimit;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  /** What was in storage at the start: there is no history of it. */
  restore(entry: Entry): void {
    this.#entries.set(entry.key, entry);
    this.#keys.add(entry.key);
  }

  apply(change: Change): void {
    if (change.after === undefined) {
      this.#entries.delete(change.key);
      this.#keys.remove(change.key);
    } else {
      if (change.before === undefined) this.#keys.add(change.key);
      this.#entries.set(change.key, change.after);
    }
    this.#history.push(change);
    // Trimming in blocks keeps the average cost of a write constant.
    if (this.#history.length > this.#historyLimit * 1.25) this.#forget(this.#history.length - this.#historyLimit);
    for (const listener of this.#listeners) listener(change);
  }

  /** Forgets history up to and including a revision. */
  compact(revision: number): void {
    const kept = this.#history.findIndex((change) => change.revision > revision);
    this.#forget(kept < 0 ? this.#history.length : kept);
    this.#floor = Math.max(this.#floor, revision);
  }

  #forget(count: number): void {
    this.#floor = this.#history[count - 1]?.revision ?? this.#floor;
    this.#history = this.#history.slice(count);
  }

  /** Entries whose keys start with `prefix`, in order, as they are now. */
  *entries(prefix: string): Generator<Entry> {
    for (const key of this.#keys.withPrefix(prefix)) {
      const entry = this.#entries.get(key);
      if (entry !== undefined) yield entry;
    }
  }

  /** The same as they were at an older revision: now, with the changes since then undone. */
  entriesAt(prefix: string, revision: number): Iterable<Entry> {
    if (revision < this.#floor) throw expired(`The resourceVersion for the provided list is too old.`);
    const since = this.#since(revision);
    if (since.length === 0) return this.entries(prefix);
    const then = new Map<string, Entry>();
    for (const entry of this.entries(prefix)) then.set(entry.key, entry);
    for (const change of since.toReversed()) {
      if (!change.key.startsWith(prefix)) continue;
      if (change.before === undefined) then.delete(change.key);
      else then.set(change.key, change.before);
    }
    return [...then.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }

  getAt(key: string, revision: number): Entry | undefined {
    const first = this.#since(revision).find((change) => change.key === key);
    return first === undefined ? this.get(key) : first.before;
  }

  /** The changes after a revision, oldest first; `Expired` when some of them are forgotten. */
  changesSince(revision: number): readonly Change[] {
    if (revision < this.#floor) throw expired(`too old resource version: ${revision} (${this.#floor})`);
    return this.#since(revision);
  }

  #since(revision: number): readonly Change[] {
    let low = 0;
    let high = this.#history.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#history[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return this.#history.slice(low);
  }

  /** Calls back with every change from now on; returns how to stop. */
  listen(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
