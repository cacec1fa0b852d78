import type { Clock } from '../../clock.ts';
import type { CheckpointStore, Source } from '../../connector.ts';
import {
  type DataFile,
  dataFilesAfter,
  decodeManifest,
  decodeManifestList,
  type Fetch,
  IcebergError,
  manifestsAfter,
  readDataFile,
  type Schema,
  type Snapshot,
  unsupported,
} from '../../iceberg/index.ts';
import type { JsonObject } from '../../json/index.ts';
import type { Logger } from '../../log.ts';
import type { Message, Origin } from '../../message.ts';
import { Payload } from '../../payload.ts';
import { pause, pauseAfter } from '../../waiting.ts';
import type { NessieSourceConfig } from './config.ts';
import type { TableState } from './history.ts';
import { lineageOf } from './lineage.ts';
import { NessieTable, type OpenTable } from './nessie-table.ts';
import { checkpointOf, isPosition, type Position, positionOf } from './position.ts';
import { stepTo } from './step.ts';

export interface NessieSourceOptions {
  readonly checkpoints: CheckpointStore;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly fetch: Fetch;
  readonly log: Logger;
  /** Ends when there is no more, instead of waiting for it. */
  readonly isOneOff?: boolean;
}

/** Under which the checkpoints of this source have always been kept. */
const CHECKPOINT = 'nessie';

const PAUSES = { firstMs: 500, longestMs: 30_000 };

/** One thing to read: a snapshot, or what it has that is newer than another one. */
interface Portion {
  readonly snapshot: Snapshot;
  readonly schema: Schema;
  /** The sequence number beyond which files are new. 0: all of them are. */
  readonly after: bigint;
}

/**
 * Polls an Iceberg table: all of it at every poll, or what snapshots have added since the last one. How far it was read is kept
 * durably when messages are committed, snapshot by snapshot: after a restart a snapshot of which not every row had been written
 * is read again, from its start.
 */
export class NessieSource implements Source {
  readonly #config: NessieSourceConfig;
  readonly #options: NessieSourceOptions;
  readonly #table: NessieTable;
  /** As it was loaded last: its credentials for the storage are the freshest there are. */
  #open: OpenTable | undefined;
  /** The last snapshot that was handed out as a whole. */
  #position: Position | undefined;
  /** The last one that is in the checkpoint. */
  #saved: Position | undefined;
  #sequence = 0;

  constructor(config: NessieSourceConfig, options: NessieSourceOptions) {
    this.#config = config;
    this.#options = options;
    this.#table = new NessieTable(config, options);
  }

  async connect(signal: AbortSignal): Promise<void> {
    const { incrementalBySnapshot, snapshotCheckpoints, branch } = this.#config;
    const table = await this.#table.load(signal);
    if (!table) throw new IcebergError(`there is no table ${this.#table.label} in branch ${branch}`);
    this.#open = table;
    if (!incrementalBySnapshot || !snapshotCheckpoints) return;
    const position = positionOf(await this.#options.checkpoints.load(CHECKPOINT), this.#config);
    if (position !== 'elsewhere') this.#position = position;
    else
      this.#options.log.warn(
        { table: this.#table.label, branch },
        'the checkpoint is about another table or branch and is not used',
      );
  }

  async *read(signal: AbortSignal): AsyncIterable<readonly Message[]> {
    const { clock, isOneOff } = this.#options;
    const { incrementalBySnapshot, pollInterval } = this.#config;
    try {
      while (!signal.aborted) {
        const before = this.#position;
        const portions = incrementalBySnapshot ? this.#news(signal) : this.#whole(signal);
        for await (const portion of portions) yield* this.#messages(portion, signal);
        const isDone = !incrementalBySnapshot || before?.snapshotId === this.#position?.snapshotId;
        if (isOneOff && isDone) return;
        if (isDone) await pause(clock, pollInterval * 1_000, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async commit(origins: readonly Origin[]): Promise<void> {
    const position = origins.at(-1)?.position;
    if (!this.#config.snapshotCheckpoints || !isPosition(position)) return;
    if (position.snapshotId === this.#saved?.snapshotId) return;
    await this.#options.checkpoints.save(CHECKPOINT, checkpointOf(position, this.#config));
    this.#saved = position;
  }

  async close(): Promise<void> {
    // Nothing is held between two requests.
  }

  async *#whole(signal: AbortSignal): AsyncGenerator<Portion> {
    const { metadata } = await this.#load(signal);
    if (metadata.snapshot) yield { snapshot: metadata.snapshot, schema: metadata.schema, after: 0n };
  }

  /** What was added since the position, snapshot by snapshot. */
  async *#news(signal: AbortSignal): AsyncGenerator<Portion> {
    const { startSnapshotID } = this.#config;
    const { log } = this.#options;
    const table = this.#table.label;
    const { metadata } = await this.#load(signal);
    const head = metadata.snapshot;
    if (!head || head.id === this.#position?.snapshotId) return;
    if (metadata.formatVersion < 2)
      throw unsupported(
        `table ${table} has format version 1, whose snapshots are not numbered: read it without incrementalBySnapshot`,
      );
    const last = this.#position?.snapshotId;
    const start = startSnapshotID === undefined ? undefined : BigInt(startSnapshotID);
    const isFirst = last === undefined && start === undefined;
    const { since, newer } = isFirst
      ? { since: undefined, newer: [] }
      : await this.#insist(() => lineageOf(this.#table.history(signal), last, start), signal);
    if (last !== undefined && since?.snapshotId !== last)
      log.warn(
        { table, snapshot: String(last), from: since ? startSnapshotID : String(head.id) },
        since
          ? 'the last snapshot that was read is gone from the history of the branch: reading on from startSnapshotID'
          : 'the last snapshot that was read is gone from the history of the branch: the whole table is read again',
      );
    else if (!since && start !== undefined)
      log.warn(
        { table, startSnapshotID },
        'startSnapshotID is not in the history of the branch: the whole table is read',
      );
    if (!since) {
      yield { snapshot: head, schema: metadata.schema, after: 0n };
      return;
    }
    // Checkpoints of other programs may lack the number.
    if (since.snapshotId !== last || this.#position?.sequenceNumber === 0n)
      this.#position = await this.#positionAt(since, signal);
    for (const state of newer) {
      const portion = this.#step(await this.#loadAt(state, signal));
      if (portion) yield portion;
    }
  }

  /** From the position to the next state of the table. Undefined: there is nothing to read. */
  #step({ metadata: { snapshot, schema } }: OpenTable): Portion | undefined {
    if (!snapshot) return undefined;
    const step = stepTo(snapshot, this.#position, this.#table.label);
    if (step.do === 'refuse') throw unsupported(step.because);
    const about = { table: this.#table.label, snapshot: String(snapshot.id) };
    if (step.warning !== undefined) this.#options.log.warn(about, step.warning);
    if (step.do === 'read') return { snapshot, schema, after: step.after };
    this.#position = { snapshotId: snapshot.id, sequenceNumber: snapshot.sequenceNumber };
    return undefined;
  }

  async #positionAt(state: TableState, signal: AbortSignal): Promise<Position | undefined> {
    const { snapshot } = (await this.#loadAt(state, signal)).metadata;
    return snapshot && { snapshotId: snapshot.id, sequenceNumber: snapshot.sequenceNumber };
  }

  async *#messages(portion: Portion, signal: AbortSignal): AsyncGenerator<readonly Message[]> {
    const { snapshot } = portion;
    const done: Position = { snapshotId: snapshot.id, sequenceNumber: snapshot.sequenceNumber };
    // Only the last message of a snapshot moves the checkpoint: which one that is shows when there is no more.
    let held: readonly JsonObject[] | undefined;
    for await (const rows of this.#rows(portion, signal)) {
      if (held) yield held.map((row) => this.#message(row, snapshot, this.#position));
      held = rows;
    }
    const before = this.#position;
    this.#position = done;
    if (held) yield held.map((row, at) => this.#message(row, snapshot, at === (held?.length ?? 0) - 1 ? done : before));
  }

  async *#rows({ snapshot, schema, after }: Portion, signal: AbortSignal): AsyncGenerator<readonly JsonObject[]> {
    for await (const file of this.#files(snapshot, after, signal)) {
      const readRange = (start: number, end: number) =>
        this.#stored((storage) => storage.readRange(file.location, start, end, signal), signal);
      yield* readDataFile(file, schema, readRange);
    }
  }

  async *#files({ id, manifestList }: Snapshot, after: bigint, signal: AbortSignal): AsyncGenerator<DataFile> {
    const read = (location: string) => this.#stored((storage) => storage.read(location, signal), signal);
    const what = `snapshot ${id} of table ${this.#table.label}`;
    const listed = decodeManifestList(await read(manifestList), manifestList);
    for (const manifest of manifestsAfter(listed, after, what))
      yield* dataFilesAfter(decodeManifest(await read(manifest.location), manifest.location), manifest, after);
  }

  #message(row: JsonObject, { id, sequenceNumber }: Snapshot, position: Position | undefined): Message {
    const { namespace, table } = this.#config;
    return {
      payload: Payload.ofJson(row),
      metadata: { namespace, table, snapshot_id: id.toString(), snapshot_sequence: Number(sequenceNumber) },
      origin: { partition: this.#table.label, sequence: this.#sequence++, position, readAt: this.#options.clock.now() },
    };
  }

  #load(signal: AbortSignal): Promise<OpenTable> {
    return this.#insist(async () => this.#opened(await this.#table.load(signal)), signal);
  }

  #loadAt(state: TableState, signal: AbortSignal): Promise<OpenTable> {
    return this.#insist(async () => this.#opened(await this.#table.loadAt(state, signal)), signal);
  }

  #opened(table: OpenTable | undefined): OpenTable {
    if (!table)
      throw new IcebergError(`there is no table ${this.#table.label} in branch ${this.#config.branch} any more`, {
        type: 'transient',
        isRetryable: true,
      });
    this.#open = table;
    return table;
  }

  /** From the storage. Its credentials may have been lent for a while: what failed is tried with new ones. */
  #stored<T>(read: (storage: OpenTable['storage']) => Promise<T>, signal: AbortSignal): Promise<T> {
    let attempts = 0;
    return this.#insist(async () => {
      const table = attempts++ > 0 ? this.#opened(await this.#table.load(signal)) : this.#open;
      if (!table) throw new IcebergError('not connected, call connect first');
      return read(table.storage);
    }, signal);
  }

  /** Until it succeeds, or fails for good. */
  async #insist<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { clock, random, log } = this.#options;
    for (let failures = 1; ; failures++) {
      try {
        return await work();
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof IcebergError) || !error.isRetryable) throw error;
        const ms = pauseAfter(failures, PAUSES, random);
        log.warn({ type: error.type, ms: Math.round(ms) }, `Nessie: ${error.message}; reading again soon`);
        await pause(clock, ms, signal);
        signal.throwIfAborted();
      }
    }
  }
}
