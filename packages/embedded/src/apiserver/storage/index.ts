export { fileStorage } from './file.ts';
export { memoryStorage } from './memory.ts';
export type { Storage, StoredChange, StoredObject, StoredState } from './storage.ts';
