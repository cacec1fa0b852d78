import type { Dispatcher } from 'undici';

/** As much of an answer may wait here for its reader; then the server has to. */
const MOST_WAITING = 256 * 1024;

export type Head = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
};

/**
 * One request and its answer, on the callbacks of undici's dispatchers: `dispatch(…, exchange)`, then `head`, then `take` until
 * the end. Their `request` makes a stream of every answer, which costs a client more than the answer itself does.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal | undefined;
  readonly #head = Promise.withResolvers<Head>();
  #controller: Dispatcher.DispatchController | undefined;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #end: { readonly error?: unknown } | undefined;
  #wake: () => void = () => {};

  /** The signal ends it at any time, with its reason. It must not have done so yet. */
  constructor(signal?: AbortSignal) {
    this.#signal = signal;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Rejects if there is none. */
  get head(): Promise<Head> {
    return this.#head.promise;
  }

  /** What of the body has come since the last time, or comes next; undefined at its end. Throws if it breaks off. */
  async take(): Promise<readonly Buffer[] | undefined> {
    if (this.#waiting.length === 0 && !this.#end) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const taken = this.#waiting;
    if (taken.length > 0) {
      this.#waiting = [];
      this.#waitingBytes = 0;
      this.#controller?.resume();
      return taken;
    }
    if (this.#end?.error !== undefined) throw this.#end.error;
    return undefined;
  }

  /** All that is left of the body. */
  async rest(): Promise<Buffer> {
    const all: Buffer[] = [];
    for (let some = await this.take(); some; some = await this.take()) all.push(...some);
    const [first] = all;
    return first && all.length === 1 ? first : Buffer.concat(all);
  }

  /** Gives the answer up, and with it the connection, unless it has come to its end. */
  leave(error: unknown): void {
    if (this.#end) return;
    this.#waiting = [];
    this.#over(error);
    this.#controller?.abort(error instanceof Error ? error : new Error(String(error)));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It was left while it waited for a connection.
    if (this.#end) controller.abort(new Error('nobody waits for the answer any more'));
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Head['headers']): void {
    if (status >= 200) this.#head.resolve({ status, headers });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes > MOST_WAITING) controller.pause();
    this.#wake();
  }

  onResponseEnd(): void {
    this.#over();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#over(error);
  }

  readonly #onAbort = () => this.leave(this.#signal?.reason);

  #over(error?: unknown): void {
    if (this.#end) return;
    this.#end = { error };
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#head.reject(error);
    this.#wake();
  }
}
