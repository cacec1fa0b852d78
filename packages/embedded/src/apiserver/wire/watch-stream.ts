import { TransportError } from '@polder/kube';
import type { WatchEvent, Watcher } from '../watch/index.ts';

/** Turns one event into its line. May take its time: objects of another version are converted on the way. */
export type EventEncoder = (event: WatchEvent) => Promise<string>;

/**
 * The body of a watch. An async iterator by hand instead of a generator: one that is left before its first `next` must
 * stop the watcher as well, and a generator that never started does not run its `finally`.
 */
export function watchStream(
  watcher: Watcher,
  encode: EventEncoder,
  signal: AbortSignal | undefined,
  release: () => void,
): AsyncIterable<Uint8Array> {
  const onAbort = () =>
    watcher.break(new TransportError('the watch was aborted', { sent: true, cause: signal?.reason }));
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  const stop = () => {
    signal?.removeEventListener('abort', onAbort);
    watcher.end();
    release();
  };
  const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    try {
      const events = await watcher.next();
      if (events === undefined) {
        stop();
        return { done: true, value: undefined };
      }
      return { done: false, value: Buffer.from((await Promise.all(events.map(encode))).join('')) };
    } catch (error) {
      stop();
      throw error;
    }
  };
  const iterator: AsyncIterableIterator<Uint8Array, undefined> = {
    next,
    async return() {
      stop();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}
