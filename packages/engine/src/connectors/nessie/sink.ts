import type { Clock } from '../../clock.ts';
import type { Sink } from '../../connector.ts';
import { assertAppendable, type Fetch, IcebergError, planNewColumns } from '../../iceberg/index.ts';
import type { Logger } from '../../log.ts';
import type { Failure, Message } from '../../message.ts';
import { refused } from '../sql/index.ts';
import { Appender, type Pending } from './append.ts';
import type { NessieSinkConfig } from './config.ts';
import { newColumns, schemaFor } from './created-table.ts';
import { layoutOf, type Rows, rowMaker } from './layout.ts';
import { NessieTable, type OpenTable } from './nessie-table.ts';

export interface NessieSinkOptions {
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly fetch: Fetch;
  readonly log: Logger;
}

/** A write whose end is open: its commit was neither seen to succeed nor to fail. */
interface OpenWrite {
  readonly pending: Pending;
  readonly written: ReadonlySet<Message>;
}

/** Beyond so many there is no pattern left to warn of. */
const MOST_WARNINGS = 100;
/** So long may the end of the program wait for what is only tidying up. */
const CLOSE_MS = 5_000;

/**
 * Appends batches to an Iceberg table, each in one snapshot: all of it is there, or nothing. A message that does not fit the
 * schema comes back as a failure, alone. A batch whose commit ended without an answer is taken up where it was when it is
 * written again: what had been committed after all is not written twice.
 */
export class NessieSink implements Sink {
  readonly #config: NessieSinkConfig;
  readonly #options: NessieSinkOptions;
  readonly #table: NessieTable;
  readonly #appender: Appender;
  readonly #warned = new Set<string>();
  #open: OpenWrite | undefined;
  #isClosed = false;

  constructor(config: NessieSinkConfig, options: NessieSinkOptions) {
    this.#config = config;
    this.#options = options;
    this.#table = new NessieTable(config, options);
    this.#appender = new Appender(this.#table, options);
  }

  async connect(signal: AbortSignal): Promise<void> {
    const { rawMode, flattenMetadataColumns, autoCreateTable } = this.#config;
    const table = await this.#table.load(signal);
    if (table) {
      assertAppendable(table.metadata, this.#table.label);
      layoutOf(table.metadata.schema, this.#config, this.#table.label);
    } else if (!autoCreateTable) throw this.#missing();
    // Its columns are known only with the first batch, unless none of them depends on it.
    else if (rawMode && !flattenMetadataColumns) await this.#create([], signal);
  }

  async write(batch: readonly Message[], signal: AbortSignal): Promise<readonly Failure[]> {
    if (this.#isClosed) throw new IcebergError('the sink is closed');
    const left = await this.#takeUp(batch, signal);
    if (left.length === 0) return [];
    const table = (await this.#table.load(signal)) ?? (await this.#create(left, signal));
    if (!table)
      return left.map((message) =>
        refused(message, `table ${this.#table.label} can't be created from it: it has no column`),
      );
    const grown = await this.#grown(left, table, signal);
    const { rows, written, failures } = this.#rows(left, grown);
    if (rows.length === 0) return failures;
    const pending = await this.#appender.prepare(rows, grown, signal);
    await this.#commit({ pending, written: new Set(written) }, signal);
    return failures;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const open = this.#open;
    if (!open) return;
    const late = new AbortController();
    const timer = this.#options.clock.after(CLOSE_MS, () => late.abort());
    await this.#appender.abandon(open.pending, late.signal).catch(() => undefined);
    timer.cancel();
  }

  /** Ends an earlier write that is still open, and says what is left to be written of this batch. */
  async #takeUp(batch: readonly Message[], signal: AbortSignal): Promise<readonly Message[]> {
    const open = this.#open;
    if (!open) return batch;
    const isSame = new Set(batch).isSupersetOf(open.written);
    if (isSame) await this.#commit(open, signal);
    else if (!(await this.#isCommitted(open.pending, signal))) {
      // Some of it has become another's business meanwhile (a partition that was lost), so it can't be committed as it is.
      this.#open = undefined;
      await this.#appender.abandon(open.pending, signal);
      return batch;
    }
    this.#open = undefined;
    return batch.filter((message) => !open.written.has(message));
  }

  async #isCommitted(pending: Pending, signal: AbortSignal): Promise<boolean> {
    if (!pending.isUnknown) return false;
    const table = await this.#table.load(signal);
    return table?.metadata.uuid === pending.tableUuid && this.#appender.isCommitted(pending, table, signal);
  }

  async #commit(open: OpenWrite, signal: AbortSignal): Promise<void> {
    this.#open = open;
    try {
      await this.#appender.commit(open.pending, signal);
    } catch (error) {
      if (open.pending.isRefused) this.#open = undefined;
      throw error;
    }
    this.#open = undefined;
  }

  #rows(batch: readonly Message[], { metadata }: OpenTable): Rows {
    const { label } = this.#table;
    assertAppendable(metadata, label);
    const rows = rowMaker(layoutOf(metadata.schema, this.#config, label), label)(batch);
    this.#warnOf(rows.unknownKeys);
    return rows;
  }

  /** A table that we may create also grows with its messages: the alternative is to lose what they say. */
  async #grown(batch: readonly Message[], table: OpenTable, signal: AbortSignal): Promise<OpenTable> {
    const { autoCreateTable, rawMode } = this.#config;
    if (!autoCreateTable || rawMode || layoutOf(table.metadata.schema, this.#config, '').body === 'data') return table;
    const { label, name, catalog } = this.#table;
    const columns = newColumns(batch, table.metadata.schema);
    if (columns.size === 0) return table;
    const { requirements, updates } = planNewColumns(table.metadata, columns);
    const about = { table: label, columns: [...columns.keys()] };
    try {
      await catalog.commit(name, requirements, updates, signal);
      this.#options.log.info(about, 'added columns');
    } catch (error) {
      // Refused for good: the rows are written without them. Anything else is tried again with the batch.
      if (!(error instanceof IcebergError) || error.isRetryable) throw error;
      this.#options.log.warn(about, `can't add columns: ${error.message}`);
      return table;
    }
    return (await this.#table.load(signal)) ?? table;
  }

  /** Undefined: no message says what columns it should have. */
  async #create(batch: readonly Message[], signal: AbortSignal): Promise<OpenTable | undefined> {
    if (!this.#config.autoCreateTable) throw this.#missing();
    const schema = schemaFor(batch, this.#config);
    if (!schema) return undefined;
    const isOurs = await this.#table.create(schema, signal);
    const table = await this.#table.load(signal);
    if (!table) throw new IcebergError(`table ${this.#table.label} was created and is not there`);
    if (isOurs) this.#options.log.info({ table: this.#table.label }, 'created the table');
    return table;
  }

  #missing(): IcebergError {
    const { branch } = this.#config;
    return new IcebergError(
      `there is no table ${this.#table.label} in branch ${branch}: create it, or set autoCreateTable`,
    );
  }

  #warnOf(keys: ReadonlySet<string>): void {
    const news = [...keys].filter((key) => !this.#warned.has(key)).slice(0, MOST_WARNINGS - this.#warned.size);
    if (news.length === 0) return;
    for (const key of news) this.#warned.add(key);
    this.#options.log.warn(
      { table: this.#table.label, keys: news },
      'these keys have no column and are left out: add the columns',
    );
  }
}
