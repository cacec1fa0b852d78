import { type Fault, type LoggedRequest, Storage } from '@polder/doubles/s3';
import { VirtualClock } from '@polder/kube';
import { beforeEach, describe, expect, test } from 'vitest';
import { forever, streamOf } from '../test/contract.ts';
import { Bucket, PART_BYTES, S3Error, type Send } from './index.ts';

const MIB = 2 ** 20;
const SECRET = 'never to be told';

let clock: VirtualClock;
let storage: Storage;
beforeEach(() => {
  clock = new VirtualClock();
  storage = new Storage({ clock, buckets: ['lake'], keys: { polder: SECRET } });
});

const bucketWith = (send: Send = storage.send) =>
  new Bucket({
    endpoint: 'http://user:password@s3.storage:9000',
    bucket: 'lake',
    credentials: { accessKey: 'polder', secretAccessKey: SECRET },
    send,
    clock,
  });

/** Moves the clock on until it is there. */
async function run<T>(work: Promise<T>): Promise<T> {
  const over = new AbortController();
  work.finally(() => over.abort()).catch(() => {});
  for (let i = 0; i < 3_000 && !over.signal.aborted; i++) await clock.advance(1_000);
  return work;
}

const errorOf = async (work: Promise<unknown>): Promise<S3Error> => {
  const error: unknown = await run(work).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof S3Error)) throw new Error(`no S3Error: ${String(error)}`);
  expect(error.message).not.toMatch(/never to be told|password/);
  return error;
};

/** The first so many requests of a kind go wrong. */
const failing = (times: number, fault: Fault, isMeant: (request: LoggedRequest) => boolean = () => true) => {
  let left = times;
  storage.fault = (request) => (isMeant(request) && left-- > 0 ? fault : undefined);
};

const slowDown: Fault = { is: 'answer', status: 503, code: 'SlowDown' };

describe('what passes by itself is asked for again, later each time', () => {
  test.each<Fault>([
    slowDown,
    { is: 'answer', status: 500, code: 'InternalError' },
    { is: 'close' },
    { is: 'close-after' },
  ])('$is $code', async (fault) => {
    failing(3, fault);
    await run(bucketWith().put('a', Buffer.from('x'), {}, forever));
    const [first = 0, ...rest] = storage.requests.map(({ at }) => at);
    expect(rest.map((at) => at - first)).toEqual([500, 1_500, 3_500]);
    expect([...storage.objectsIn('lake').keys()]).toEqual(['a']);
  });

  test('and in the end it is told', async () => {
    failing(9, slowDown);
    const error = await errorOf(bucketWith().list('', forever));
    expect(error.trouble).toEqual({ is: 'busy', status: 503, code: 'SlowDown' });
    expect(error.message).toBe('GET lake/ at http://s3.storage:9000 was answered with 503 SlowDown');
    expect(storage.requests).toHaveLength(4);
  });

  test('a server that hangs is given up on', async () => {
    failing(9, { is: 'hang' });
    const error = await errorOf(bucketWith().head('a', forever));
    expect(error.trouble).toEqual({ is: 'unreachable' });
    expect(error.message).toContain('nothing came for 120 s');
  });

  test('what is refused is not asked for again', async () => {
    failing(9, { is: 'answer', status: 403, code: 'AccessDenied' });
    expect((await errorOf(bucketWith().list('', forever))).trouble).toEqual({ is: 'forbidden', code: 'AccessDenied' });
    expect(storage.requests).toHaveLength(1);
  });
});

test('who has been told to stop, stops, with the reason he was given', async () => {
  const stop = new AbortController();
  failing(9, { is: 'hang' });
  const asked = bucketWith().list('', stop.signal);
  stop.abort(new Error('no longer the leader'));
  await expect(run(asked)).rejects.toThrow('no longer the leader');
});

describe('an object that is read', () => {
  beforeEach(() => run(bucketWith().put('a', streamOf(MIB), {}, forever)));

  test.each<Fault>([{ is: 'cut', afterBytes: 300_000 }])('is not taken for whole when it is cut off', async (fault) => {
    failing(1, fault);
    const found = await bucketWith().get('a', forever);
    const error = await errorOf(Array.fromAsync(found?.body ?? []));
    expect(error.trouble).toEqual({ is: 'unreachable' });
  });

  test('nor when it ends early without a word', async () => {
    const short: Send = async (request, signal) => {
      const response = await storage.send(request, signal);
      return { ...response, headers: { ...response.headers, 'content-length': `${MIB + 1}` } };
    };
    const found = await bucketWith(short).get('a', forever);
    expect((await errorOf(Array.fromAsync(found?.body ?? []))).message).toContain('1048576 of 1048577 bytes came');
  });

  test('may be read slowly', async () => {
    const found = await bucketWith().get('a', forever);
    let bytes = 0;
    for await (const part of found?.body ?? []) {
      await clock.advance(200_000);
      bytes += part.byteLength;
    }
    expect(bytes).toBe(MIB);
  });

  test('leaves no timer behind, read or not', async () => {
    const found = await bucketWith().get('a', forever);
    for await (const _ of found?.body ?? []) break;
    expect(clock.pending).toBe(0);
  });
});

describe('a large object', () => {
  const isPart = ({ method, path }: LoggedRequest) => method === 'PUT' && path.includes('partNumber=2');
  const isEnd = ({ method, path }: LoggedRequest) => method === 'POST' && path.includes('uploadId=');
  const put = (options = {}) => bucketWith().put('large', streamOf(2 * PART_BYTES + 5), options, forever);

  test('is sent on from the part that failed', async () => {
    failing(2, slowDown, isPart);
    await run(put());
    expect(storage.objectsIn('lake').get('large')?.body.byteLength).toBe(2 * PART_BYTES + 5);
    expect(storage.requests.filter(({ path }) => path.includes('partNumber=1'))).toHaveLength(1);
  });

  test.each<[string, Fault, typeof isPart]>([
    ['a part that is never taken', slowDown, isPart],
    ['a hash of a part that is not its', { is: 'wrong-etag' }, isPart],
    ['an end that is never answered well', { is: 'answer', status: 500, code: 'InternalError' }, isEnd],
  ])('is not there after %s, and nothing of it is left', async (_, fault, isMeant) => {
    failing(9, fault, isMeant);
    await errorOf(put());
    expect([...storage.objectsIn('lake').keys()]).toEqual([]);
    expect(storage.uploadsIn('lake')).toEqual([]);
  });

  test('is there if only the answer to its end was lost', async () => {
    failing(1, { is: 'close-after' }, isEnd);
    expect(await run(put({ metadata: { sha256: 'told' } }))).toEqual({ bytes: 2 * PART_BYTES + 5 });
    expect(storage.objectsIn('lake').get('large')?.kept).toEqual({ 'x-amz-meta-sha256': 'told' });
  });

  test('whose end is answered with 200 and an error in it is not there', async () => {
    const failsLate: Send = async (request, signal) => {
      if (request.method !== 'POST' || !request.url.includes('uploadId=')) return storage.send(request, signal);
      const text = '<?xml version="1.0"?>\n<Error><Code>InternalError</Code></Error>';
      return { status: 200, headers: {}, body: bodyOf(text) };
    };
    const error = await errorOf(bucketWith(failsLate).put('large', streamOf(PART_BYTES), {}, forever));
    expect(error.trouble).toEqual({ is: 'busy', status: 500, code: 'InternalError' });
    expect(storage.uploadsIn('lake')).toEqual([]);
  });

  test('takes the memory of one part, however large it is', async () => {
    let [produced, taken, most] = [0, 0, 0];
    async function* counted() {
      for await (const part of streamOf(200 * MIB)) {
        produced += part.byteLength;
        most = Math.max(most, produced - taken);
        yield part;
      }
    }
    // Nothing is kept: 200 MiB of it would say nothing about the client.
    const counting: Send = async ({ method, url, body }) => {
      if (method === 'PUT') taken += body?.byteLength ?? 0;
      const text = method === 'POST' && url.includes('uploads') ? '<UploadId>1</UploadId>' : '';
      return { status: 200, headers: { etag: '"x"' }, body: bodyOf(text) };
    };
    await run(bucketWith(counting).put('large', counted(), {}, forever));
    expect(taken).toBe(200 * MIB);
    expect(most).toBeLessThanOrEqual(PART_BYTES + 65_537);
  });
});

async function* bodyOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

test('a key that a URL would make another path of is refused', async () => {
  await expect(bucketWith().get('a/../../other/b', forever)).rejects.toThrow('has a segment . or ..');
  expect(storage.requests).toEqual([]);
});

test('a bucket in another region is told by its name', async () => {
  storage = new Storage({ clock, buckets: ['lake'], keys: { polder: SECRET }, region: 'eu-west-1' });
  const error = await errorOf(bucketWith().list('', forever));
  expect(error.message).toContain('(the bucket is in region eu-west-1, the request was for us-east-1)');
});
