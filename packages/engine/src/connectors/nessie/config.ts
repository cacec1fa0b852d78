import type { NessieSinkSpec, NessieSourceSpec } from '../../spec/index.ts';

/** `source.nessie` of a flow, its secrets resolved. */
export type NessieSourceConfig = NessieSourceSpec;

/** `sink.nessie` of a flow, its secrets resolved. How messages are gathered into batches is the pipeline's business. */
export type NessieSinkConfig = NessieSinkSpec;

/** Where the table is, and how we are let in: what both have in common. */
export type NessieTableConfig = Pick<
  NessieSourceConfig & NessieSinkConfig,
  | 'baseURL'
  | 'branch'
  | 'warehouse'
  | 'namespace'
  | 'table'
  | 'authenticationType'
  | 'bearerToken'
  | 'basicAuth'
  | 's3Endpoint'
  | 's3Region'
  | 'accessKey'
  | 'secretAccessKey'
>;

/** The header that proves who we are. */
export function authorizationOf({ authenticationType, bearerToken, basicAuth }: NessieTableConfig): string | undefined {
  const isBearer = authenticationType === 'BEARER' || (authenticationType === 'AUTO' && bearerToken !== undefined);
  if (isBearer && bearerToken !== undefined) return `Bearer ${bearerToken}`;
  if (authenticationType === 'NONE' || isBearer || basicAuth === undefined) return undefined;
  return `Basic ${Buffer.from(`${basicAuth.username}:${basicAuth.password}`).toString('base64')}`;
}
