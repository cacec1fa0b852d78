import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { Refusal } from './refusal.ts';

export interface Signed {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface Verifier {
  /** Secrets by access key. */
  readonly keys: Readonly<Record<string, string>>;
  readonly region: string;
  readonly now: number;
}

const FARTHEST_OFF_MS = 15 * 60_000;

/**
 * Who asks, and whether the request is the one that was signed: AWS Signature Version 4 in the header. Written from its
 * specification alone, so that it can judge those who sign.
 */
export function verify({ method, url, headers, body }: Signed, { keys, region, now }: Verifier): void {
  const authorization = headers['authorization'];
  if (authorization === undefined) throw new Refusal(403, 'AccessDenied');
  const parsed =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([\w;-]+), ?Signature=([0-9a-f]{64})$/.exec(
      authorization,
    );
  if (!parsed) throw new Refusal(400, 'AuthorizationHeaderMalformed');
  const [, accessKey = '', day = '', scopeRegion = '', names = '', signature = ''] = parsed;
  if (scopeRegion !== region) throw new Refusal(400, 'AuthorizationHeaderMalformed', { Region: region });
  const secret = keys[accessKey];
  if (secret === undefined) throw new Refusal(403, 'InvalidAccessKeyId');
  const date = headers['x-amz-date'] ?? '';
  const isTimely = Math.abs(momentOf(date) - now) <= FARTHEST_OFF_MS;
  if (!date.startsWith(day) || !isTimely) throw new Refusal(403, 'RequestTimeTooSkewed');

  const signedNames = names.split(';');
  const mustBeSigned = Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-amz-'));
  if (!mustBeSigned.every((name) => signedNames.includes(name))) throw new Refusal(403, 'AccessDenied');
  const payload = headers['x-amz-content-sha256'] ?? '';
  const canonicalHeaders = signedNames.map((name) => `${name}:${(headers[name] ?? '').trim().replace(/\s+/g, ' ')}\n`);
  const canonical = `${method}\n${url.pathname}\n${queryOf(url)}\n${canonicalHeaders.join('')}\n${names}\n${payload}`;
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${sha256(canonical)}`;
  const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, day), region), 's3'), 'aws4_request');
  if (!timingSafeEqual(hmac(key, toSign), Buffer.from(signature, 'hex')))
    throw new Refusal(403, 'SignatureDoesNotMatch');
  if (payload !== 'UNSIGNED-PAYLOAD' && payload !== sha256(body)) throw new Refusal(400, 'XAmzContentSHA256Mismatch');
}

/** `20130524T000000Z`. */
const momentOf = (date: string): number =>
  Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));

const queryOf = ({ searchParams }: URL): string =>
  [...searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .toSorted()
    .join('&');

const encoded = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) => {
      const char = String.fromCharCode(byte);
      return /[A-Za-z0-9\-._~]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();
