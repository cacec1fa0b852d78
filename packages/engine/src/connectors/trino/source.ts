import type { Clock } from '../../clock.ts';
import type { CheckpointStore, Source } from '../../connector.ts';
import { type JsonArray, ObjectBuilder, printJson } from '../../json/index.ts';
import type { Logger } from '../../log.ts';
import type { Message, Origin } from '../../message.ts';
import { Payload } from '../../payload.ts';
import { checkpointOf, isPosition, type Position, polled, positionOf } from '../sql/index.ts';
import { type Page, TrinoClient } from './client.ts';
import type { TrinoSourceConfig } from './config.ts';
import { describeFeed, type Feed, feedQuery, untrackedQuery } from './feed.ts';
import type { Fetch } from './http.ts';
import { TrinoError } from './trouble.ts';
import { parseType, type TrinoType } from './type.ts';
import { valueOf } from './value.ts';

export interface TrinoSourceOptions {
  readonly fetch: Fetch;
  readonly checkpoints: CheckpointStore;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly log: Logger;
  /** Ends when there is no more, instead of waiting for it. */
  readonly isOneOff?: boolean;
}

/** Under which the checkpoints of polling sources have always been kept. */
const CHECKPOINT = 'trino';

/**
 * Polls a table or a query for rows that are new or changed since the last one that was read. The position is kept durably when
 * messages are committed; after a restart reading goes on from there.
 *
 * Nothing in Trino makes a key unique, so several rows may have the same. A position is therefore never within such rows: until
 * the last of them is committed, it is before the first, and after a restart all of them come again.
 *
 * Where that ends: a row that becomes visible after others with a later key were read is missed, as by any polling; give the
 * tracking column values that grow in the order of the commits. Deletes are never seen.
 */
export class TrinoSource implements Source {
  readonly #config: TrinoSourceConfig;
  readonly #options: TrinoSourceOptions;
  readonly #client: TrinoClient;
  readonly #partition: string;
  #feed: Feed | undefined;
  /** The key of the last row of which all that have it were read. */
  #position: Position | undefined;
  #sequence = 0;
  #isClosed = false;

  constructor(config: TrinoSourceConfig, options: TrinoSourceOptions) {
    this.#config = config;
    this.#options = options;
    this.#client = new TrinoClient({ ...config, ...options });
    this.#partition = config.table ?? 'query';
  }

  async connect(signal: AbortSignal): Promise<void> {
    if (this.#isClosed) throw new TrinoError('connector is closed');
    const feed = await describeFeed(this.#client, this.#config, signal);
    const { keyset } = feed;
    if (keyset) {
      this.#position = positionOf(await this.#options.checkpoints.load(CHECKPOINT));
      // It may mean to read the whole table: not at every start.
      if (!this.#position) await this.#warnOfNulls({ ...feed, keyset }, signal);
    }
    this.#feed = feed;
  }

  read(signal: AbortSignal): AsyncIterable<readonly Message[]> {
    return polled(
      {
        ...this.#options,
        system: 'Trino',
        poll: () => this.#poll(signal),
        goesOn: this.#feed?.keyset !== undefined,
        portion: this.#config.readBatchSize,
        pollIntervalMs: this.#config.pollInterval * 1_000,
        isOneOff: this.#options.isOneOff ?? false,
        passing: (error) => (error instanceof TrinoError && error.isRetryable ? error : undefined),
      },
      signal,
    );
  }

  async commit(origins: readonly Origin[]): Promise<void> {
    const position = origins.at(-1)?.position;
    if (isPosition(position)) await this.#options.checkpoints.save(CHECKPOINT, checkpointOf(position));
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return Promise.resolve();
  }

  /** The last row of a page waits for the next one: only that tells whether others have its key. */
  async *#poll(signal: AbortSignal): AsyncIterable<readonly Message[]> {
    const feed = this.#feed;
    if (!feed) throw new TrinoError('not connected, call connect first');
    let held: ReadRow | undefined;
    for await (const page of this.#client.pages(feedQuery(feed, this.#position, this.#config.readBatchSize), signal)) {
      const batch: Message[] = [];
      for (const row of rowsOf(page, feed)) {
        if (held) batch.push(this.#messageOf(held, row, feed));
        held = row;
      }
      if (batch.length > 0) yield batch;
    }
    if (held) yield [this.#messageOf(held, undefined, feed)];
  }

  async #warnOfNulls(feed: Parameters<typeof untrackedQuery>[0], signal: AbortSignal): Promise<void> {
    const { rows } = await this.#client.run(untrackedQuery(feed), signal);
    if (rows.length === 0) return;
    const columns = [...new Set([feed.keyset.change.name, feed.keyset.order.name])];
    this.#options.log.warn({ columns }, 'rows with NULL in these columns are not read: fill them');
  }

  #messageOf({ payload, key }: ReadRow, next: ReadRow | undefined, { keyset }: Feed): Message {
    if (key && !(next?.key && isSame(key, next.key))) this.#position = key;
    const { catalog, schema, table } = this.#config;
    return {
      payload,
      metadata: {
        catalog,
        schema,
        ...(table === undefined ? {} : { table }),
        ...(key && keyset ? { id: idOf(key.order, keyset.order.type) } : {}),
      },
      origin: {
        partition: this.#partition,
        sequence: this.#sequence++,
        position: this.#position,
        readAt: this.#options.clock.now(),
      },
    };
  }
}

interface Key extends Position {
  readonly change: string;
  readonly order: string;
}

interface ReadRow {
  readonly payload: Payload;
  /** Undefined: nothing tells where it stands. */
  readonly key: Key | undefined;
}

function* rowsOf({ columns, rows }: Page, { keyset }: Feed): Iterable<ReadRow> {
  const typed = columns.map(({ name, type }) => ({ name, type: parseType(type) }));
  const shown = keyset ? typed.slice(0, -2) : typed;
  const [change, order] = keyset ? typed.slice(-2) : [];
  for (const row of rows) {
    const value = new ObjectBuilder();
    for (const [at, { name, type }] of shown.entries()) value.set(name, valueOf(row[at] ?? null, type));
    const key =
      change && order
        ? { change: textAt(row, shown.length, change.type), order: textAt(row, shown.length + 1, order.type) }
        : undefined;
    yield { payload: Payload.ofJson(value.build()), key };
  }
}

/** As `cellOf` reads it again. */
function textAt(row: JsonArray, at: number, type: TrinoType): string {
  const value = valueOf(row[at] ?? null, type);
  return typeof value === 'string' ? value : printJson(value);
}

const isSame = (a: Key, b: Key): boolean => a.change === b.change && a.order === b.order;

/** Integers as numbers, if they are none that most readers would round. */
function idOf(order: string, type: TrinoType): string | number {
  const isInteger = type.kind === 'scalar' && /^(?:tinyint|smallint|integer|bigint)$/.test(type.name);
  return isInteger && Number.isSafeInteger(Number(order)) ? Number(order) : order;
}
