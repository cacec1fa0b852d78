export type { Change, Entry } from './entry.ts';
export { ObjectStore } from './object-store.ts';
export type { WatchCache } from './watch-cache.ts';
export { type Interference, type WatchEvent, Watcher, type WatchRequest, type WatchStart } from './watcher.ts';
