/** An object that fails in a loop would fill etcd with its events: 25 at once, then one in five minutes. */
const BURST = 25;
const REFILL_MS = 5 * 60_000;
/** Over this many kinds of an event in the window, the rest is told as one. */
const MOST_SIMILAR = 10;
const SIMILAR_WINDOW_MS = 10 * 60_000;
/** Objects come and go; the ones heard of longest ago are forgotten. */
const MOST_REMEMBERED = 4096;

/** Per object, a bucket of tokens: every new event takes one. */
export class ObjectLimit {
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  take(object: string, now: number): boolean {
    const bucket = this.#buckets.get(object) ?? { tokens: BURST, at: now };
    const tokens = Math.min(BURST, bucket.tokens + (now - bucket.at) / REFILL_MS);
    const isAllowed = tokens >= 1;
    remember(this.#buckets, object, { tokens: isAllowed ? tokens - 1 : tokens, at: now });
    return isAllowed;
  }
}

/** Notices when an object's events of one type and reason differ only in action and related object, over and over. */
export class Similarity {
  readonly #groups = new Map<string, Map<string, number>>();

  /** Whether this is one of too many. */
  isTooMuch(group: string, series: string, now: number): boolean {
    const seen = this.#groups.get(group) ?? new Map<string, number>();
    for (const [key, at] of seen) if (now - at > SIMILAR_WINDOW_MS) seen.delete(key);
    remember(this.#groups, group, seen);
    if (!seen.has(series) && seen.size >= MOST_SIMILAR) return true;
    seen.set(series, now);
    return false;
  }
}

function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MOST_REMEMBERED && oldest !== undefined) map.delete(oldest);
}
