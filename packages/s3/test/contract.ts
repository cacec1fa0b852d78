/** What every storage promises, the stand-in and a real one alike. */
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { type AwsCredentials, type Bucket, S3Error } from '../src/index.ts';

export interface Setting {
  /** The bucket, which is empty at first, or another one by its name. */
  bucket(options?: { readonly credentials?: AwsCredentials; readonly name?: string }): Bucket;
  readonly credentials: AwsCredentials;
  /** How many objects are more than one answer lists. */
  readonly moreThanAPage: number;
  /** The keys of uploads that are neither completed nor aborted. */
  uploads(): Promise<readonly string[]>;
}

export const forever = new AbortController().signal;

const MIB = 2 ** 20;

export function bucketContract(settingOf: () => Setting): void {
  let bucket: Bucket;
  beforeEach(async () => {
    bucket = settingOf().bucket();
    await bucket.abandonUploads('', forever);
    const all = await bucket.list('', forever);
    await bucket.remove(
      all.map(({ key }) => key),
      forever,
    );
  });

  const textAt = async (key: string) => {
    const found = await bucket.get(key, forever);
    return found && Buffer.concat(await Array.fromAsync(found.body)).toString('utf8');
  };

  test('what is put comes back, with what was said about it', async () => {
    const metadata = { sha256: 'abc', shard: '7' };
    await bucket.put('a/b.json', Buffer.from('{}'), { metadata, contentType: 'application/json' }, forever);
    const found = await bucket.head('a/b.json', forever);
    expect(found).toMatchObject({ key: 'a/b.json', bytes: 2, metadata });
    expect(Math.abs((found?.modifiedAt ?? 0) - Date.now())).toBeLessThan(3_600_000);
    expect(await textAt('a/b.json')).toBe('{}');
  });

  test('a key may be any text', async () => {
    for (const key of ["a b+c&d=e'(f)*!", 'ü/%2F/ß€', 'a~b.c/--_', '"quoted"<tag>', 'x?y#z:;@$,[]']) {
      await bucket.put(key, Buffer.from(key), {}, forever);
      expect(await textAt(key)).toBe(key);
      expect((await bucket.list(key, forever)).map((one) => one.key)).toEqual([key]);
    }
  });

  test('a stream of nothing is an empty object', async () => {
    await bucket.put('empty', streamOf(0), {}, forever);
    expect(await textAt('empty')).toBe('');
    expect(await bucket.head('empty', forever)).toMatchObject({ bytes: 0 });
  });

  test('a stream of unknown length comes back byte for byte, however many parts it took', async () => {
    for (const bytes of [MIB + 7, 16 * MIB, 18 * MIB + 11]) {
      const sha256 = createHash('sha256');
      const metadata = { sha256: 'told before' };
      expect(await bucket.put('large', hashed(streamOf(bytes), sha256), { metadata }, forever)).toEqual({ bytes });
      expect(await bucket.head('large', forever)).toMatchObject({ bytes, metadata });
      const found = createHash('sha256');
      for await (const part of (await bucket.get('large', forever))?.body ?? []) found.update(part);
      expect(found.digest('hex')).toBe(sha256.digest('hex'));
    }
    expect(await settingOf().uploads()).toEqual([]);
  });

  test('a part of an object can be asked for', async () => {
    await bucket.put('digits', Buffer.from('0123456789'), {}, forever);
    const found = await bucket.get('digits', forever, { start: 3, end: 7 });
    expect(Buffer.concat(await Array.fromAsync(found?.body ?? [])).toString()).toBe('3456');
  });

  test('all of what begins with a prefix is listed, and nothing else, however much it is', async () => {
    const names = Array.from({ length: settingOf().moreThanAPage }, (_, at) => `many/${String(at).padStart(5, '0')}`);
    await inTurns(names, 20, (name) => bucket.put(name, Buffer.from('x'), {}, forever));
    await bucket.put('manyfold', Buffer.from('x'), {}, forever);
    const found = await bucket.list('many/', forever);
    expect(found.map(({ key }) => key)).toEqual(names);
    expect(found[0]).toMatchObject({ bytes: 1, etag: expect.stringContaining('"') });
    expect(await bucket.list('none/', forever)).toEqual([]);
  });

  test('what is not there is an answer', async () => {
    expect(await bucket.head('none', forever)).toBeUndefined();
    expect(await bucket.get('none', forever)).toBeUndefined();
    await bucket.remove(['none'], forever);
  });

  test('what was removed is gone', async () => {
    for (const key of ['a', 'b', 'c']) await bucket.put(key, Buffer.from(key), {}, forever);
    await bucket.remove(['c', 'a'], forever);
    expect((await bucket.list('', forever)).map(({ key }) => key)).toEqual(['b']);
  });

  test('a stream that breaks off leaves nothing, and what was there stays', async () => {
    await bucket.put('kept', Buffer.from('before'), {}, forever);
    for (const bytes of [MIB, 17 * MIB]) {
      const put = bucket.put('kept', streamOf(bytes, 'the source is gone'), {}, forever);
      await expect(put).rejects.toThrow('the source is gone');
      expect(await textAt('kept')).toBe('before');
    }
    expect(await settingOf().uploads()).toEqual([]);
  });

  test('uploads that nobody will end are found by their keys', async () => {
    const cut = new AbortController();
    const started = bucket.put(
      'half/one',
      streamOf(40 * MIB, undefined, () => cut.abort(new Error('cut'))),
      {},
      cut.signal,
    );
    await expect(started).rejects.toThrow('cut');
    await bucket.abandonUploads('half/', forever);
    expect(await settingOf().uploads()).toEqual([]);
    expect(await bucket.head('half/one', forever)).toBeUndefined();
  });

  describe('who may not is told so by a code, and no secret is repeated', () => {
    const secret = 'wrong-and-secret';
    const troubleWith = async (asked: Promise<unknown>) => {
      const error = await asked.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (!(error instanceof S3Error)) throw new Error(`no S3Error: ${String(error)}`);
      expect(error.message).not.toContain(secret);
      expect(error.message).not.toContain(settingOf().credentials.secretAccessKey);
      return error.trouble;
    };

    test('with a key that nobody knows', async () => {
      const credentials = { accessKey: 'nobody', secretAccessKey: secret };
      const other = settingOf().bucket({ credentials });
      // Not every server says so with 403, and to HEAD a 404 has no code.
      const code = expect.stringMatching(/^(InvalidAccessKeyId|XAdminUserNotFound)$/);
      expect(await troubleWith(other.list('', forever))).toMatchObject({ code });
    });

    test('with the wrong secret', async () => {
      const credentials = { ...settingOf().credentials, secretAccessKey: secret };
      const other = settingOf().bucket({ credentials });
      const forbidden = { is: 'forbidden', code: 'SignatureDoesNotMatch' };
      expect(await troubleWith(other.list('', forever))).toEqual(forbidden);
      expect(await troubleWith(other.head('x', forever))).toEqual({ is: 'forbidden', code: 'Forbidden' });
      expect(await troubleWith(other.put('x', Buffer.from('x'), {}, forever))).toEqual(forbidden);
      expect(await troubleWith(other.put('x', streamOf(20 * MIB), {}, forever))).toEqual(forbidden);
    });

    test('of a bucket that is not there', async () => {
      const other = settingOf().bucket({ name: 'nowhere' });
      const missing = { is: 'no-bucket', code: 'NoSuchBucket' };
      expect(await troubleWith(other.list('', forever))).toEqual(missing);
      expect(await troubleWith(other.put('x', Buffer.from('x'), {}, forever))).toEqual(missing);
      expect(await troubleWith(other.get('x', forever))).toEqual(missing);
    });
  });
}

/** Bytes that repeat themselves late, in uneven chunks; with a reason, they break off at the end. */
export async function* streamOf(bytes: number, breaksOff?: string, half?: () => void): AsyncGenerator<Uint8Array> {
  const chunk = Buffer.from(Array.from({ length: 65_537 }, (_, at) => (at * 7 + (at >> 8)) % 251));
  for (let sent = 0; sent < bytes; ) {
    const some = chunk.subarray(0, Math.min(chunk.length, bytes - sent));
    yield some;
    sent += some.length;
    if (sent > bytes / 2) half?.();
  }
  if (breaksOff !== undefined) throw new Error(breaksOff);
}

async function* hashed(stream: AsyncIterable<Uint8Array>, into: { update(part: Uint8Array): unknown }) {
  for await (const part of stream) {
    into.update(part);
    yield part;
  }
}

async function inTurns<T>(all: readonly T[], atOnce: number, work: (one: T) => Promise<unknown>): Promise<void> {
  const left = all.values();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const one of left) await work(one);
    }),
  );
}
