export type { QdrantRequest, QdrantResponse } from './exchange.ts';
export { exchange } from './handle.ts';
