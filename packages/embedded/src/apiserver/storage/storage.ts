/**
 * Where objects outlive the process. The server holds everything in memory and only ever reads its storage once, at the
 * start; from then on storage is a place to write to. That keeps reads free and the interface small.
 */
export interface Storage {
  /** What was acknowledged so far. Called once, before anything is written. */
  load(): StoredState;
  /** Returns when the change can no longer be lost: only then is it shown to anyone. */
  write(change: StoredChange): void;
  close(): void;
}

export interface StoredState {
  /** The revision of the last write, deletions included; 0 for a new storage. */
  readonly revision: number;
  readonly objects: Iterable<StoredObject>;
}

export interface StoredObject {
  /** `plural.group`, or `plural` in the core group. */
  readonly resource: string;
  /** `namespace/name`, or `name`. */
  readonly key: string;
  /** The object as JSON. */
  readonly text: string;
}

export interface StoredChange {
  readonly resource: string;
  readonly key: string;
  readonly revision: number;
  /** Undefined for a deletion. */
  readonly text: string | undefined;
}
