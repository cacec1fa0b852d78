/** A bucket of any storage that speaks S3: streams in and out, with little memory. */
export { Bucket, type ObjectInfo, type PutOptions, type Range, type StoredObject } from './bucket.ts';
export type { Clock } from './clock.ts';
export type { BucketOptions } from './exchange.ts';
export { sendOverHttp } from './http-send.ts';
export { PART_BYTES } from './parts.ts';
export { regionOf } from './region.ts';
export type { S3Request, S3Response, Send } from './send.ts';
export {
  type AwsCredentials,
  type SignedRequest,
  type SigningScope,
  signedHeaders,
  strictlyEncoded,
} from './signature.ts';
export { S3Error, type Trouble } from './trouble.ts';
