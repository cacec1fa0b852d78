/** Numbers that look random and are the same in every run with the same seed (mulberry32). */
export class Random {
  readonly #seed: number;
  #state: number;

  constructor(seed: number) {
    this.#seed = seed | 0;
    this.#state = this.#seed;
  }

  /** 0 <= r < 1. Needs no `this`: handed on as it is to whatever takes a `random`. */
  readonly next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };

  /**
   * Numbers of its own for each name, whatever was drawn here before: one more consumer does not shift those of the others, so
   * that a seed that found a bug still finds it after something was added elsewhere.
   */
  fork(name: string): Random {
    let hash = this.#seed ^ 0x811c9dc5;
    for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
    return new Random(hash);
  }

  /** from <= r < to. */
  between(from: number, to: number): number {
    return from + (to - from) * this.next();
  }

  /** A whole number, from <= n <= to. */
  integer(from: number, to: number): number {
    return from + Math.floor((to - from + 1) * this.next());
  }

  /** True in `share` (0 to 1) of all cases. */
  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(items.length * this.next())];
    if (item === undefined) throw new Error('there is nothing to pick from');
    return item;
  }
}
