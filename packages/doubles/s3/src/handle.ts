import { Refusal } from './refusal.ts';
import type { Kept, Store } from './store.ts';

export interface Asked {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface Shelf {
  /** By their names. */
  readonly buckets: ReadonlyMap<string, Store>;
  /** The most objects that one answer lists. */
  readonly pageSize: number;
  readonly now: number;
}

/** Carries out one request, whoever sent it. */
export function handle({ method, url, headers, body }: Asked, { buckets, pageSize, now }: Shelf): Answered {
  const [, bucket = '', rest = ''] = /^\/([^/]*)\/?(.*)$/.exec(url.pathname) ?? [];
  const store = buckets.get(decodeURIComponent(bucket));
  if (!store) throw new Refusal(404, 'NoSuchBucket');
  const key = decodeURIComponent(rest);
  const query = url.searchParams;
  if (key === '') {
    if (method !== 'GET') throw new Refusal(405, 'MethodNotAllowed');
    return query.has('uploads') ? listUploads(store, query) : list(store, query, pageSize);
  }
  const upload = query.get('uploadId');
  switch (method) {
    case 'GET':
    case 'HEAD':
      return read(store, key, headers['range'], method === 'HEAD');
    case 'PUT': {
      const etag =
        upload === null
          ? store.put(key, body, keptOf(headers), now)
          : store.send(key, upload, Number(query.get('partNumber')), body);
      return { status: 200, headers: { etag }, body: NOTHING };
    }
    case 'POST': {
      if (query.has('uploads')) {
        const id = store.begin(key, keptOf(headers), now);
        return xml(
          `<InitiateMultipartUploadResult><Key>${text(key)}</Key><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
        );
      }
      if (upload === null) throw new Refusal(405, 'MethodNotAllowed');
      const etag = store.complete(key, upload, partsIn(body), now);
      return xml(
        `<CompleteMultipartUploadResult><Key>${text(key)}</Key><ETag>${text(etag)}</ETag></CompleteMultipartUploadResult>`,
      );
    }
    case 'DELETE':
      if (upload === null) store.objects.delete(key);
      else store.abort(key, upload);
      return { status: 204, headers: {}, body: NOTHING };
    default:
      throw new Refusal(405, 'MethodNotAllowed');
  }
}

function read(store: Store, key: string, range: string | undefined, isHead: boolean): Answered {
  const found = store.objects.get(key);
  if (!found) throw new Refusal(404, 'NoSuchKey');
  const size = found.body.byteLength;
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
  if (from !== undefined && Number(from) >= size) throw new Refusal(416, 'InvalidRange');
  const [start, end] = from === undefined ? [0, size] : [Number(from), to ? Math.min(Number(to) + 1, size) : size];
  const body = found.body.subarray(start, end);
  return {
    status: from === undefined ? 200 : 206,
    headers: {
      ...found.kept,
      'content-length': `${body.byteLength}`,
      'last-modified': new Date(found.modifiedAt).toUTCString(),
      'accept-ranges': 'bytes',
      etag: found.etag,
      ...(from !== undefined && { 'content-range': `bytes ${start}-${end - 1}/${size}` }),
    },
    body: isHead ? NOTHING : body,
  };
}

function list(store: Store, query: URLSearchParams, pageSize: number): Answered {
  if (query.get('list-type') !== '2') throw new Refusal(501, 'NotImplemented');
  const prefix = query.get('prefix') ?? '';
  const token = query.get('continuation-token');
  const after = token === null ? '' : Buffer.from(token, 'base64url').toString();
  const limit = Math.min(pageSize, Number(query.get('max-keys') ?? pageSize));
  const keys = [...store.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).toSorted(byCodePoints);
  const page = keys.slice(0, limit);
  const last = page.at(-1);
  const isTruncated = keys.length > page.length && last !== undefined;
  const contents = page.map((key) => {
    const { body, etag, modifiedAt } = store.objects.get(key) ?? { body: NOTHING, etag: '', modifiedAt: 0 };
    return `<Contents><Key>${text(key)}</Key><LastModified>${new Date(modifiedAt).toISOString()}</LastModified><ETag>${text(etag)}</ETag><Size>${body.byteLength}</Size></Contents>`;
  });
  const next = isTruncated
    ? `<NextContinuationToken>${Buffer.from(last).toString('base64url')}</NextContinuationToken>`
    : '';
  return xml(
    `<ListBucketResult><Prefix>${text(prefix)}</Prefix><KeyCount>${page.length}</KeyCount><IsTruncated>${isTruncated}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`,
  );
}

function listUploads(store: Store, query: URLSearchParams): Answered {
  const prefix = query.get('prefix') ?? '';
  const uploads = [...store.uploads]
    .filter(([, { key }]) => key.startsWith(prefix))
    .map(
      ([id, { key, begunAt }]) =>
        `<Upload><Key>${text(key)}</Key><UploadId>${id}</UploadId><Initiated>${new Date(begunAt).toISOString()}</Initiated></Upload>`,
    );
  return xml(
    `<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>${uploads.join('')}</ListMultipartUploadsResult>`,
  );
}

/** As S3 says no. */
export const refused = ({ status, code, details }: Refusal, isHead: boolean): Answered => {
  const more = Object.entries(details).map(([name, value]) => `<${name}>${text(value)}</${name}>`);
  const { headers, body } = xml(`<Error><Code>${code}</Code><Message>${code}</Message>${more.join('')}</Error>`);
  return { status, headers, body: isHead ? NOTHING : body };
};

const NOTHING = new Uint8Array();

const byCodePoints = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

const keptOf = (headers: Readonly<Record<string, string>>): Kept =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => name === 'content-type' || name.startsWith('x-amz-meta-')),
  );

const partsIn = (body: Uint8Array) =>
  [
    ...Buffer.from(body)
      .toString('utf8')
      .matchAll(/<Part>([^]*?)<\/Part>/g),
  ].map(([, part = '']) => ({
    number: Number(/<PartNumber>(\d+)<\/PartNumber>/.exec(part)?.[1]),
    etag: (/<ETag>([^<]*)<\/ETag>/.exec(part)?.[1] ?? '').replaceAll(/&(?:quot|#34);/g, '"'),
  }));

function xml(body: string): Answered {
  const bytes = Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${body}`);
  return { status: 200, headers: { 'content-type': 'application/xml' }, body: bytes };
}

const text = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
