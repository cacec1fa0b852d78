/**
 * Keys that are ready, by priority, first in first out inside one. An array with a head index, not a `Map` used as a
 * queue: a `Map` skips its deleted front again and again and is twenty times slower at a hundred thousand keys.
 */
export class ReadyList {
  /** Highest priority first. There are few, so a sorted array beats a heap. */
  readonly #levels: Level[] = [];

  push(key: string, priority: number): void {
    this.#level(priority).keys.push(key);
  }

  /** The next key, and the level it stood in; `isCurrent` drops entries that were moved to another level since. */
  shift(isCurrent: (key: string, priority: number) => boolean): string | undefined {
    for (const level of this.#levels) {
      while (level.head < level.keys.length) {
        const key = level.keys[level.head++];
        if (level.head > 1024 && level.head * 2 > level.keys.length) {
          level.keys.splice(0, level.head);
          level.head = 0;
        }
        if (key !== undefined && isCurrent(key, level.priority)) return key;
      }
    }
    return undefined;
  }

  #level(priority: number): Level {
    const at = this.#levels.findIndex((level) => level.priority <= priority);
    const found = this.#levels[at];
    if (found?.priority === priority) return found;
    const level: Level = { priority, keys: [], head: 0 };
    this.#levels.splice(at < 0 ? this.#levels.length : at, 0, level);
    return level;
  }
}

interface Level {
  readonly priority: number;
  readonly keys: string[];
  head: number;
}
