import { type Clock, messageOf, withTimeout } from '@polder/kube';
import { type Answer, answerOf, type PeerRequest, type Send } from './answer.ts';
import {
  type ClusterInfo,
  clusterInfoOf,
  type Distribution,
  distributionOf,
  type Factors,
  factorsOf,
} from './cluster-info.ts';
import { type Json, listAt, parseJson, rawId, textAt } from './json.ts';

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

/** One shard on its way from one peer to another. */
export interface Travel {
  readonly collection: string;
  readonly shard: number;
  readonly from: string;
  readonly to: string;
}

/** Said in every call: what is left out means something else in each version. It works for peers of any age. */
const METHOD = 'stream_records';

/** Asks one peer, and has it propose changes to the others. */
export class PeerClient {
  readonly #door: Door;
  readonly #options: PeerClientOptions;
  readonly #signal: AbortSignal;

  constructor(door: Door, options: PeerClientOptions, signal: AbortSignal) {
    this.#door = door;
    this.#options = options;
    this.#signal = signal;
  }

  /** What it runs: `1.19.0`. Needs no key. */
  async version(): Promise<Answer<string>> {
    const { url, authority } = this.#door;
    const request = { method: 'GET', url: `${url}/`, headers: {}, authority } as const;
    const answer = await this.#exchange(request, this.#options.readTimeoutMs);
    if (answer.is !== 'answered') return answer;
    const { status, text } = answer.response;
    const version = status === 200 ? textAt(safely(text), 'version') : undefined;
    return version === undefined
      ? { is: 'unreachable', because: `it does not tell its version (status ${status})` }
      : { is: 'ok', value: version };
  }

  cluster(): Promise<Answer<ClusterInfo>> {
    return this.#read('/cluster', clusterInfoOf, 'it is not in cluster mode');
  }

  collections(): Promise<Answer<readonly string[]>> {
    const names = (json: Json) => {
      const found = listAt(json, 'collections').map((one) => textAt(one, 'name'));
      return found.every((name) => name !== undefined) ? found : undefined;
    };
    return this.#read('/collections', names, 'it does not tell its collections');
  }

  distribution(collection: string): Promise<Answer<Distribution>> {
    const parsed = (json: Json) => distributionOf(collection, json);
    return this.#read(`${pathOf(collection)}/cluster`, parsed, `it does not tell where ${collection} is`);
  }

  factors(collection: string): Promise<Answer<Factors>> {
    return this.#read(pathOf(collection), factorsOf, `it does not tell how ${collection} is replicated`);
  }

  /** The source is dropped at the end. To a peer that holds the shard it would lose a copy, and the server does not object. */
  move({ collection, ...travel }: Travel): Promise<Answer<Json>> {
    return this.#operate(collection, { move_shard: transferOf(travel) });
  }

  replicate({ collection, ...travel }: Travel): Promise<Answer<Json>> {
    return this.#operate(collection, { replicate_shard: transferOf(travel) });
  }

  /** The server only looks whether another copy is called active, which a dead peer's is. */
  drop(collection: string, shard: number, peer: string): Promise<Answer<Json>> {
    return this.#operate(collection, { drop_replica: { shard_id: shard, peer_id: rawId(peer) } });
  }

  /** Never by force: that loses shards without a word, and minutes later if nobody agrees now. */
  removePeer(id: string): Promise<Answer<Json>> {
    return this.#write('DELETE', `/cluster/peer/${id}?force=false&timeout=${this.#agreementSeconds}`);
  }

  /** Left to the server to answer before we give up: its timeout says more than ours. */
  get #agreementSeconds(): number {
    return Math.max(1, Math.floor(this.#options.writeTimeoutMs / 3_000));
  }

  async #read<T>(path: string, parse: (json: Json) => T | undefined, otherwise: string): Promise<Answer<T>> {
    const answer = await this.#ask({ method: 'GET', path, isWrite: false });
    if (answer.is !== 'ok') return answer;
    const value = parse(answer.value);
    return value === undefined ? { is: 'unreachable', because: otherwise } : { is: 'ok', value };
  }

  #operate(collection: string, operation: object): Promise<Answer<Json>> {
    const path = `${pathOf(collection)}/cluster?timeout=${this.#agreementSeconds}`;
    return this.#write('POST', path, JSON.stringify(operation));
  }

  #write(method: 'POST' | 'DELETE', path: string, body?: string): Promise<Answer<Json>> {
    return this.#ask({ method, path, body, isWrite: true });
  }

  async #ask({ method, path, body, isWrite }: Ask): Promise<Answer<Json>> {
    const { url, keys, authority } = this.#door;
    const { readTimeoutMs, writeTimeoutMs } = this.#options;
    let last: Answer<Json> = { is: 'unauthorized', because: 'there is no key' };
    for (const key of keys.length === 0 ? [undefined] : keys) {
      const headers = {
        ...(key !== undefined && { 'api-key': key }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      };
      const request = { method, url: `${url}${path}`, headers, body, authority };
      const answer = await this.#exchange(request, isWrite ? writeTimeoutMs : readTimeoutMs);
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

interface Ask {
  readonly method: PeerRequest['method'];
  readonly path: string;
  readonly body?: string | undefined;
  readonly isWrite: boolean;
}

const pathOf = (collection: string) => `/collections/${encodeURIComponent(collection)}`;

const transferOf = ({ shard, from, to }: Omit<Travel, 'collection'>) => ({
  shard_id: shard,
  from_peer_id: rawId(from),
  to_peer_id: rawId(to),
  method: METHOD,
});

function safely(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}
