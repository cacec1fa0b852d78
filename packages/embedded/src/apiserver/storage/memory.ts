import type { Storage, StoredChange, StoredObject } from './storage.ts';

/** Keeps objects as long as itself: a second server on the same storage sees what the first one left. */
export function memoryStorage(): Storage {
  const objects = new Map<string, StoredObject>();
  let revision = 0;
  return {
    load: () => ({ revision, objects: [...objects.values()] }),
    write(change: StoredChange) {
      const id = `${change.resource} ${change.key}`;
      revision = change.revision;
      if (change.text === undefined) objects.delete(id);
      else objects.set(id, { resource: change.resource, key: change.key, text: change.text });
    },
    close() {},
  };
}
