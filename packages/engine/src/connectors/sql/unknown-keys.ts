import type { Logger } from '../../log.ts';

/** Beyond so many there is no pattern left to warn of. */
const MOST_WARNINGS = 100;

/** Warns of keys that a table has no column for, each once. */
export class UnknownKeys {
  readonly #table: string;
  readonly #log: Logger;
  readonly #warned = new Set<string>();

  constructor(table: string, log: Logger) {
    this.#table = table;
    this.#log = log;
  }

  warnOf(keys: ReadonlySet<string>): void {
    const news = [...keys].filter((key) => !this.#warned.has(key)).slice(0, MOST_WARNINGS - this.#warned.size);
    if (news.length === 0) return;
    for (const key of news) this.#warned.add(key);
    this.#log.warn(
      { table: this.#table, keys: news },
      'these keys have no column and are left out: add the columns and restart, or set autoCreateTable',
    );
  }
}
