export type { Clock } from './clock.ts';
export type { Fault } from './faults.ts';
export { type Served, serve } from './server.ts';
export { type LoggedRequest, type S3Request, type S3Response, Storage, type StorageOptions } from './storage.ts';
export type { StoredObject } from './store.ts';
