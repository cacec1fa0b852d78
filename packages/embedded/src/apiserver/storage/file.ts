import { DatabaseSync } from 'node:sqlite';
import type { Storage, StoredChange, StoredObject } from './storage.ts';

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS objects (
    resource TEXT NOT NULL,
    key TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (resource, key)
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS revision (id INTEGER PRIMARY KEY CHECK (id = 1), value INTEGER NOT NULL) STRICT;
  INSERT OR IGNORE INTO revision VALUES (1, 0);
`;

/**
 * One SQLite file. `synchronous=FULL` makes every commit wait for the disk: what was acknowledged survives `kill -9` and a
 * pulled plug. The exclusive lock turns a second server on the same file into an error instead of a lost write.
 */
export function fileStorage(path: string): Storage {
  const database = new DatabaseSync(path);
  try {
    database.exec('PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;');
    database.exec(SCHEMA);
  } catch (error) {
    database.close();
    throw new Error(`${path} cannot be used as storage (is another server using it?)`, { cause: error });
  }
  const put = database.prepare('INSERT OR REPLACE INTO objects (resource, key, text) VALUES (?, ?, ?)');
  const remove = database.prepare('DELETE FROM objects WHERE resource = ? AND key = ?');
  const advance = database.prepare('UPDATE revision SET value = ?');
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');

  return {
    load() {
      const row = database.prepare('SELECT value FROM revision').get();
      const rows = database.prepare('SELECT resource, key, text FROM objects ORDER BY resource, key').all();
      return { revision: Number(row?.['value'] ?? 0), objects: rows.map(storedObject) };
    },
    write({ resource, key, revision, text }: StoredChange) {
      begin.run();
      try {
        if (text === undefined) remove.run(resource, key);
        else put.run(resource, key, text);
        advance.run(revision);
        commit.run();
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    },
    close: () => database.close(),
  };
}

function storedObject(row: Readonly<Record<string, unknown>>): StoredObject {
  return { resource: String(row['resource']), key: String(row['key']), text: String(row['text']) };
}
