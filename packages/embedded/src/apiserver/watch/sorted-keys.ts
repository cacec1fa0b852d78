/** Keys in the order in which lists show them, with cheap prefixes: a list of one namespace touches only that namespace. */
export class SortedKeys {
  readonly #keys: string[] = [];

  add(key: string): void {
    const at = this.#position(key);
    if (this.#keys[at] !== key) this.#keys.splice(at, 0, key);
  }

  remove(key: string): void {
    const at = this.#position(key);
    if (this.#keys[at] === key) this.#keys.splice(at, 1);
  }

  *withPrefix(prefix: string): Generator<string> {
    for (let at = this.#position(prefix); ; at++) {
      const key = this.#keys[at];
      if (key === undefined || !key.startsWith(prefix)) return;
      yield key;
    }
  }

  /** The index of the first key that is not less. New keys mostly come last, so that is looked at first. */
  #position(key: string): number {
    const last = this.#keys.at(-1);
    if (last === undefined || last < key) return this.#keys.length;
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] ?? '') < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
