import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import {
  change,
  Disk,
  type DiskWriter,
  type PointOperation,
  type Points,
  type RaftRecord,
  type SnapshotFile,
} from './disk.ts';
import { arrayAt, isObject, type JsonObject, parseJson, printJson } from './json.ts';
import { isPointId, pointsOf } from './point-json.ts';
import { checksumOf } from './snapshots.ts';

export interface Folders {
  /** Of the volume that a real server has at `/qdrant/storage`. */
  readonly storage: string;
  /** Of the one at `/qdrant/snapshots`. */
  readonly snapshots: string;
}

/**
 * A disk that is a folder. Everything is on it before anybody is told, so that whatever kills the process, a start with the
 * same folders goes on where it was.
 */
export function openFolders({ storage, snapshots }: Folders): Disk {
  const shards = join(storage, 'shards');
  mkdirSync(shards, { recursive: true });
  mkdirSync(snapshots, { recursive: true });
  const content = {
    peer: textOf(join(storage, 'peer')),
    raft: recordAt(join(storage, 'raft.json')),
    shards: readdirSync(shards)
      .filter((file) => file.endsWith(JOURNAL))
      .map((file) => [file.slice(0, -JOURNAL.length), pointsIn(join(shards, file))] as const),
    snapshots: filesBelow(snapshots, '').map((path) => [path, snapshotAt(join(snapshots, path))] as const),
  };
  return new Disk(content, writerTo(storage, shards, snapshots));
}

/** A shard is the list of what was done to it, a line each. */
const JOURNAL = '.jsonl';

function writerTo(storage: string, shards: string, snapshots: string): DiskWriter {
  return {
    peer: (peer) => replace(join(storage, 'peer'), peer),
    raft: (record) => replace(join(storage, 'raft.json'), printJson(record)),
    points: (shard, operation) => appendFileSync(join(shards, shard + JOURNAL), `${printJson(operation)}\n`),
    shard: (shard, points) => {
      const path = join(shards, shard + JOURNAL);
      if (points) replace(path, points.size === 0 ? '' : `${printJson({ upsert: [...points.values()] })}\n`);
      else rmSync(path, { force: true });
    },
    snapshot: (name, file) => {
      const path = join(snapshots, name);
      if (!file) return rmSync(path, { force: true });
      mkdirSync(dirname(path), { recursive: true });
      replace(path, file.bytes);
    },
  };
}

/** Either the old or the new one is there, never half of it. */
function replace(path: string, content: string | Uint8Array): void {
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

function recordAt(path: string): RaftRecord | undefined {
  const text = textOf(path);
  if (text === undefined) return undefined;
  const record: RaftRecord = JSON.parse(text);
  return record;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function pointsIn(path: string): Points {
  const points: Points = new Map();
  // What a process was killed over has no end of line, and was never acknowledged.
  for (const line of readFileSync(path, 'utf8').split('\n').slice(0, -1)) {
    const operation = parseJson(line);
    if (isObject(operation)) change(points, operationOf(operation));
  }
  return points;
}

const operationOf = (line: JsonObject): PointOperation =>
  'upsert' in line ? { upsert: pointsOf(line['upsert']) } : { delete: arrayAt(line, 'delete').filter(isPointId) };

function filesBelow(root: string, folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(root, path);
    return path.endsWith('.snapshot') ? [path] : [];
  });
}

function snapshotAt(path: string): SnapshotFile {
  const bytes = readFileSync(path);
  return { bytes, createdAt: statSync(path).mtimeMs, checksum: checksumOf(bytes) };
}
