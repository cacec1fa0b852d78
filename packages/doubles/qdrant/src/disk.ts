import type { Json, JsonObject } from './json.ts';
import type { ClusterState, Entry, PeerId } from './state/index.ts';

/** What outlives a process: its volume. */
export class Disk {
  readonly #writer: DiskWriter | undefined;
  #peer: PeerId | undefined;
  #raft: RaftRecord | undefined;
  readonly #shards: Map<string, Points>;
  readonly #snapshots: Map<string, SnapshotFile>;

  constructor(content: DiskContent = {}, writer?: DiskWriter) {
    this.#writer = writer;
    this.#peer = content.peer;
    this.#raft = content.raft;
    this.#shards = new Map(content.shards);
    this.#snapshots = new Map(content.snapshots);
  }

  /** Known from the first start on, also if that did not get as far as to join. */
  get peer(): PeerId | undefined {
    return this.#peer;
  }

  identify(peer: PeerId): void {
    this.#peer = peer;
    this.#writer?.peer(peer);
  }

  get raft(): RaftRecord | undefined {
    return this.#raft;
  }

  writeRaft(record: RaftRecord): void {
    this.#raft = record;
    this.#writer?.raft(record);
  }

  points(shard: string): Points | undefined {
    return this.#shards.get(shard);
  }

  get shards(): readonly string[] {
    return [...this.#shards.keys()];
  }

  write(shard: string, operation: PointOperation): void {
    const points = this.#shards.get(shard);
    if (!points) throw new Error(`there is no shard ${shard}`);
    change(points, operation);
    this.#writer?.points(shard, operation);
  }

  /** With these points and no others. */
  putShard(shard: string, points: Points): void {
    this.#shards.set(shard, new Map(points));
    this.#writer?.shard(shard, points);
  }

  deleteShard(shard: string): void {
    this.#shards.delete(shard);
    this.#writer?.shard(shard, undefined);
  }

  get snapshots(): ReadonlyMap<string, SnapshotFile> {
    return this.#snapshots;
  }

  putSnapshot(path: string, file: SnapshotFile): void {
    this.#snapshots.set(path, file);
    this.#writer?.snapshot(path, file);
  }

  deleteSnapshot(path: string): void {
    this.#snapshots.delete(path);
    this.#writer?.snapshot(path, undefined);
  }
}

export interface DiskContent {
  readonly peer?: PeerId | undefined;
  readonly raft?: RaftRecord | undefined;
  readonly shards?: Iterable<readonly [string, Points]>;
  readonly snapshots?: Iterable<readonly [string, SnapshotFile]>;
}

/** Is told of every change before anybody else is. */
export interface DiskWriter {
  peer(peer: PeerId): void;
  raft(record: RaftRecord): void;
  points(shard: string, operation: PointOperation): void;
  shard(shard: string, points: Points | undefined): void;
  snapshot(path: string, file: SnapshotFile | undefined): void;
}

export interface RaftRecord {
  /** Which group of peers: those that go back to the same first one. */
  readonly group: string;
  readonly uri: string;
  readonly term: number;
  /** What it holds of the log. A majority holds whatever was agreed on. */
  readonly stored: Version;
  /** What it acts on. */
  readonly applied: Version;
  /** Accepted as leader, and held by nobody else. */
  readonly tail: readonly Entry[];
  readonly isRemoved: boolean;
  /** Its shards were deleted while its log says that it has them: it can't load them again. */
  readonly isSpoiled: boolean;
}

export interface Version {
  readonly index: number;
  readonly state: ClusterState;
  /** Set if the entry of this index can't be applied; the state is that before it. */
  readonly broken?: string;
}

export type PointId = number | bigint | string;

export interface Point {
  readonly id: PointId;
  readonly vector: Json;
  readonly payload: JsonObject;
}

/** By `keyOf` their id. */
export type Points = Map<string, Point>;

export type PointOperation = { readonly upsert: readonly Point[] } | { readonly delete: readonly PointId[] };

export const keyOf = (id: PointId): string => (typeof id === 'string' ? id : `#${id}`);

export function change(points: Points, operation: PointOperation): void {
  if ('upsert' in operation) for (const point of operation.upsert) points.set(keyOf(point.id), point);
  else for (const id of operation.delete) points.delete(keyOf(id));
}

export interface SnapshotFile {
  readonly bytes: Uint8Array;
  readonly createdAt: number;
  readonly checksum: string;
}
