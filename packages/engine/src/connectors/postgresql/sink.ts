import type { Sink } from '../../connector.ts';
import type { Logger } from '../../log.ts';
import type { Failure, Message } from '../../message.ts';
import { type ColumnType, columnsCalledFor, keyColumns, refused, UnknownKeys } from '../sql/index.ts';
import { type BatchPlan, planBatch, type Statement } from './batch-plan.ts';
import type { PostgresSinkConfig } from './config.ts';
import { Connection } from './connection.ts';
import { addColumns, createColumnarTable, createRawTable } from './created-table.ts';
import { readTable } from './table.ts';
import { type Target, targetOf } from './target.ts';
import { PostgresError } from './trouble.ts';

/** The server's ways to say that the table is not what we think it is: somebody changed it meanwhile. */
const STALE_TABLE = new Set([
  '0A000', // cached plan must not change result type
  '42703', // undefined column
  '42704', // undefined type
  '42804', // datatype mismatch
  '42P01', // undefined table
  '42P10', // no unique index for ON CONFLICT
  '428C9', // generated column
]);

/**
 * Writes batches into a table, each in one transaction: all of it is there, or nothing. Rows that the server refuses are found
 * by halving the batch within that transaction and come back as failures; the rest is written. Whatever concerns the batch as a
 * whole (the connection, the rights, the table) is thrown, and then nothing of it was written, or, if the connection broke
 * just as it was committed, nobody knows.
 */
export class PostgresSink implements Sink {
  readonly #config: PostgresSinkConfig;
  readonly #log: Logger;
  readonly #connection: Connection;
  readonly #unknownKeys: UnknownKeys;
  #target: Target | undefined;

  constructor(config: PostgresSinkConfig, log: Logger) {
    this.#config = config;
    this.#log = log;
    this.#unknownKeys = new UnknownKeys(config.table, log);
    this.#connection = new Connection(config.connectionString);
  }

  async connect(signal: AbortSignal): Promise<void> {
    await this.#connection.connect(signal);
    this.#target = await this.#readTarget(signal);
    if (this.#target) return;
    if (!this.#config.autoCreateTable)
      throw new PostgresError(`there is no table ${this.#config.table}: create it, or set autoCreateTable`);
    // Its columns are known only with the first batch, unless none of them depends on it.
    if (this.#config.rawMode && !this.#config.conflictKey && !this.#config.flattenMetadataColumns)
      await this.#create([], signal);
  }

  async write(batch: readonly Message[], signal: AbortSignal): Promise<readonly Failure[]> {
    if (batch.length === 0) return [];
    if (!this.#connection.isOpen) {
      this.#target = undefined;
      await this.#connection.connect(signal);
    }
    try {
      const plan = await this.#plan(batch, signal);
      await this.#run(plan.statements, signal);
      return plan.failures;
    } catch (error) {
      if (!(error instanceof PostgresError)) throw error;
      if (!error.isAboutRow && !STALE_TABLE.has(error.sqlState ?? '')) throw error;
    }
    // What we hold to be the row's fault may be that of an outdated type: the table is looked at anew.
    this.#target = undefined;
    return this.#isolate(batch, signal);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #plan(batch: readonly Message[], signal: AbortSignal): Promise<BatchPlan> {
    const plan = planBatch(batch, await this.#currentTarget(batch, signal));
    if (plan.unknownKeys.size === 0) return plan;
    if (this.#config.autoCreateTable && !this.#config.rawMode) {
      const grown = await this.#addColumns(batch, plan.unknownKeys, signal);
      if (grown) return planBatch(batch, grown);
    }
    this.#unknownKeys.warnOf(plan.unknownKeys);
    return plan;
  }

  /** One statement is a transaction by itself, without the two round trips. */
  async #run(statements: readonly Statement[], signal: AbortSignal): Promise<void> {
    if (statements.length > 1) await this.#transaction(() => this.#runAll(statements, signal), signal);
    else await this.#runAll(statements, signal);
  }

  async #runAll(statements: readonly Statement[], signal: AbortSignal): Promise<void> {
    const { table, upsertMode } = this.#config;
    for (const { text, values, appends } of statements) {
      const { rowCount } = await this.#connection.query(text, values, signal);
      if (!upsertMode && rowCount < appends)
        this.#log.info({ table, rows: appends - rowCount }, 'rows whose key is there already were not written again');
    }
  }

  async #transaction<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#connection.run('BEGIN', signal);
    try {
      const result = await work();
      await this.#connection.run('COMMIT', signal);
      return result;
    } catch (error) {
      // The connection must not go on in the middle of a transaction: without it the server rolls back by itself.
      if (this.#connection.isOpen) await this.#connection.run('ROLLBACK', signal).catch(() => this.#connection.drop());
      throw error;
    }
  }

  async #isolate(batch: readonly Message[], signal: AbortSignal): Promise<readonly Failure[]> {
    // What is no JSON at all need not be searched for.
    const isBroken = ({ payload }: Message) => payload !== null && payload.json === undefined;
    const failures = batch.filter(isBroken).map((message) => refused(message, 'its payload is no JSON'));
    const sound = batch.filter((message) => !isBroken(message));
    try {
      await this.#plan(sound, signal);
    } catch (error) {
      // A table that none of the messages can bring about is missing for each of them.
      if (!(error instanceof PostgresError) || !error.isAboutRow) throw error;
      return [...failures, ...sound.map((message) => refused(message, error.message))];
    }
    const target = await this.#currentTarget(sound, signal);
    return this.#transaction(async () => {
      // Else a row that breaks a deferred constraint is refused only at the commit, together with all others.
      await this.#connection.run('SET CONSTRAINTS ALL IMMEDIATE; SAVEPOINT part', signal);
      return [...failures, ...(await this.#halve(sound, false, target, signal))];
    }, signal);
  }

  /**
   * Within a transaction, whose savepoint `part` is behind all that is written. Of a part that was refused although its first
   * half is sound, the second is not tried as a whole (`isRefused`).
   */
  async #halve(
    batch: readonly Message[],
    isRefused: boolean,
    target: Target,
    signal: AbortSignal,
  ): Promise<readonly Failure[]> {
    const [first] = batch;
    if (!first) return [];
    if (!isRefused || batch.length === 1) {
      try {
        const { statements, failures } = planBatch(batch, target);
        await this.#runAll(statements, signal);
        await this.#connection.run('RELEASE part; SAVEPOINT part', signal);
        return failures;
      } catch (error) {
        if (!(error instanceof PostgresError) || !error.isAboutRow) throw error;
        await this.#connection.run('ROLLBACK TO part', signal);
        if (batch.length === 1)
          return [{ message: first, because: error.message, type: error.type, isRetryable: error.isRetryable }];
      }
    }
    const middle = batch.length >> 1;
    const early = await this.#halve(batch.slice(0, middle), false, target, signal);
    const late = await this.#halve(batch.slice(middle), early.length === 0, target, signal);
    return [...early, ...late];
  }

  async #currentTarget(batch: readonly Message[], signal: AbortSignal): Promise<Target> {
    this.#target ??= (await this.#readTarget(signal)) ?? (await this.#create(batch, signal));
    return this.#target;
  }

  async #readTarget(signal: AbortSignal): Promise<Target | undefined> {
    const table = await readTable(this.#connection, this.#config.table, signal);
    return table && targetOf(table, this.#config);
  }

  async #create(batch: readonly Message[], signal: AbortSignal): Promise<Target> {
    const { table, autoCreateTable } = this.#config;
    if (!autoCreateTable) throw new PostgresError(`there is no table ${table} any more`);
    try {
      for (const statement of this.#creation(batch)) await this.#connection.run(statement, signal);
    } catch (error) {
      // Two that create a table at once may get in each other's way, `IF NOT EXISTS` or not.
      if (!(await readTable(this.#connection, table, signal))) throw error;
    }
    const target = await this.#readTarget(signal);
    if (!target) throw new PostgresError(`table ${table} was created and is not there`);
    this.#log.info({ table }, 'created the table');
    this.#target = target;
    return target;
  }

  #creation(batch: readonly Message[]): readonly string[] {
    const { table, rawMode = false, flattenMetadataColumns, upsertMode, conflictKey, softDeleteColumn } = this.#config;
    const { body, metadata } = columnsCalledFor(batch, this.#config);
    const key = conflictKey === undefined ? (upsertMode && body.has('id') ? ['id'] : []) : keyColumns(conflictKey);
    const missing = key.find((name) => !body.get(name));
    if (missing !== undefined)
      throw new PostgresError(`table ${table} can't be created: no message has a value for its key "${missing}"`, {
        type: 'invalid_data',
        isAboutRow: true,
      });
    if (rawMode) {
      const keys = new Map(key.map((name) => [name, body.get(name)]));
      const columns = new Map([...keys, ...metadata]);
      return createRawTable(table, columns, upsertMode ? key : [], !flattenMetadataColumns, softDeleteColumn);
    }
    const columns = new Map([...metadata, ...body]);
    if ([...columns.values()].every((type) => type === undefined))
      throw new PostgresError(`table ${table} can't be created: no message has a key with a value`, {
        type: 'invalid_data',
        isAboutRow: true,
      });
    return [createColumnarTable(table, columns, upsertMode ? key : [], softDeleteColumn)];
  }

  /** A table that we may create also grows with its messages: the alternative is to lose what they say. Undefined: it did not. */
  async #addColumns(
    batch: readonly Message[],
    unknown: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<Target | undefined> {
    const { body } = columnsCalledFor(batch, this.#config);
    const columns = new Map<string, ColumnType>();
    for (const [name, type] of body) if (unknown.has(name) && type) columns.set(name, type);
    if (columns.size === 0) return undefined;
    const { table } = this.#config;
    try {
      await this.#connection.run(addColumns(table, columns), signal);
    } catch (error) {
      if (!(error instanceof PostgresError) || error.isRetryable) throw error;
      this.#log.warn({ table, columns: [...columns.keys()] }, `can't add columns: ${error.message}`);
      return undefined;
    }
    this.#target = await this.#readTarget(signal);
    this.#log.info({ table, columns: [...columns.keys()] }, 'added columns');
    return this.#target;
  }
}
