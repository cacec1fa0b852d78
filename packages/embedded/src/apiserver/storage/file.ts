import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '@polder/kube';
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
  const database = open(path);
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
        throw new Error(`${path} cannot be written: ${messageOf(error)}`, { cause: error });
      }
    },
    close: () => database.close(),
  };
}

function open(path: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    database.exec('PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;');
    database.exec(SCHEMA);
    return database;
  } catch (error) {
    database?.close();
    const because = isBusy(error) ? 'another server is using it' : messageOf(error);
    throw new Error(`${path} cannot be used as storage: ${because}`, { cause: error });
  }
}

/** SQLite's own number for a file that somebody else has locked. */
const SQLITE_BUSY = 5;

const isBusy = (error: unknown) => error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;

function storedObject(row: Readonly<Record<string, unknown>>): StoredObject {
  return { resource: String(row['resource']), key: String(row['key']), text: String(row['text']) };
}
