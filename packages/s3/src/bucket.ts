import { type Begun, type BucketOptions, type Call, Exchange } from './exchange.ts';
import { partBytesFor, partsOf } from './parts.ts';
import { S3Error } from './trouble.ts';
import { elements, escaped, textOf } from './xml.ts';

export interface ObjectInfo {
  readonly key: string;
  readonly bytes: number;
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
}

/** One that was asked for by its key. */
export interface StoredObject extends ObjectInfo {
  /** What was given when it was put, by names in lower case. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** Bytes from `start` up to, and without, `end`. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

export interface PutOptions {
  /** Kept with the object: short texts of ASCII, by names in lower case. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly contentType?: string;
  /** About how many are coming, if that is known: what is very large has to go in larger parts. */
  readonly expectedBytes?: number;
}

/**
 * A bucket. Failures are `S3Error`s; that an object is not there is none. Nothing is kept in memory but one part of what is put
 * (16 MiB, more for what is larger than 156 GiB).
 */
export class Bucket {
  readonly #exchange: Exchange;

  constructor(options: BucketOptions) {
    this.#exchange = new Exchange(options);
  }

  /** All that begin with `prefix`, in the order of their keys. */
  async list(prefix: string, signal: AbortSignal): Promise<readonly ObjectInfo[]> {
    const found: ObjectInfo[] = [];
    let token: string | undefined;
    do {
      const query = { 'list-type': '2', prefix, ...(token !== undefined && { 'continuation-token': token }) };
      const text = await this.#textOf({ method: 'GET', query }, signal);
      found.push(...elements(text, 'Contents').flatMap(listed));
      token = textOf(text, 'IsTruncated') === 'true' ? textOf(text, 'NextContinuationToken') : undefined;
    } while (token !== undefined);
    return found;
  }

  async head(key: string, signal: AbortSignal): Promise<StoredObject | undefined> {
    const answer = await this.#exchange.ask({ method: 'HEAD', key }, signal);
    return answer && stored(key, answer.headers);
  }

  /** The stream throws an `S3Error` if it is cut off: what has come by then is not all of it. */
  async get(
    key: string,
    signal: AbortSignal,
    range?: Range,
  ): Promise<(StoredObject & { readonly body: AsyncIterable<Uint8Array> }) | undefined> {
    const headers = { ...(range && { range: `bytes=${range.start}-${range.end - 1}` }) };
    const call: Call = { method: 'GET', key, headers };
    const begun = await this.#exchange.open(call, signal);
    if (!begun) return undefined;
    const info = stored(key, begun.headers);
    const body = whole(begun, info.bytes, (error) => this.#exchange.lost(call, error, begun.patience, signal));
    if (!range || begun.status === 206) return { ...info, body };
    await body.return(undefined);
    throw nonsense(`GET ${key} was answered without regard to its range`);
  }

  /**
   * There is all of it afterwards, or what was there before. Each part is signed with its hash, which the server checks: over
   * plain HTTP as well as over HTTPS.
   */
  async put(
    key: string,
    body: Uint8Array | AsyncIterable<Uint8Array>,
    options: PutOptions,
    signal: AbortSignal,
  ): Promise<{ readonly bytes: number }> {
    const headers = headersOf(options);
    const partBytes = partBytesFor(options.expectedBytes);
    const parts = body instanceof Uint8Array ? [body] : partsOf(body, partBytes);
    let upload: Upload | undefined;
    let bytes = 0;
    try {
      for await (const part of parts) {
        bytes += part.byteLength;
        if (!upload && (body instanceof Uint8Array || part.byteLength < partBytes)) {
          await this.#exchange.ask({ method: 'PUT', key, headers, body: part }, signal);
          return { bytes };
        }
        upload ??= await this.#begin(key, headers, signal);
        await this.#send(upload, part, signal);
      }
      if (upload) await this.#complete(upload, { bytes, metadata: options.metadata ?? {} }, signal);
      return { bytes };
    } catch (error) {
      if (upload) await this.#abandon(upload);
      throw error;
    }
  }

  /** One after the other, in this order. Those that are not there are removed already. */
  async remove(keys: readonly string[], signal: AbortSignal): Promise<void> {
    for (const key of keys) await this.#exchange.ask({ method: 'DELETE', key }, signal);
  }

  /** What was begun under these keys, and broken off by a crash: it is no object, and costs as one. */
  async abandonUploads(prefix: string, signal: AbortSignal): Promise<void> {
    const text = await this.#textOf({ method: 'GET', query: { uploads: '', prefix } }, signal);
    for (const one of elements(text, 'Upload')) {
      const [key, id] = [textOf(one, 'Key'), textOf(one, 'UploadId')];
      if (key?.startsWith(prefix) && id !== undefined)
        await this.#exchange.ask({ method: 'DELETE', key, query: { uploadId: id } }, signal);
    }
  }

  async #begin(key: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Upload> {
    const text = await this.#textOf({ method: 'POST', key, query: { uploads: '' }, headers }, signal);
    const id = textOf(text, 'UploadId');
    if (id === undefined) throw nonsense(`POST ${key} was answered without an UploadId`);
    return { key, id, etags: [] };
  }

  async #send({ key, id, etags }: Upload, body: Uint8Array, signal: AbortSignal): Promise<void> {
    const query = { partNumber: `${etags.length + 1}`, uploadId: id };
    const etag = (await this.#exchange.ask({ method: 'PUT', key, query, body }, signal))?.headers['etag'];
    if (etag === undefined) throw nonsense(`PUT ${key} was answered without an ETag`);
    etags.push(etag);
  }

  async #complete({ key, id, etags }: Upload, is: Sent, signal: AbortSignal): Promise<void> {
    const parts = etags.map(
      (etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${escaped(etag)}</ETag></Part>`,
    );
    const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
    try {
      await this.#exchange.ask({ method: 'POST', key, query: { uploadId: id }, body }, signal);
    } catch (error) {
      // It was done, and the answer was lost: who asks again is told that there is no such upload.
      const isGone = error instanceof S3Error && 'code' in error.trouble && error.trouble.code === 'NoSuchUpload';
      if (!isGone || !isSame(await this.head(key, signal), is)) throw error;
    }
  }

  /** On the way out of a failure, also when the signal has aborted: nobody else would do it. It is not insisted on. */
  async #abandon({ key, id }: Upload): Promise<void> {
    const call: Call = { method: 'DELETE', key, query: { uploadId: id } };
    await this.#exchange.ask(call, new AbortController().signal).catch(() => {});
  }

  async #textOf(call: Call, signal: AbortSignal): Promise<string> {
    return (await this.#exchange.ask(call, signal))?.text ?? '';
  }
}

interface Upload {
  readonly key: string;
  readonly id: string;
  readonly etags: string[];
}

interface Sent {
  readonly bytes: number;
  readonly metadata: Readonly<Record<string, string>>;
}

const META = 'x-amz-meta-';

function headersOf({ metadata = {}, contentType }: PutOptions): Record<string, string> {
  const kept = Object.entries(metadata).map(([name, value]) => [`${META}${name}`, value] as const);
  return { ...Object.fromEntries(kept), ...(contentType !== undefined && { 'content-type': contentType }) };
}

const isSame = (found: StoredObject | undefined, { bytes, metadata }: Sent): boolean =>
  found?.bytes === bytes && Object.entries(metadata).every(([name, value]) => found.metadata[name] === value);

function listed(xml: string): readonly ObjectInfo[] {
  const key = textOf(xml, 'Key');
  if (key === undefined) return [];
  const modifiedAt = Date.parse(textOf(xml, 'LastModified') ?? '');
  return [{ key, bytes: Number(textOf(xml, 'Size')), etag: textOf(xml, 'ETag') ?? '', modifiedAt }];
}

function stored(key: string, headers: Readonly<Record<string, string>>): StoredObject {
  const kept = Object.entries(headers).filter(([name]) => name.startsWith(META));
  return {
    key,
    bytes: Number(headers['content-length']),
    etag: headers['etag'] ?? '',
    modifiedAt: Date.parse(headers['last-modified'] ?? ''),
    metadata: Object.fromEntries(kept.map(([name, value]) => [name.slice(META.length), value])),
  };
}

/** Another answer than S3 gives: whoever is there is something else, or a proxy before it. */
const nonsense = (message: string): S3Error =>
  new S3Error(message, { is: 'refused', status: 200, code: 'UnexpectedAnswer' });

/** A stream that ends early without a word is no whole one either. Whoever takes his time with a part is not waited for. */
async function* whole(
  { body, patience }: Begun,
  bytes: number,
  lost: (error: unknown) => S3Error,
): AsyncGenerator<Uint8Array, void, void> {
  let seen = 0;
  try {
    for await (const part of body) {
      patience.end();
      seen += part.byteLength;
      yield part;
      patience.renew();
    }
  } catch (error) {
    throw lost(error);
  } finally {
    patience.end();
  }
  if (seen !== bytes) throw lost(new Error(`${seen} of ${bytes} bytes came`));
}
