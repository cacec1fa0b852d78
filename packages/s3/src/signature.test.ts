import { expect, test } from 'vitest';
import { signedHeaders } from './signature.ts';

// The examples that AWS publishes for Signature Version 4 with S3.
const scope = {
  credentials: { accessKey: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
  region: 'us-east-1',
  service: 's3',
  now: Date.UTC(2013, 4, 24),
};
const bucket = 'https://examplebucket.s3.amazonaws.com';

function signatureOf(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body = '',
): string | undefined {
  const signed = signedHeaders({ method, url: new URL(bucket + path), headers, body: Buffer.from(body) }, scope);
  return /Signature=(\w+)$/.exec(signed['authorization'] ?? '')?.[1];
}

test('requests are signed as AWS signs them', () => {
  expect(signatureOf('GET', '/test.txt', { Range: 'bytes=0-9' })).toBe(
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  );
  const headers = { Date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' };
  expect(signatureOf('PUT', '/test%24file.text', headers, 'Welcome to Amazon S3.')).toBe(
    '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  );
  expect(signatureOf('GET', '/?lifecycle')).toBe('fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543');
  expect(signatureOf('GET', '/?max-keys=2&prefix=J')).toBe(
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  );
});

test('credentials that were lent are signed with their token', () => {
  const credentials = { ...scope.credentials, sessionToken: 'lent' };
  const request = { method: 'GET', url: new URL(bucket), headers: {}, body: new Uint8Array() };
  const signed = signedHeaders(request, { ...scope, credentials });
  expect(signed['x-amz-security-token']).toBe('lent');
  expect(signed['authorization']).toContain('SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,');
});
