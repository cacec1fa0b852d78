import type { Clock } from '@polder/kube';

/** Since when something has been so, as far as this process has seen. */
export class FirstSeen {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #times = new Map<string, number>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** In milliseconds; now, if nobody asked since it was forgotten. */
  since(key: string): number {
    const time = this.#times.get(key) ?? this.#clock.now();
    this.#times.set(key, time);
    return time;
  }

  /** It is no longer so. */
  forget(key: string): void {
    this.#times.delete(key);
  }
}
