import type { Clock } from '../../clock.ts';
import {
  type Appended,
  type Cell,
  decodeManifestList,
  encodeDataFile,
  encodeManifest,
  encodeManifestList,
  IcebergError,
  type ManifestListEntry,
  partitionerOf,
  planAppend,
  type WrittenFile,
} from '../../iceberg/index.ts';
import { type Logger, messageOf } from '../../log.ts';
import { pause, pauseAfter } from '../../waiting.ts';
import type { NessieTable, OpenTable } from './nessie-table.ts';

export interface AppenderOptions {
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly log: Logger;
}

/** Files that are written and wait for the commit which makes them part of the table. */
export interface Pending {
  readonly tableUuid: string;
  readonly appended: Appended;
  /** All that was written for it and is of no use without the commit. */
  readonly locations: string[];
  /** What the table was when its commit was first tried: what came before can't be it. Undefined: it was not tried yet. */
  base: { readonly snapshotId: bigint | undefined } | undefined;
  /** An attempt was sent whose end nobody knows. */
  isUnknown: boolean;
  /** It will never be committed, and its files are gone. */
  isRefused: boolean;
}

/** Many writers of one table take turns; with so many attempts each gets its own. */
const ATTEMPTS = 30;
const PAUSES = { firstMs: 50, longestMs: 2_000 };
/** After an answer that did not come: the server may need a while to be back. */
const UNKNOWN_ATTEMPTS = 4;

/**
 * Appends to a table, each time exactly once or not at all. The data files and their manifest are written first and stay what
 * they are; then the commit is tried until it is known how it ended:
 *
 * 1. The table is loaded. If an earlier attempt ended without an answer, the history of the branch is searched for our snapshot.
 * 2. A manifest list is written: ours, and the manifests of the snapshot that is current now.
 * 3. The catalog is told to make ours the current one, provided that the other still is.
 * 4. Refused since it is not (409): again from 1. No answer, or one of a server in trouble: again from 1, a few times.
 *
 * All attempts have one snapshot id, and each requires the state it was made for, so at most one of them succeeds, however late.
 */
export class Appender {
  readonly #table: NessieTable;
  readonly #options: AppenderOptions;
  /** The list that was written last: mostly the one the next commit begins with. */
  #listed: { readonly location: string; readonly manifests: readonly ManifestListEntry[] } | undefined;

  constructor(table: NessieTable, options: AppenderOptions) {
    this.#table = table;
    this.#options = options;
  }

  /** Writes the files of an append. The rows have the columns of the table's schema. */
  async prepare(
    rows: readonly (readonly Cell[])[],
    { metadata, storage }: OpenTable,
    signal: AbortSignal,
  ): Promise<Pending> {
    const { schema, partitionSpec, location, uuid } = metadata;
    const token = this.#token();
    const locations: string[] = [];
    const write = async (path: string, bytes: Uint8Array) => {
      locations.push(path);
      await storage.write(path, bytes, signal);
      return path;
    };
    try {
      const files: WrittenFile[] = [];
      for (const { rows: some, partition } of partitioned(rows, partitionerOf(partitionSpec, schema))) {
        const { bytes, ...known } = encodeDataFile(schema, some);
        const path = await write(`${location}/data/${token}-${files.length}.parquet`, bytes);
        files.push({
          content: 'data',
          format: 'PARQUET',
          location: path,
          size: BigInt(bytes.length),
          partition,
          ...known,
        });
      }
      const bytes = encodeManifest(files, schema, partitionSpec);
      const path = await write(`${location}/metadata/${token}-m0.avro`, bytes);
      const manifest = { location: path, size: BigInt(bytes.length) };
      const snapshotId = this.#snapshotId();
      const appended = { snapshotId, schemaId: schema.id, specId: partitionSpec.id, manifest, files };
      return { tableUuid: uuid, appended, locations, base: undefined, isUnknown: false, isRefused: false };
    } catch (error) {
      await this.#remove(locations, { metadata, storage }, signal);
      throw error;
    }
  }

  /**
   * Until it is done, or it throws. Then it may be called again with the same, unless that was refused.
   */
  async commit(pending: Pending, signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#options;
    const refused: string[] = [];
    let unknown = 0;
    for (let attempt = 1; ; attempt++) {
      const table = await this.#load(pending, signal);
      if (pending.isUnknown && (await this.isCommitted(pending, table, signal))) break;
      const failure = await this.#attempt(pending, table, refused, attempt, signal);
      if (failure === undefined) break;
      const isConflict = failure.status === 409;
      // While an earlier attempt may still succeed, late, its files stay and the question stays open.
      if (isKnown(failure) && !isConflict && !pending.isUnknown) {
        pending.isRefused = true;
        await this.#remove([...pending.locations, ...refused], table, signal);
        throw failure;
      }
      if (!isConflict) unknown++;
      if (attempt >= ATTEMPTS || unknown >= UNKNOWN_ATTEMPTS || !failure.isRetryable) throw failure;
      log.debug({ table: this.#table.label, attempt, status: failure.status }, 'the commit is tried again');
      await pause(clock, pauseAfter(attempt, PAUSES, random), signal);
      signal.throwIfAborted();
    }
    pending.isUnknown = false;
    if (refused.length > 0) await this.#removeFrom(refused, signal);
  }

  /** Is our snapshot, or was it, the current one of the table? */
  async isCommitted({ appended, base }: Pending, table: OpenTable, signal: AbortSignal): Promise<boolean> {
    if (base === undefined) return false;
    if (table.metadata.snapshot?.id === appended.snapshotId) return true;
    for await (const { snapshotId } of this.#table.history(signal)) {
      if (snapshotId === appended.snapshotId) return true;
      if (snapshotId === base.snapshotId) return false;
    }
    return false;
  }

  /**
   * It will not be tried again. If an attempt may still be under way somewhere its files stay: a snapshot whose files are gone
   * would break the table.
   */
  async abandon({ locations, isUnknown }: Pending, signal: AbortSignal): Promise<void> {
    if (!isUnknown) await this.#removeFrom(locations, signal);
  }

  async #load(pending: Pending, signal: AbortSignal): Promise<OpenTable> {
    const table = await this.#table.load(signal);
    if (table?.metadata.uuid === pending.tableUuid) return table;
    pending.isRefused = true;
    if (table && !pending.isUnknown) await this.#remove(pending.locations, table, signal);
    throw new IcebergError(`table ${this.#table.label} was dropped while rows were written to it`, {
      type: 'transient',
      isRetryable: true,
    });
  }

  /** Undefined: it is done. */
  async #attempt(
    pending: Pending,
    table: OpenTable,
    refused: string[],
    attempt: number,
    signal: AbortSignal,
  ): Promise<IcebergError | undefined> {
    const { metadata, storage } = table;
    const { appended } = pending;
    const name = `snap-${appended.snapshotId}-${attempt}-${this.#token()}.avro`;
    const manifestList = `${metadata.location}/metadata/${name}`;
    const before = await this.#manifestsOf(table, signal);
    const plan = planAppend(metadata, before, appended, { manifestList, now: this.#options.clock.now() });
    const wasUnknown = pending.isUnknown;
    try {
      await storage.write(manifestList, encodeManifestList(plan.manifests, plan.snapshot), signal);
      // From here on the server may have done it, whatever becomes of us.
      pending.base ??= { snapshotId: metadata.snapshot?.id };
      pending.isUnknown = true;
      await this.#table.catalog.commit(this.#table.name, plan.requirements, plan.updates, signal);
    } catch (error) {
      if (!(error instanceof IcebergError)) throw error;
      if (isKnown(error)) {
        pending.isUnknown = wasUnknown;
        refused.push(manifestList);
      }
      return error;
    }
    this.#listed = { location: manifestList, manifests: plan.manifests };
    return undefined;
  }

  async #manifestsOf({ metadata, storage }: OpenTable, signal: AbortSignal): Promise<readonly ManifestListEntry[]> {
    const location = metadata.snapshot?.manifestList;
    if (location === undefined) return [];
    if (this.#listed?.location === location) return this.#listed.manifests;
    return decodeManifestList(await storage.read(location, signal), location);
  }

  async #removeFrom(locations: readonly string[], signal: AbortSignal): Promise<void> {
    const table = await this.#table.load(signal).catch(() => undefined);
    if (table) await this.#remove(locations, table, signal);
  }

  /** As far as it goes: what stays behind costs a little space, and `remove orphan files` of other engines finds it. */
  async #remove(locations: readonly string[], { storage }: OpenTable, signal: AbortSignal): Promise<void> {
    const results = await Promise.allSettled(locations.map((location) => storage.remove(location, signal)));
    const left = results.filter((result) => result.status === 'rejected');
    if (left.length === 0) return;
    this.#options.log.warn(
      { table: this.#table.label, files: left.length, error: messageOf(left[0]?.reason) },
      'files of a commit that was not made could not be removed',
    );
  }

  /** Below 2^53: readers that take it for a JavaScript number see the same one. */
  #snapshotId(): bigint {
    return BigInt(Math.floor(this.#options.random() * Number.MAX_SAFE_INTEGER)) + 1n;
  }

  #token(): string {
    const part = () =>
      Math.floor(this.#options.random() * 2 ** 48)
        .toString(16)
        .padStart(12, '0');
    return part() + part();
  }
}

/** The server answered, and said no. */
const isKnown = ({ status }: IcebergError): boolean => status !== undefined && status < 500;

interface Part {
  readonly rows: (readonly Cell[])[];
  readonly partition: WrittenFile['partition'];
}

function partitioned(
  rows: readonly (readonly Cell[])[],
  partitionOf: ReturnType<typeof partitionerOf>,
): Iterable<Part> {
  const parts = new Map<string, Part>();
  for (const row of rows) {
    const partition = partitionOf(row);
    const part = parts.get(partition.key);
    if (part) part.rows.push(row);
    else parts.set(partition.key, { rows: [row], partition });
  }
  return parts.values();
}
