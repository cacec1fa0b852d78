import { type Clock, messageOf, withTimeout } from '@polder/kube';
import { type Answer, answerOf, type PeerRequest, type Send } from './answer.ts';
import type { Json } from './json.ts';

/** Where a peer is, and what opens it. */
export interface Door {
  /** `http://vectors-0.vectors-headless.shop:6333`. */
  readonly url: string;
  /** In the order in which they are tried: while peers restart with another key, some still have the one before. */
  readonly keys: readonly string[];
  readonly authority?: string | undefined;
}

export interface PeerClientOptions {
  readonly send: Send;
  readonly clock: Clock;
  readonly readTimeoutMs: number;
  readonly writeTimeoutMs: number;
}

interface Ask {
  readonly method: PeerRequest['method'];
  readonly path: string;
  readonly body?: string | undefined;
  readonly isWrite: boolean;
  readonly timeoutMs: number;
}

/** Requests through one door: with each key that there is, within the time there is, and none of it an exception. */
export class Requests {
  readonly #door: Door;
  readonly #options: PeerClientOptions;
  readonly #signal: AbortSignal;

  constructor(door: Door, options: PeerClientOptions, signal: AbortSignal) {
    this.#door = door;
    this.#options = options;
    this.#signal = signal;
  }

  /** Left to the server to answer before we give up: its timeout says more than ours. */
  get agreementSeconds(): number {
    return Math.max(1, Math.floor(this.#options.writeTimeoutMs / 3_000));
  }

  async read<T>(path: string, parse: (json: Json) => T | undefined, otherwise: string): Promise<Answer<T>> {
    const { readTimeoutMs: timeoutMs } = this.#options;
    const answer = await this.#ask({ method: 'GET', path, isWrite: false, timeoutMs });
    if (answer.is !== 'ok') return answer;
    const value = parse(answer.value);
    return value === undefined ? { is: 'unreachable', because: otherwise } : { is: 'ok', value };
  }

  write(
    method: Exclude<PeerRequest['method'], 'GET'>,
    path: string,
    body?: string,
    timeoutMs = this.#options.writeTimeoutMs,
  ): Promise<Answer<Json>> {
    return this.#ask({ method, path, body, isWrite: true, timeoutMs });
  }

  /** What is answered without a key, and not in the form of everything else. */
  open(path: string) {
    const request = { method: 'GET', url: `${this.#door.url}${path}`, headers: {} } as const;
    return this.#exchange({ ...request, authority: this.#door.authority }, this.#options.readTimeoutMs);
  }

  async #ask({ method, path, body, isWrite, timeoutMs }: Ask): Promise<Answer<Json>> {
    const { url, keys, authority } = this.#door;
    let last: Answer<Json> = { is: 'unauthorized', because: 'there is no key' };
    for (const key of keys.length === 0 ? [undefined] : keys) {
      const headers = {
        ...(key !== undefined && { 'api-key': key }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      };
      const answer = await this.#exchange({ method, url: `${url}${path}`, headers, body, authority }, timeoutMs);
      if (answer.is !== 'answered') return isWrite ? { ...answer, is: 'ambiguous' } : answer;
      last = answerOf(answer.response, isWrite);
      if (last.is !== 'unauthorized') return last;
    }
    return last;
  }

  async #exchange(request: PeerRequest, ms: number) {
    const { send, clock } = this.#options;
    const { method, url } = request;
    try {
      const what = `${method} ${new URL(url).pathname}`;
      const response = await withTimeout(clock, ms, this.#signal, what, (signal) => send(request, signal));
      return { is: 'answered', response } as const;
    } catch (error) {
      // The pass is over: that is nothing to know about the peer.
      this.#signal.throwIfAborted();
      return { is: 'unreachable', because: messageOf(error) } as const;
    }
  }
}

export const pathOf = (collection: string) => `/collections/${encodeURIComponent(collection)}`;
