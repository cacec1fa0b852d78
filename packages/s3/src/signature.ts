import { createHash, createHmac } from 'node:crypto';

export interface AwsCredentials {
  readonly accessKey: string;
  readonly secretAccessKey: string;
  /** Of credentials that were lent for a while. */
  readonly sessionToken?: string | undefined;
}

export interface SignedRequest {
  readonly method: string;
  readonly url: URL;
  /** Signed beside `host` and those that the signature adds. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface SigningScope {
  readonly credentials: AwsCredentials;
  readonly region: string;
  readonly service: string;
  /** Milliseconds since the epoch: servers refuse a signature that is a quarter of an hour off. */
  readonly now: number;
}

/**
 * The headers of AWS Signature Version 4: all given ones, the date, the hash of the body, and the authorization. The path of
 * the URL counts as encoded already, as S3 has it (other services encode it twice).
 */
export function signedHeaders(
  { method, url, headers, body }: SignedRequest,
  { credentials, region, service, now }: SigningScope,
): Record<string, string> {
  const date = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, '');
  const scope = `${date.slice(0, 8)}/${region}/${service}/aws4_request`;
  const bodyHash = sha256(body);
  const added: Record<string, string> = {
    ...lowerCased(headers),
    'x-amz-content-sha256': bodyHash,
    'x-amz-date': date,
    ...(credentials.sessionToken !== undefined && { 'x-amz-security-token': credentials.sessionToken }),
  };
  const signed = Object.entries({ ...added, host: url.host }).toSorted(byKey);
  const names = signed.map(([name]) => name).join(';');
  const canonical = [
    method,
    url.pathname,
    canonicalQuery(url),
    ...signed.map(([name, value]) => `${name}:${value.trim().replace(/ +/g, ' ')}`),
    '',
    names,
    bodyHash,
  ].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n');
  const key = [date.slice(0, 8), region, service, 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => hmac(secret, part),
    `AWS4${credentials.secretAccessKey}`,
  );
  const signature = hmac(key, toSign).toString('hex');
  const credential = `${credentials.accessKey}/${scope}`;
  added['authorization'] = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`;
  return added;
}

/** As the signature has it: everything but letters, digits and `-._~`. */
export const strictlyEncoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

function canonicalQuery(url: URL): string {
  return [...url.searchParams]
    .map(([name, value]): [string, string] => [strictlyEncoded(name), strictlyEncoded(value)])
    .toSorted((a, b) => byKey(a, b) || compare(a[1], b[1]))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byKey = ([a]: readonly [string, string], [b]: readonly [string, string]): number => compare(a, b);
const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();
