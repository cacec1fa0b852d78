/**
 * What passes wrote, by the keys that they were over: when it comes back through the cache it is no news. The event may come
 * before the answer to the write does. So what is heard during a pass is looked at after it, when it is known what it wrote.
 */
export class Echoes {
  /** Keys in work, and what was heard meanwhile. */
  readonly #heard = new Map<string, Heard[]>();
  /** What the last pass over a key wrote and nobody has heard yet. */
  readonly #written = new Map<string, Set<string>>();

  /** A pass begins. `isFollowUp`: so soon after the last one that what that wrote may come back during this one. */
  begin(key: string, isFollowUp: boolean): void {
    this.#heard.set(key, []);
    if (!isFollowUp) this.#written.delete(key);
  }

  /** The pass wrote these versions of objects, and they are no news. */
  wrote(key: string, versions: readonly string[]): void {
    const all = new Set([...(this.#written.get(key) ?? []), ...versions]);
    if (all.size > 0) this.#written.set(key, all);
  }

  /** The pass is over; returns what was heard meanwhile and was not its own doing. */
  end(key: string): readonly Heard[] {
    const heard = this.#heard.get(key) ?? [];
    this.#heard.delete(key);
    return heard.filter(({ version }) => !this.#isOwn(key, version));
  }

  /** Whether it is our own write that comes back, or may be. */
  takes(key: string, heard: Heard): boolean {
    const meanwhile = this.#heard.get(key);
    if (!meanwhile) return this.#isOwn(key, heard.version);
    meanwhile.push(heard);
    return true;
  }

  /** Each comes back once. */
  #isOwn(key: string, version: string): boolean {
    const written = this.#written.get(key);
    const isOwn = written?.delete(version) ?? false;
    if (written?.size === 0) this.#written.delete(key);
    return isOwn;
  }
}

/** A change, of which only this is of interest afterwards. */
export interface Heard {
  readonly version: string;
  /** It does not cut a backoff short. */
  readonly isMinor: boolean;
}
