import type { Clock } from './clock.ts';
import { ConnectionFailure, type Fault } from './faults.ts';
import { type Answered, type Asked, handle, refused } from './handle.ts';
import { Refusal } from './refusal.ts';
import { verify } from './signature.ts';
import { Store, type StoredObject } from './store.ts';

export interface S3Request {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}

export interface S3Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}

export interface StorageOptions {
  readonly clock: Clock;
  readonly buckets: readonly string[];
  /** Secrets by access key. */
  readonly keys: Readonly<Record<string, string>>;
  readonly region?: string;
  /** The most objects that one answer lists; 1000 as AWS has it. */
  readonly pageSize?: number;
}

export interface LoggedRequest {
  /** In milliseconds. */
  readonly at: number;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly bytes: number;
  /** None while it is under way, and if the connection was closed without an answer. */
  status?: number;
}

/** Enough for any test; a long-lived storage must not grow with its traffic. */
const LOG_LENGTH = 10_000;
const CHUNK = 64 * 2 ** 10;

/** A storage that speaks S3, in memory: buckets in the path, requests signed with Signature Version 4. */
export class Storage {
  readonly #options: StorageOptions;
  readonly #buckets: Map<string, Store>;
  readonly #requests: LoggedRequest[] = [];

  /** Asked for each request: what goes wrong with it. */
  fault: (request: LoggedRequest) => Fault | undefined = () => undefined;

  constructor(options: StorageOptions) {
    this.#options = options;
    this.#buckets = new Map(options.buckets.map((name) => [name, new Store()]));
  }

  /** In the order in which they came. */
  get requests(): readonly Readonly<LoggedRequest>[] {
    return this.#requests;
  }

  /** What is in a bucket, by keys in the order in which they were put. */
  objectsIn(bucket: string): ReadonlyMap<string, StoredObject> {
    return this.#store(bucket).objects;
  }

  /** The keys of uploads that were begun, and neither completed nor aborted. */
  uploadsIn(bucket: string): readonly string[] {
    return [...this.#store(bucket).uploads.values()].map(({ key }) => key);
  }

  /** What somebody else put there. `kept` is what comes back with it: `x-amz-meta-…`. */
  put(bucket: string, key: string, body: Uint8Array, kept: Readonly<Record<string, string>> = {}): void {
    this.#store(bucket).put(key, body, kept, this.#options.clock.now());
  }

  makeBucket(name: string): void {
    this.#buckets.set(name, new Store());
  }

  removeBucket(name: string): void {
    this.#buckets.delete(name);
  }

  /** Sends a request without sockets. Rejects as a connection does. */
  readonly send = async ({ method, url, headers, body }: S3Request, signal: AbortSignal): Promise<S3Response> => {
    const parsed = new URL(url);
    // What is sent may be written over while it is kept.
    const bytes = body ? Uint8Array.from(body) : new Uint8Array();
    const asked = { method, url: parsed, headers: { ...lowerCased(headers), host: parsed.host }, body: bytes };
    const logged: LoggedRequest = {
      at: this.#options.clock.now(),
      method,
      path: `${parsed.pathname}${parsed.search}`,
      bytes: bytes.byteLength,
    };
    this.#requests.push(logged);
    if (this.#requests.length > LOG_LENGTH) this.#requests.shift();
    const fault = this.fault(logged);
    if (fault?.is === 'hang') return untilAborted(signal);
    if (fault?.is === 'close') throw new ConnectionFailure('socket hang up');
    const answered = this.#answer(asked, fault);
    if (fault?.is === 'close-after') throw new ConnectionFailure('socket hang up');
    logged.status = answered.status;
    return { ...answered, body: streamed(answered.body, fault) };
  };

  #answer(asked: Asked, fault: Fault | undefined): Answered {
    const { keys, region = 'us-east-1', pageSize = 1000, clock } = this.#options;
    const now = clock.now();
    try {
      verify(asked, { keys, region, now });
      if (fault?.is === 'answer') throw new Refusal(fault.status, fault.code);
      if (fault?.is === 'corrupt' && asked.body.byteLength > 0) asked.body[0] = (asked.body[0] ?? 0) ^ 1;
      const answered = handle(asked, { buckets: this.#buckets, pageSize, now });
      const etag = answered.headers['etag'];
      return fault?.is === 'wrong-etag' && etag !== undefined
        ? { ...answered, headers: { ...answered.headers, etag: `"${'0'.repeat(32)}"` } }
        : answered;
    } catch (error) {
      if (error instanceof Refusal) return refused(error, asked.method === 'HEAD');
      throw error;
    }
  }

  #store(bucket: string): Store {
    const store = this.#buckets.get(bucket);
    if (!store) throw new Error(`there is no bucket ${bucket}`);
    return store;
  }
}

const lowerCased = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

async function* streamed(body: Uint8Array, fault: Fault | undefined): AsyncGenerator<Uint8Array> {
  const until = fault?.is === 'cut' ? Math.min(fault.afterBytes, body.byteLength) : body.byteLength;
  for (let at = 0; at < until; at += CHUNK) {
    const part = Uint8Array.from(body.subarray(at, Math.min(at + CHUNK, until)));
    if (fault?.is === 'corrupt' && at === 0) part[0] = (part[0] ?? 0) ^ 1;
    yield part;
  }
  if (fault?.is === 'cut') throw new ConnectionFailure('aborted');
}
