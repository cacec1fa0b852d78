export { Cache, type CacheOptions } from './cache.ts';
export { OwnWrites } from './own-writes.ts';
export { type Handler, type Index, type Indexes, Store, type StoreEvent, type StoreOptions } from './store.ts';
