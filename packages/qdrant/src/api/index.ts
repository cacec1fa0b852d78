/** What the operator asks of peers, one by one: each has its own view. */
export type { Answer, PeerRequest, PeerResponse, Send } from './answer.ts';
export type { ClusterInfo, Consensus, Distribution, Factors, Replica, Transfer } from './cluster-info.ts';
export { sendOverHttp } from './http-send.ts';
export { type Door, PeerClient, type PeerClientOptions, type Travel } from './peer-client.ts';
