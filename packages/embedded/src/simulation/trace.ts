import type { Clock } from '@polder/kube';

/** What happened, a line for each thing: when, who, what. The same seed gives the same bytes. */
export class Trace {
  readonly #clock: Clock;
  readonly #lines: string[] = [];
  /** Without what goes on all the time, whatever happens. */
  readonly #telling: string[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Routine is what says nothing about a failure: leases that are renewed every two seconds, bookmarks. */
  add(who: string, what: string, isRoutine = false): void {
    const seconds = (this.#clock.monotonic() / 1000).toFixed(6).padStart(12);
    const line = `${seconds} ${who.padEnd(12)} ${what}`;
    this.#lines.push(line);
    if (!isRoutine) this.#telling.push(line);
  }

  /** The last lines that are no routine. */
  last(count: number): readonly string[] {
    return this.#telling.slice(-count);
  }

  toString(): string {
    return this.#lines.join('\n');
  }
}
