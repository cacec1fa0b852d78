import { type Clock, Patience, sleep } from './clock.ts';
import { regionOf } from './region.ts';
import type { S3Request, S3Response, Send } from './send.ts';
import { type AwsCredentials, signedHeaders, strictlyEncoded } from './signature.ts';
import { S3Error, type Said, type Trouble, troubleOf } from './trouble.ts';
import { textOf } from './xml.ts';

export interface BucketOptions {
  /** `https://s3.eu-west-1.amazonaws.com`, `http://minio.storage:9000`. */
  readonly endpoint: string;
  /** The one that the endpoint names, unless it is given. */
  readonly region?: string | undefined;
  /** Named in the path, which every S3 understands. */
  readonly bucket: string;
  readonly credentials: AwsCredentials;
  readonly send: Send;
  readonly clock: Clock;
  /** How often a request is sent before the storage counts as busy or out of reach; 4 unless told. */
  readonly attempts?: number;
  /** For how long nothing may happen before an answer is given up on: long enough to upload a part. 2 minutes unless told. */
  readonly timeoutMs?: number;
}

export interface Call {
  readonly method: S3Request['method'];
  /** None: the bucket itself. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** An answer that has begun. Its body has to be read to its end, or be let go of. */
export interface Begun extends S3Response {
  /** Whoever reads says so for each part of it. */
  readonly patience: Patience;
}

const ATTEMPTS = 4;
const TIMEOUT_MS = 120_000;
const FIRST_PAUSE_MS = 500;

/** Requests to one bucket: signed, sent again if that may help, and every failure an `S3Error`. */
export class Exchange {
  readonly #options: BucketOptions;
  readonly #url: string;
  readonly #region: string;

  constructor(options: BucketOptions) {
    this.#options = options;
    this.#url = `${options.endpoint.replace(/\/+$/, '')}/${strictlyEncoded(options.bucket)}`;
    this.#region = options.region ?? regionOf(options.endpoint);
  }

  /** A whole answer; undefined if there is no such object. */
  async ask(call: Call, signal: AbortSignal): Promise<Answer | undefined> {
    return this.#again(signal, async () => {
      const begun = await this.#send(call, signal);
      const answer = { ...begun, text: await this.#textOf(call, begun, signal) };
      return this.#isThere(call, answer) ? answer : undefined;
    });
  }

  /** As soon as the answer begins; undefined if there is no such object. */
  async open(call: Call, signal: AbortSignal): Promise<Begun | undefined> {
    return this.#again(signal, async () => {
      const begun = await this.#send(call, signal);
      if (isSuccess(begun)) return begun;
      this.#isThere(call, { ...begun, text: await this.#textOf(call, begun, signal) });
      return undefined;
    });
  }

  /** What is said of a connection that failed, and of one that was given up on; the signal's reason if that is why. */
  lost(call: Call, error: unknown, { isOver }: Patience, signal: AbortSignal): S3Error {
    signal.throwIfAborted();
    const { timeoutMs = TIMEOUT_MS } = this.#options;
    const why = isOver ? `nothing came for ${timeoutMs / 1000} s` : reasonOf(error);
    return new S3Error(`${this.#named(call)} was not answered: ${why}`, { is: 'unreachable' });
  }

  async #again<T>(signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
    const { attempts = ATTEMPTS, clock } = this.#options;
    for (let made = 1; ; made++) {
      try {
        return await attempt();
      } catch (error) {
        const isPassing = error instanceof S3Error && ['busy', 'unreachable'].includes(error.trouble.is);
        if (!isPassing || made >= attempts) throw error;
      }
      await sleep(clock, FIRST_PAUSE_MS * 2 ** (made - 1), signal);
    }
  }

  /** Each attempt is signed anew: a signature is good for a quarter of an hour. */
  async #send(call: Call, signal: AbortSignal): Promise<Begun> {
    signal.throwIfAborted();
    const { credentials, clock, send, timeoutMs = TIMEOUT_MS } = this.#options;
    const { method, query = {}, headers = {}, body } = call;
    const search = Object.entries(query).map(([name, value]) => `${strictlyEncoded(name)}=${strictlyEncoded(value)}`);
    const url = new URL(`${this.#url}${pathOf(call.key)}${search.length > 0 ? `?${search.join('&')}` : ''}`);
    const scope = { credentials, region: this.#region, service: 's3', now: clock.now() };
    const signed = signedHeaders({ method, url, headers, body: body ?? NOTHING }, scope);
    const patience = new Patience(clock, timeoutMs, signal);
    try {
      const response = await send({ method, url: url.href, headers: signed, body }, patience.signal);
      patience.renew();
      return { ...response, patience };
    } catch (error) {
      patience.end();
      throw this.lost(call, error, patience, signal);
    }
  }

  async #textOf(call: Call, { body, patience }: Begun, signal: AbortSignal): Promise<string> {
    const parts: Uint8Array[] = [];
    try {
      for await (const part of body) {
        patience.renew();
        parts.push(part);
      }
      return Buffer.concat(parts).toString('utf8');
    } catch (error) {
      throw this.lost(call, error, patience, signal);
    } finally {
      patience.end();
    }
  }

  #isThere(call: Call, { status, headers, text }: Answer): boolean {
    // What takes long is answered with 200 before it is done, and may turn out to have failed.
    const hasFailed = /^\s*(<\?xml[^>]*>)?\s*<Error>/.test(text);
    if (isSuccess({ status }) && !hasFailed) return true;
    const code = /^[\w.-]{1,64}$/.exec(textOf(text, 'Code') ?? '')?.[0];
    const mayBeMissing = call.key !== undefined && !WRITES.has(call.method);
    if (status === 404 && mayBeMissing && (code === undefined || code === 'NoSuchKey')) return false;
    const trouble = troubleOf(isSuccess({ status }) ? 500 : status, code);
    const region = headers['x-amz-bucket-region'] ?? textOf(text, 'Region');
    throw new S3Error(
      `${this.#named(call)} was answered with ${said(trouble)}${hint(trouble, this.#region, region)}`,
      trouble,
    );
  }

  #named({ method, key = '' }: Call): string {
    const { bucket, endpoint } = this.#options;
    // Without what may stand before the host.
    return `${method} ${bucket}/${key} at ${new URL(endpoint).origin}`;
  }
}

const NOTHING = new Uint8Array();
const WRITES: ReadonlySet<Call['method']> = new Set(['PUT', 'POST']);

const isSuccess = ({ status }: { readonly status: number }): boolean => status >= 200 && status < 300;

/** Nothing that a URL would make another path of. */
function pathOf(key: string | undefined): string {
  if (key === undefined) return '';
  const segments = key.split('/');
  if (segments.includes('.') || segments.includes('..')) {
    const trouble: Trouble = { is: 'refused', status: 400, code: 'InvalidObjectName' };
    throw new S3Error(`the key ${key} has a segment . or .., which no URL can carry`, trouble);
  }
  return `/${segments.map(strictlyEncoded).join('/')}`;
}

const said = (trouble: Said): string => ('status' in trouble ? `${trouble.status} ${trouble.code}` : trouble.code);

const hint = (trouble: Trouble, ours: string, theirs: string | undefined): string =>
  trouble.is === 'refused' && theirs !== undefined && theirs !== ours && /^[\w-]{1,64}$/.test(theirs)
    ? ` (the bucket is in region ${theirs}, the request was for ${ours})`
    : '';

/** What the platform says of sockets; for several addresses of one host it is a list of that. */
function reasonOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error ? first.message : 'the request could not be made';
}
