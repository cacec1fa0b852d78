import { type AwsCredentials, signedHeaders, strictlyEncoded } from '@polder/s3';
import { exchange, type HttpAnswer, type Transport } from './http.ts';
import { IcebergError, troubleOf } from './trouble.ts';

export interface ObjectStorageOptions {
  /** Undefined: the one of AWS in the region. Buckets are named in the path, which every S3 understands. */
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly credentials: AwsCredentials;
  readonly transport: Transport;
}

/** A bucket store that speaks S3. Locations are as Iceberg names them: `s3://bucket/path/to/file`. */
export class ObjectStorage {
  readonly #options: ObjectStorageOptions;
  readonly #endpoint: string;

  constructor(options: ObjectStorageOptions) {
    this.#options = options;
    const { endpoint = `https://s3.${options.region}.amazonaws.com` } = options;
    this.#endpoint = endpoint.replace(/\/+$/, '');
  }

  async read(location: string, signal: AbortSignal): Promise<Buffer> {
    return (await this.#request('GET', location, {}, NOTHING, signal)).body;
  }

  /** The bytes from `start` up to, and without, `end`. */
  async readRange(location: string, start: number, end: number, signal: AbortSignal): Promise<Buffer> {
    const { status, body } = await this.#request(
      'GET',
      location,
      { range: `bytes=${start}-${end - 1}` },
      NOTHING,
      signal,
    );
    // A server that knows no ranges sends all of it.
    return status === 206 ? body : body.subarray(start, end);
  }

  async write(location: string, body: Uint8Array, signal: AbortSignal): Promise<void> {
    await this.#request('PUT', location, {}, body, signal);
  }

  /** One that is not there is removed already. */
  async remove(location: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#request('DELETE', location, {}, NOTHING, signal);
    } catch (error) {
      if (!(error instanceof IcebergError) || error.status !== 404) throw error;
    }
  }

  async #request(
    method: 'GET' | 'PUT' | 'DELETE',
    location: string,
    headers: Readonly<Record<string, string>>,
    body: Uint8Array,
    signal: AbortSignal,
  ): Promise<HttpAnswer> {
    const { credentials, region, transport } = this.#options;
    const url = new URL(`${this.#endpoint}/${pathOf(location)}`);
    const scope = { credentials, region, service: 's3', now: transport.clock.now() };
    const signed = signedHeaders({ method, url, headers, body }, scope);
    const answer = await exchange(
      transport,
      { method, url: url.href, headers: signed, ...(method === 'PUT' && { body }) },
      signal,
    );
    if (answer.status >= 200 && answer.status < 300) return answer;
    const code = /<Code>([\w.-]{1,64})<\/Code>/.exec(answer.body.toString('utf8', 0, 2048))?.[1];
    const said = code === undefined ? `${answer.status}` : `${answer.status} ${code}`;
    throw new IcebergError(`the object storage ${this.#endpoint} answered ${said} to ${method} ${location}`, {
      ...troubleOf(answer.status),
      ...(PASSING_CODES.has(code ?? '') && { type: 'transient', isRetryable: true }),
    });
  }
}

const NOTHING = new Uint8Array();

/** Refusals that end by themselves: lent credentials are lent anew, clocks are set. */
const PASSING_CODES = new Set(['ExpiredToken', 'RequestTimeTooSkewed', 'RequestTimeout', 'SlowDown']);

function pathOf(location: string): string {
  const [, bucket, key] = /^s3[an]?:\/\/([^/]+)\/(.+)$/.exec(location) ?? [];
  if (bucket === undefined || key === undefined)
    throw new IcebergError(`${location} is not on S3: only tables whose location begins with s3:// can be used`);
  return [bucket, ...key.split('/')].map(strictlyEncoded).join('/');
}
