import type { Clock } from '../../clock.ts';
import type { CheckpointStore, Source } from '../../connector.ts';
import type { Logger } from '../../log.ts';
import type { Message, Origin } from '../../message.ts';
import { Payload } from '../../payload.ts';
import { checkpointOf, isPosition, type Position, polled, positionOf, quotedTable } from '../sql/index.ts';
import type { PostgresSourceConfig } from './config.ts';
import { Connection, type Value } from './connection.ts';
import { describeFeed, type Feed, feedQuery, untrackedQuery } from './feed.ts';
import { PostgresError } from './trouble.ts';

export interface PostgresSourceOptions {
  readonly checkpoints: CheckpointStore;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly log: Logger;
  /** Ends when there is no more, instead of waiting for it. */
  readonly isOneOff?: boolean;
}

/** Under which the checkpoints of polling sources have always been kept. */
const CHECKPOINT = 'postgresql';

const DEFAULT_POLL_INTERVAL = 5;

/** Rows at a time, and how many bytes of them: a table of long rows must not fill the memory. */
const MOST_ROWS = 1_000;
const FIRST_ROWS = 100;
const MOST_BYTES = 8 * 1024 * 1024;

/**
 * Up to which moment all that will ever carry it is there to be read. `now()`, the usual stamp, is the start of a transaction, and
 * nobody sees the row before the end of it: whoever read on past the stamp meanwhile would miss the row for good. So nothing is
 * read that is newer than the oldest transaction still open, or than this question, which is asked before the rows are.
 *
 * Where that ends: a transaction that is open for more than a minute is not waited for (some are forgotten for days); those of
 * other roles are seen only with the rights of pg_read_all_stats; and stamps that programs set from clocks of their own, or that
 * have no time zone, can't be compared with the server's clock. For those, and for numbers from a sequence, a row that is
 * committed after its successors were read is missed, as by any polling. Deletes are never seen.
 */
const SETTLED = `
  SELECT least(statement_timestamp() - interval '100 ms',
    greatest(coalesce(min(xact_start), statement_timestamp()), statement_timestamp() - interval '1 minute'))::text
  FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type <> 'autovacuum worker'`;

/**
 * Polls a table or a query for rows that are new or changed since the last one that was read. The position is kept durably when
 * messages are committed; after a restart reading goes on from there.
 */
export class PostgresSource implements Source {
  readonly #config: PostgresSourceConfig;
  readonly #options: PostgresSourceOptions;
  readonly #connection: Connection;
  readonly #partition: string;
  #feed: Feed | undefined;
  #position: Position | undefined;
  #sequence = 0;

  constructor(config: PostgresSourceConfig, options: PostgresSourceOptions) {
    this.#config = config;
    this.#options = options;
    this.#connection = new Connection(config.connectionString);
    this.#partition = config.table ?? 'query';
  }

  async connect(signal: AbortSignal): Promise<void> {
    await this.#connection.connect(signal);
    const { table, autoCreateTable, query } = this.#config;
    if (autoCreateTable && table !== undefined && query === undefined)
      await this.#connection.run(
        `CREATE TABLE IF NOT EXISTS ${quotedTable(table)} ("id" bigserial PRIMARY KEY, "created_at" timestamptz DEFAULT now(), "updated_at" timestamptz DEFAULT now())`,
        signal,
      );
    this.#feed = await describeFeed(this.#connection, this.#config, signal);
    if (!this.#feed.keyset) return;
    this.#position = positionOf(await this.#options.checkpoints.load(CHECKPOINT));
    await this.#warnOfNulls(this.#feed, signal);
  }

  read(signal: AbortSignal): AsyncIterable<readonly Message[]> {
    const { readBatchSize = 0, pollInterval = DEFAULT_POLL_INTERVAL } = this.#config;
    return polled(
      {
        ...this.#options,
        system: 'PostgreSQL',
        poll: () => this.#poll(signal),
        goesOn: this.#feed?.keyset !== undefined,
        portion: readBatchSize,
        pollIntervalMs: pollInterval * 1_000,
        isOneOff: this.#options.isOneOff ?? false,
        passing: (error) => (error instanceof PostgresError && error.isRetryable ? error : undefined),
      },
      signal,
    );
  }

  async commit(origins: readonly Origin[]): Promise<void> {
    const position = origins.at(-1)?.position;
    if (isPosition(position)) await this.#options.checkpoints.save(CHECKPOINT, checkpointOf(position));
  }

  /** By the value that finds the row again; of a query without one there is nothing to say. */
  describe({ partition, position }: Origin): string {
    const key = this.#feed?.keyset?.order.name;
    return isPosition(position) && key !== undefined ? `${partition}, ${key} ${position.order}` : partition;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async *#poll(signal: AbortSignal): AsyncIterable<readonly Message[]> {
    const feed = this.#feed;
    if (!feed) throw new PostgresError('not connected, call connect first');
    await this.#connection.connect(signal);
    const until = await this.#settledUntil(feed, signal);
    const { text, values } = feedQuery(feed, this.#position, { limit: this.#config.readBatchSize ?? 0, until });
    const rows = this.#connection.open(text, values, signal);
    try {
      for (let count = FIRST_ROWS; ; ) {
        const portion = await rows.next(count);
        if (portion.length === 0) return;
        const batch = portion.map((row) => this.#messageOf(row, feed));
        const bytes = batch.reduce((sum, { payload }) => sum + (payload?.size ?? 0), 0);
        count = Math.max(1, Math.min(MOST_ROWS, Math.floor((MOST_BYTES / (bytes + 1)) * portion.length)));
        yield batch;
      }
    } finally {
      // Also when nobody wants the rest. If the connection broke there is nothing left to close.
      await rows.close().catch(() => undefined);
    }
  }

  async #warnOfNulls(feed: Feed, signal: AbortSignal): Promise<void> {
    const { rows } = await this.#connection.query(untrackedQuery(feed), [], signal);
    if (rows[0]?.[0] !== 't') return;
    const column = feed.keyset?.change.name;
    this.#options.log.warn(
      { column },
      'rows whose change tracking column is NULL are not read: give the column a default and make it NOT NULL',
    );
  }

  async #settledUntil({ keyset }: Feed, signal: AbortSignal): Promise<Value | undefined> {
    if (keyset?.change.type !== 'timestamp with time zone' || this.#options.isOneOff) return undefined;
    const { rows } = await this.#connection.query(SETTLED, [], signal);
    return rows[0]?.[0] ?? undefined;
  }

  #messageOf([operation = null, change = null, order = null, row = null]: readonly Value[], { keyset }: Feed): Message {
    // Read on from here even after the connection broke: what was handed out is on its way.
    const position: Position | undefined = keyset && { change, order };
    if (position) this.#position = position;
    return {
      payload: Payload.ofText(row ?? 'null'),
      metadata: {
        ...(this.#config.table === undefined ? {} : { table: this.#config.table }),
        ...(keyset && order !== null ? { id: isInteger(keyset.order.type, order) ? Number(order) : order } : {}),
        ...(operation === null ? {} : { operation }),
      },
      origin: {
        partition: this.#partition,
        sequence: this.#sequence++,
        position,
        readAt: this.#options.clock.now(),
      },
    };
  }
}

const isInteger = (type: string, text: string): boolean =>
  (type === 'smallint' || type === 'integer' || type === 'bigint') && Number.isSafeInteger(Number(text));
