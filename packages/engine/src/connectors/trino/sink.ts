import type { Clock } from '../../clock.ts';
import type { Sink } from '../../connector.ts';
import type { Logger } from '../../log.ts';
import type { Failure, Message } from '../../message.ts';
import { type ColumnType, columnsCalledFor, keyColumns, UnknownKeys } from '../sql/index.ts';
import { type BatchPlan, planBatch } from './batch-plan.ts';
import { writeBatch } from './batch-write.ts';
import { TrinoClient } from './client.ts';
import type { TrinoSinkConfig } from './config.ts';
import { addColumn, createTable } from './created-table.ts';
import type { Fetch } from './http.ts';
import { readTable, shownName } from './table.ts';
import { type Target, targetOf } from './target.ts';
import { TrinoError } from './trouble.ts';

export interface TrinoSinkOptions {
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly log: Logger;
}

/**
 * Writes batches into a table. Trino has no transaction over several statements that its catalogs support, so a batch is cut
 * into as few as possible, one after the other; each is written as a whole or not at all. Rows that are refused are found by
 * halving their statement, and come back as failures. When Trino can't go on in the middle of a batch, what is written stays
 * written, and only the rest comes back to be tried again. A statement whose answer got lost may have been carried out, so
 * that its rows are there twice after the next attempt, unless they are merged.
 */
export class TrinoSink implements Sink {
  readonly #config: TrinoSinkConfig;
  readonly #log: Logger;
  readonly #client: TrinoClient;
  readonly #unknownKeys: UnknownKeys;
  /** Columns that could not be added: that is not tried with every batch. */
  readonly #unaddable = new Set<string>();
  readonly #table: string;
  #target: Target | undefined;
  #state: 'new' | 'connected' | 'closed' = 'new';

  constructor(config: TrinoSinkConfig, { log, ...options }: TrinoSinkOptions) {
    this.#config = config;
    this.#log = log;
    this.#table = shownName(config);
    this.#unknownKeys = new UnknownKeys(this.#table, log);
    this.#client = new TrinoClient({ ...config, ...options });
  }

  async connect(signal: AbortSignal): Promise<void> {
    if (this.#state === 'closed') throw new TrinoError('connector is closed');
    this.#target = await this.#readTarget(signal);
    if (!this.#target) {
      if (!this.#config.autoCreateTable)
        throw new TrinoError(`there is no table ${this.#table}: create it, or set autoCreateTable`);
      // Its columns are known only with the first batch, unless none of them depends on it.
      if (this.#config.rawMode && !this.#config.upsertMode && !this.#config.flattenMetadataColumns)
        this.#target = await this.#create([], signal);
    }
    this.#state = 'connected';
  }

  async write(batch: readonly Message[], signal: AbortSignal): Promise<readonly Failure[]> {
    if (this.#state !== 'connected')
      throw new TrinoError(this.#state === 'new' ? 'not connected, call connect first' : 'connector is closed');
    return writeBatch(batch, {
      plan: (messages) => this.#plan(messages, signal),
      run: async ({ sql }) => void (await this.#client.run(sql, signal)),
      lookAgain: () => {
        this.#target = undefined;
      },
    });
  }

  close(): Promise<void> {
    this.#state = 'closed';
    return Promise.resolve();
  }

  async #plan(batch: readonly Message[], signal: AbortSignal): Promise<BatchPlan> {
    this.#target ??= (await this.#readTarget(signal)) ?? (await this.#create(batch, signal));
    const plan = planBatch(batch, this.#target);
    if (plan.unknownKeys.size === 0) return plan;
    if (this.#config.autoCreateTable && !this.#config.rawMode) {
      const grown = await this.#addColumns(batch, plan.unknownKeys, signal);
      if (grown) return planBatch(batch, grown);
    }
    this.#unknownKeys.warnOf(plan.unknownKeys);
    return plan;
  }

  async #readTarget(signal: AbortSignal): Promise<Target | undefined> {
    const table = await readTable(this.#client, this.#config, signal);
    return table && targetOf(table, this.#config);
  }

  async #create(batch: readonly Message[], signal: AbortSignal): Promise<Target> {
    if (!this.#config.autoCreateTable) throw new TrinoError(`there is no table ${this.#table} any more`);
    await this.#client.run(createTable(this.#config, this.#columnsFor(batch)), signal);
    const target = await this.#readTarget(signal);
    if (!target) throw new TrinoError(`table ${this.#table} was created and is not there`);
    this.#log.info({ table: this.#table }, 'created the table');
    return target;
  }

  #columnsFor(batch: readonly Message[]): ReadonlyMap<string, ColumnType | undefined> {
    const { rawMode, flattenMetadataColumns, upsertMode, conflictKey = '' } = this.#config;
    const { body, metadata } = columnsCalledFor(batch, this.#config);
    const key = upsertMode ? keyColumns(conflictKey) : [];
    const typeOf = (name: string) => [...body].find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];
    const missing = key.find((name) => !typeOf(name));
    if (missing !== undefined) throw this.#cantCreate(`no message has a value for its key "${missing}"`);
    if (!rawMode) {
      const columns = new Map([...metadata, ...body]);
      if ([...columns.values()].every((type) => type === undefined))
        throw this.#cantCreate('no message has a key with a value');
      return columns;
    }
    return new Map<string, ColumnType | undefined>([
      ...metadata,
      ...key.map((name) => [name, typeOf(name)] as const),
      ['data', 'text'],
      ...(flattenMetadataColumns ? [] : [['_metadata', 'json'] as const]),
    ]);
  }

  #cantCreate(because: string): TrinoError {
    return new TrinoError(`table ${this.#table} can't be created: ${because}`, {
      type: 'invalid_data',
      isAboutRow: true,
    });
  }

  /** A table that we may create also grows with its messages: the alternative is to lose what they say. Undefined: it did not. */
  async #addColumns(
    batch: readonly Message[],
    unknown: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<Target | undefined> {
    const added: string[] = [];
    for (const [name, type] of columnsCalledFor(batch, this.#config).body) {
      if (!type || !unknown.has(name) || this.#unaddable.has(name)) continue;
      try {
        await this.#client.run(addColumn(this.#config, name, type), signal);
        added.push(name);
      } catch (error) {
        if (!(error instanceof TrinoError) || error.isRetryable) throw error;
        this.#log.warn({ table: this.#table, column: name }, `can't add a column: ${error.message}`);
        this.#unaddable.add(name);
      }
    }
    if (added.length === 0) return undefined;
    this.#target = await this.#readTarget(signal);
    this.#log.info({ table: this.#table, columns: added }, 'added columns');
    return this.#target;
  }
}
