import { VirtualClock } from '@polder/kube/clock';
import { beforeEach, expect, test } from 'vitest';
import { Storage } from '../../s3/src/index.ts';

// The example that AWS publishes: what was signed, and by which signature.
const moment = Date.UTC(2013, 4, 24);
const headers = {
  range: 'bytes=0-9',
  'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  'x-amz-date': '20130524T000000Z',
  authorization:
    'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
};
const url = 'https://examplebucket.s3.amazonaws.com/test.txt';
const forever = new AbortController().signal;

let storage: Storage;
beforeEach(() => {
  const clock = new VirtualClock(moment);
  const keys = { AKIAIOSFODNN7EXAMPLE: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };
  storage = new Storage({ clock, buckets: ['lake'], keys });
});

const codeOf = async (request: { url?: string; method?: string; headers?: Record<string, string>; body?: Buffer }) => {
  const { body } = await storage.send({ method: 'GET', url, headers, ...request }, forever);
  const text = Buffer.concat(await Array.fromAsync(body)).toString();
  return /<Code>(\w+)</.exec(text)?.[1];
};

test('a signature is good for the request that was signed, and for no other', async () => {
  // It is let in; the bucket of the example is not here.
  expect(await codeOf({})).toBe('NoSuchBucket');
  expect(await codeOf({ url: `${url}x` })).toBe('SignatureDoesNotMatch');
  expect(await codeOf({ url: `${url}?acl` })).toBe('SignatureDoesNotMatch');
  expect(await codeOf({ method: 'DELETE' })).toBe('SignatureDoesNotMatch');
  expect(await codeOf({ headers: { ...headers, range: 'bytes=0-99' } })).toBe('SignatureDoesNotMatch');
  expect(await codeOf({ body: Buffer.from('other') })).toBe('XAmzContentSHA256Mismatch');
  expect(await codeOf({ headers: { ...headers, 'x-amz-meta-a': 'unsigned' } })).toBe('AccessDenied');
  expect(await codeOf({ headers: {} })).toBe('AccessDenied');
});

test('nor for long', async () => {
  storage = new Storage({
    clock: new VirtualClock(moment + 16 * 60_000),
    buckets: [],
    keys: { AKIAIOSFODNN7EXAMPLE: '' },
  });
  expect(await codeOf({})).toBe('RequestTimeTooSkewed');
});
