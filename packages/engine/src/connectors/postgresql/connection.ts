import { Socket } from 'node:net';
import pg from 'pg';
import Cursor from 'pg-cursor';
import { urlOf } from './connection-string.ts';
import { type Encryption, encryptionOf, withoutEncryption } from './encryption.ts';
import { explain, isWithoutTls, PostgresError, tlsTrouble } from './trouble.ts';

/** A value as the server prints it: numbers with all their digits, moments to the microsecond. Null: SQL NULL. */
export type Value = string | null;

export interface Result {
  readonly rows: readonly (readonly Value[])[];
  readonly rowCount: number;
  readonly fields: readonly { readonly name: string /** Its number in `pg_type`. */; readonly type: number }[];
}

/** Rows as somebody asks for them; the server keeps the rest. */
export interface Rows {
  next(count: number): Promise<readonly (readonly Value[])[]>;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 10_000;

/** The server keeps each prepared statement until the connection ends, so that they must not grow with the messages. */
const MOST_PREPARED = 100;

/** Shorter ones would be taken out of the middle of ordinary words. */
const SHORTEST_SECRET = 4;

/** What we print and compare must not depend on how the server or the role is set up. */
const SETTINGS = `SET datestyle TO 'ISO'; SET intervalstyle TO 'iso_8601'; SET timezone TO 'UTC'; SET bytea_output TO 'hex'`;

const AS_TEXT: pg.CustomTypesConfig = { getTypeParser: () => (text: unknown) => text };

/** One connection, made again by `connect` after it broke. Whatever fails is a `PostgresError`. */
export class Connection {
  readonly #url: URL;
  readonly #secrets: readonly string[];
  readonly #prepared = new Map<string, string>();
  #client: pg.Client | undefined;
  #socket: Socket | undefined;
  #isClosed = false;

  constructor(connectionString: string) {
    this.#url = urlOf(connectionString);
    const { password, searchParams } = this.#url;
    this.#secrets = [connectionString, password, decodeURIComponent(password), searchParams.get('password') ?? '']
      .filter((secret) => secret.length >= SHORTEST_SECRET)
      .toSorted((a, b) => b.length - a.length);
  }

  get isOpen(): boolean {
    return this.#client !== undefined;
  }

  /** Does nothing while the connection stands. */
  async connect(signal: AbortSignal): Promise<void> {
    if (this.#isClosed) throw new PostgresError('connector is closed');
    if (this.#client) return;
    await this.#guarded(signal, async () => {
      const encryption = encryptionOf(this.#url);
      const { mode } = encryption;
      if (mode === 'disable') return this.#open();
      await this.#open(encryption).catch((error: unknown) => {
        if (mode === 'prefer' && isWithoutTls(error)) return this.#open();
        throw tlsTrouble(error, mode) ?? error;
      });
    });
  }

  query(text: string, values: readonly (Value | Buffer)[], signal: AbortSignal): Promise<Result> {
    return this.#guarded(signal, async () => {
      const name = this.#nameOf(text);
      const result = await this.#standing.query<Value[]>({
        text,
        values: [...values],
        rowMode: 'array',
        types: AS_TEXT,
        ...(name === undefined || values.length === 0 ? {} : { name }),
      });
      return {
        rows: result.rows,
        rowCount: result.rowCount ?? 0,
        fields: result.fields.map(({ name, dataTypeID }) => ({ name, type: dataTypeID })),
      };
    });
  }

  /** One or several commands that answer nothing, in one round trip. */
  async run(commands: string, signal: AbortSignal): Promise<void> {
    await this.#guarded(signal, () => this.#standing.query(commands));
  }

  /** The rows of a query in portions. Nothing else may be asked before they are closed. */
  open(text: string, values: readonly Value[], signal: AbortSignal): Rows {
    const cursor = this.#standing.query(new Cursor<Value[]>(text, [...values], { rowMode: 'array', types: AS_TEXT }));
    return {
      next: (count) => this.#guarded(signal, () => cursor.read(count)),
      close: async () => {
        if (signal.aborted) this.drop();
        else if (this.#client) await this.#guarded(signal, () => cursor.close());
      },
    };
  }

  /** For good. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
  }

  get #standing(): pg.Client {
    if (!this.#client)
      throw new PostgresError('not connected, call connect first', { type: 'connection_error', isRetryable: true });
    return this.#client;
  }

  /** In clear text if no encryption is given. */
  async #open(encryption?: Encryption): Promise<void> {
    const socket = new Socket();
    const client = new pg.Client({
      connectionString: withoutEncryption(this.#url).href,
      ssl: encryption?.options ?? false,
      // The types of `pg` do not know it yet.
      ...(encryption?.isDirect && { sslnegotiation: 'direct' }),
      stream: () => socket,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      fallback_application_name: 'polder',
    });
    const forget = () => {
      if (this.#client === client) this.#client = undefined;
    };
    // Without a listener an idle connection that breaks ends the process.
    client.on('error', forget);
    client.on('end', forget);
    this.#socket = socket;
    try {
      await client.connect();
      await client.query(SETTINGS);
    } catch (error) {
      socket.destroy();
      throw error;
    }
    this.#prepared.clear();
    this.#client = client;
  }

  /**
   * Ends with the connection, whatever `work` waits for (a cursor waits for an answer to its closing even then), and ends the
   * connection when the signal aborts: a query that waits for a lock would otherwise wait on.
   */
  async #guarded<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const client = this.#client;
    const lost = Promise.withResolvers<never>();
    const onEnd = () => lost.reject(new Error('Connection terminated'));
    const onAbort = () => this.#socket?.destroy();
    signal.addEventListener('abort', onAbort, { once: true });
    client?.once('end', onEnd);
    try {
      return await Promise.race([work(), lost.promise]);
    } catch (error) {
      signal.throwIfAborted();
      const trouble = explain(error, this.#secrets);
      if (trouble.type === 'connection_error') this.drop();
      throw trouble;
    } finally {
      signal.removeEventListener('abort', onAbort);
      client?.off('end', onEnd);
    }
  }

  /** The next `connect` makes another. */
  drop(): void {
    this.#socket?.destroy();
    this.#client = undefined;
  }

  #nameOf(text: string): string | undefined {
    const known = this.#prepared.get(text);
    if (known !== undefined || this.#prepared.size >= MOST_PREPARED) return known;
    const name = `polder_${this.#prepared.size}`;
    this.#prepared.set(text, name);
    return name;
  }
}
