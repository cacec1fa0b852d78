import type { ObjectRef } from '../kinds/index.ts';

/**
 * Brings resources back into a controller's queue when something happens outside the cluster, of which no watch tells: a
 * process ended, a managed system called.
 */
export class Bell {
  readonly #listeners = new Set<(ref: ObjectRef) => void>();

  ring(ref: ObjectRef): void {
    for (const listener of this.#listeners) listener(ref);
  }

  /** Returns how to stop listening. */
  listen(listener: (ref: ObjectRef) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
