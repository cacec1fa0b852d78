const FIRST_MS = 1_000;
const LONGEST_MS = 15 * 60_000;

/**
 * How long to wait before a failed daemon is replaced: longer each time, as its node may well refuse the next one, too. Kept
 * in memory alone, as in Kubernetes: after a restart the first replacement comes at once.
 */
export class FailureBackoff {
  readonly #waits = new Map<string, { readonly delayMs: number; readonly since: number }>();

  /** When the next one may be replaced; a time in the past, or undefined, is now. */
  until(key: string): number | undefined {
    const wait = this.#waits.get(key);
    return wait && wait.since + wait.delayMs;
  }

  /** One was replaced. */
  replaced(key: string, now: number): void {
    for (const [other, { since }] of this.#waits) if (now - since > 2 * LONGEST_MS) this.#waits.delete(other);
    const before = this.#waits.get(key)?.delayMs ?? FIRST_MS / 2;
    this.#waits.set(key, { delayMs: Math.min(before * 2, LONGEST_MS), since: now });
  }
}
