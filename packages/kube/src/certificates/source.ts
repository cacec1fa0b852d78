import type { Pair } from './pair.ts';

/** A serving certificate that may be replaced while it is in use. */
export interface CertificateSource {
  readonly current: Pair;
  /** Told after `current` has changed. */
  subscribe(listener: () => void): { readonly unsubscribe: () => void };
  stop(): Promise<void>;
}

/** A pair, and those who want to know when it changes. */
export class CurrentPair {
  #pair: Pair | undefined;
  readonly #listeners = new Set<() => void>();

  get isSet(): boolean {
    return this.#pair !== undefined;
  }

  get pair(): Pair {
    if (!this.#pair) throw new Error('there is no certificate yet');
    return this.#pair;
  }

  /** Whether it was another one. */
  set(pair: Pair): boolean {
    if (this.#pair?.certificate === pair.certificate && this.#pair.key === pair.key) return false;
    this.#pair = pair;
    for (const listener of this.#listeners) listener();
    return true;
  }

  subscribe(listener: () => void): { readonly unsubscribe: () => void } {
    this.#listeners.add(listener);
    return { unsubscribe: () => this.#listeners.delete(listener) };
  }
}
