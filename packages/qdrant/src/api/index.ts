/** What the operator asks of peers, one by one: each has its own view. */
export type { Answer, PeerRequest, PeerResponse, Send } from './answer.ts';
export type { ClusterInfo, Consensus, Distribution, Factors, Replica, Transfer } from './cluster-info.ts';
export { type AliasAction, type CollectionInfo, CollectionsClient, type Placement } from './collections.ts';
export { downloadOverHttp, sendOverHttp } from './http-send.ts';
export { isObject, type Json, type JsonObject, objectAt, parseJson } from './json.ts';
export { PeerClient, type Travel } from './peer-client.ts';
export type { Door, PeerClientOptions } from './requests.ts';
export { type Described, type Download, SnapshotsClient, type TakenSnapshot } from './snapshots.ts';
