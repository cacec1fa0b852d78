import { createHash } from 'node:crypto';
import { Refusal } from './refusal.ts';

/** What was sent with an object and comes back with it. */
export type Kept = Readonly<Record<string, string>>;

export interface StoredObject {
  readonly body: Uint8Array;
  readonly etag: string;
  readonly modifiedAt: number;
  readonly kept: Kept;
}

interface Upload {
  readonly key: string;
  readonly kept: Kept;
  readonly begunAt: number;
  readonly parts: Map<number, { readonly body: Uint8Array; readonly etag: string }>;
}

/** All parts but the last are at least as large. */
const SMALLEST_PART = 5 * 2 ** 20;

/** One bucket: its objects, and what is on its way to become one. */
export class Store {
  readonly objects = new Map<string, StoredObject>();
  readonly uploads = new Map<string, Upload>();
  #begun = 0;

  put(key: string, body: Uint8Array, kept: Kept, now: number): string {
    const etag = etagOf(body);
    this.objects.set(key, { body, etag, modifiedAt: now, kept });
    return etag;
  }

  begin(key: string, kept: Kept, now: number): string {
    const id = `upload-${++this.#begun}`;
    this.uploads.set(id, { key, kept, begunAt: now, parts: new Map() });
    return id;
  }

  /** A part that is sent again replaces the one before. */
  send(key: string, id: string, number: number, body: Uint8Array): string {
    if (!(number >= 1 && number <= 10_000)) throw new Refusal(400, 'InvalidArgument');
    const etag = etagOf(body);
    this.#upload(key, id).parts.set(number, { body, etag });
    return etag;
  }

  complete(key: string, id: string, named: readonly { number: number; etag: string }[], now: number): string {
    const upload = this.#upload(key, id);
    if (named.length === 0) throw new Refusal(400, 'MalformedXML');
    if (named.some(({ number }, at) => number <= (named[at - 1]?.number ?? 0)))
      throw new Refusal(400, 'InvalidPartOrder');
    const parts = named.map(({ number, etag }) => {
      const part = upload.parts.get(number);
      if (part?.etag !== etag) throw new Refusal(400, 'InvalidPart');
      return part.body;
    });
    if (parts.slice(0, -1).some(({ byteLength }) => byteLength < SMALLEST_PART))
      throw new Refusal(400, 'EntityTooSmall');
    const digests = parts.map((part) => createHash('md5').update(part).digest());
    const etag = `"${createHash('md5').update(Buffer.concat(digests)).digest('hex')}-${parts.length}"`;
    this.objects.set(key, { body: Buffer.concat(parts), etag, modifiedAt: now, kept: upload.kept });
    this.uploads.delete(id);
    return etag;
  }

  abort(key: string, id: string): void {
    this.#upload(key, id);
    this.uploads.delete(id);
  }

  #upload(key: string, id: string): Upload {
    const upload = this.uploads.get(id);
    if (upload?.key !== key) throw new Refusal(404, 'NoSuchUpload');
    return upload;
  }
}

const etagOf = (body: Uint8Array): string => `"${createHash('md5').update(body).digest('hex')}"`;
