import type { WireObject } from '../served-kind.ts';

/** One state of one object. Never changed: a write makes a new entry, so readers and watchers share them freely. */
export interface Entry {
  /** `namespace/name`, or `name`. */
  readonly key: string;
  readonly revision: number;
  readonly object: WireObject;
  /** The object's JSON, made once. */
  readonly text: string;
}

/** One step in the life of an object. */
export interface Change {
  readonly revision: number;
  readonly key: string;
  /** Undefined on creation. */
  readonly before: Entry | undefined;
  /** Undefined on deletion. */
  readonly after: Entry | undefined;
  /** On deletion: the last state under the revision of the deletion, as watchers get it. */
  readonly last: Entry | undefined;
}
