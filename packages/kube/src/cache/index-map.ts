/** From a value to the keys of all objects that have it. Kept up by difference: an unchanged object costs nothing. */
export class IndexMap<T> {
  readonly #valuesOf: (object: T) => readonly string[];
  readonly #keys = new Map<string, Set<string>>();

  constructor(valuesOf: (object: T) => readonly string[]) {
    this.#valuesOf = valuesOf;
  }

  keys(value: string): Iterable<string> {
    return this.#keys.get(value) ?? [];
  }

  update(key: string, old: T | undefined, object: T | undefined): void {
    const before = old === undefined ? [] : this.#valuesOf(old);
    const after = object === undefined ? [] : this.#valuesOf(object);
    for (const value of before) if (!after.includes(value)) this.#remove(value, key);
    for (const value of after) if (!before.includes(value)) this.#add(value, key);
  }

  #add(value: string, key: string): void {
    const keys = this.#keys.get(value);
    if (keys) keys.add(key);
    else this.#keys.set(value, new Set([key]));
  }

  #remove(value: string, key: string): void {
    const keys = this.#keys.get(value);
    keys?.delete(key);
    if (keys?.size === 0) this.#keys.delete(value);
  }
}
