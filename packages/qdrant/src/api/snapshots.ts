import { type Clock, messageOf, TimeoutError } from '@polder/kube';
import type { Answer, PeerRequest } from './answer.ts';
import { isObject, type Json, type JsonObject, listAt, numberAt, objectAt, textAt } from './json.ts';
import { type Door, type PeerClientOptions, pathOf, Requests } from './requests.ts';

/** Sends a request whose answer may be of any size; resolves when it begins. Rejects if there is none. */
export type Download = (request: PeerRequest, signal: AbortSignal) => Promise<Downloading>;

export interface Downloading {
  readonly status: number;
  /** Throws if the connection ends before it does. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** A snapshot of one shard, on the disk of the peer that made it: no other knows of it. */
export interface TakenSnapshot {
  /** `points-shard-0-2026-01-02-03-04-05.snapshot`: two of the same second have the same. */
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** What a snapshot of a shard does not have in it. */
export interface Described {
  /** In the words of the server, with everything filled in that nobody said. */
  readonly config: JsonObject;
  readonly aliases: readonly string[];
}

/** To make one, a peer copies all segments of a shard. */
const CREATION_MS = 3_600_000;
/** For how long nothing may come of a download that has begun. */
const IDLE_MS = 60_000;

/** Asks one peer for snapshots of its own copies of shards. */
export class SnapshotsClient {
  readonly #door: Door;
  readonly #download: Download;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #requests: Requests;

  constructor(door: Door, options: PeerClientOptions & { readonly download: Download }, signal: AbortSignal) {
    this.#door = door;
    this.#download = options.download;
    this.#clock = options.clock;
    this.#signal = signal;
    this.#requests = new Requests(door, options, signal);
  }

  async create(collection: string, shard: number): Promise<Answer<TakenSnapshot>> {
    const path = `${folderOf(collection, shard)}?wait=true`;
    const answer = await this.#requests.write('POST', path, undefined, CREATION_MS);
    if (answer.is !== 'ok') return answer;
    const snapshot = snapshotOf(answer.value);
    return snapshot
      ? { is: 'ok', value: snapshot }
      : { is: 'ambiguous', because: `it does not tell what it made of shard ${shard} of ${collection}` };
  }

  list(collection: string, shard: number): Promise<Answer<readonly string[]>> {
    const names = (json: Json) => {
      const found = listAt({ snapshots: json }, 'snapshots').map((one) => textAt(one, 'name'));
      return found.every((name) => name !== undefined) ? found : undefined;
    };
    return this.#requests.read(folderOf(collection, shard), names, 'it does not tell its snapshots');
  }

  remove(collection: string, shard: number, name: string): Promise<Answer<Json>> {
    return this.#requests.write('DELETE', `${folderOf(collection, shard)}/${encodeURIComponent(name)}?wait=true`);
  }

  /** The stream throws if it is cut off or nothing comes any more. */
  async download(collection: string, shard: number, name: string): Promise<Answer<AsyncIterable<Uint8Array>>> {
    const { url, keys, authority } = this.#door;
    const path = `${folderOf(collection, shard)}/${encodeURIComponent(name)}`;
    const late = new AbortController();
    const signal = AbortSignal.any([this.#signal, late.signal]);
    for (const key of keys.length === 0 ? [undefined] : keys) {
      const headers = { ...(key !== undefined && { 'api-key': key }) };
      const patience = new Patience(this.#clock, late, `GET ${path}`);
      try {
        const begun = await this.#download({ method: 'GET', url: `${url}${path}`, headers, authority }, signal);
        if (begun.status === 200) return { is: 'ok', value: patience.over(begun.body) };
        patience.end();
        if (begun.status !== 401) return { is: 'refused', status: begun.status, because: `status ${begun.status}` };
      } catch (error) {
        patience.end();
        this.#signal.throwIfAborted();
        return { is: 'unreachable', because: messageOf(error) };
      }
    }
    return { is: 'unauthorized', because: 'no key opens it' };
  }

  /** By its own name: an alias has no aliases. */
  async describe(collection: string): Promise<Answer<Described>> {
    const config = (json: Json) => {
      const found = objectAt(json, 'config');
      return isObject(found['params']) ? found : undefined;
    };
    const read = await this.#requests.read(pathOf(collection), config, `it does not tell how ${collection} is`);
    if (read.is !== 'ok') return read;
    const names = (json: Json) => {
      const found = listAt(json, 'aliases').map((one) => textAt(one, 'alias_name'));
      return found.every((name) => name !== undefined) ? found : undefined;
    };
    const aliases = await this.#requests.read(`${pathOf(collection)}/aliases`, names, 'it does not tell its aliases');
    return aliases.is === 'ok' ? { is: 'ok', value: { config: read.value, aliases: aliases.value } } : aliases;
  }
}

const folderOf = (collection: string, shard: number) => `${pathOf(collection)}/shards/${shard}/snapshots`;

function snapshotOf(json: Json): TakenSnapshot | undefined {
  const [name, bytes, sha256] = [textAt(json, 'name'), numberAt(json, 'size'), textAt(json, 'checksum')];
  if (name === undefined || bytes === undefined || !/^[0-9a-f]{64}$/.test(sha256 ?? '') || sha256 === undefined) return;
  return { name, bytes, sha256 };
}

/** Ends a download of which nothing comes; whoever takes his time with a part is not waited for. */
class Patience {
  readonly #clock: Clock;
  readonly #late: AbortController;
  readonly #what: string;
  #timer: { cancel(): void } | undefined;

  constructor(clock: Clock, late: AbortController, what: string) {
    [this.#clock, this.#late, this.#what] = [clock, late, what];
    this.begin();
  }

  begin(): void {
    const because = new TimeoutError(`nothing of ${this.#what} came for ${IDLE_MS / 1_000} s`);
    this.#timer = this.#clock.after(IDLE_MS, () => this.#late.abort(because));
  }

  end(): void {
    this.#timer?.cancel();
  }

  async *over(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const part of body) {
        this.end();
        yield part;
        this.begin();
      }
    } catch (error) {
      this.#late.signal.throwIfAborted();
      throw error;
    } finally {
      this.end();
    }
  }
}
