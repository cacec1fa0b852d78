import type { AwsCredentials } from '@polder/s3';
import {
  exchange,
  IcebergError,
  type LoadedTable,
  ObjectStorage,
  RestCatalog,
  type Schema,
  succeeded,
  type TableMetadata,
  type TableName,
  type Transport,
} from '../../iceberg/index.ts';
import { authorizationOf, type NessieTableConfig } from './config.ts';
import { type HistoryPage, historyPage, historyQuery, type TableState } from './history.ts';

/** A table in one of its states, with the storage its files are on. */
export interface OpenTable {
  readonly metadata: TableMetadata;
  readonly storage: ObjectStorage;
}

const DEFAULT_REGION = 'us-east-1';

/** One table of one branch: Nessie's Iceberg catalog, Nessie's own history, and the object storage, behind one face. */
export class NessieTable {
  /** For people. */
  readonly label: string;
  readonly catalog: RestCatalog;
  readonly name: TableName;
  readonly #config: NessieTableConfig;
  readonly #transport: Transport;
  readonly #base: string;

  constructor(config: NessieTableConfig, transport: Transport) {
    this.#config = config;
    this.#transport = transport;
    this.#base = config.baseURL.replace(/\/+$/, '');
    this.name = { namespace: config.namespace.split('.'), table: config.table };
    this.label = `${config.namespace}.${config.table}`;
    const authorization = authorizationOf(config);
    const prefix = this.#prefix(config.branch);
    this.catalog = new RestCatalog({ baseURL: `${this.#base}/iceberg`, prefix, authorization, transport });
  }

  /** Undefined: there is no such table in the branch. */
  async load(signal: AbortSignal): Promise<OpenTable | undefined> {
    return this.#open(await this.catalog.loadTable(this.name, signal));
  }

  /** As it was after a commit of Nessie. */
  async loadAt({ commit }: TableState, signal: AbortSignal): Promise<OpenTable | undefined> {
    return this.#open(
      await this.catalog.loadTable(this.name, signal, this.#prefix(`${this.#config.branch}@${commit}`)),
    );
  }

  /** False: somebody else was faster. */
  async create(schema: Schema, signal: AbortSignal): Promise<boolean> {
    await this.catalog.createNamespace(this.name.namespace, signal);
    return this.catalog.createTable(this.name, schema, signal);
  }

  /**
   * What the table was after each commit of the branch that touched it, the latest first. Nessie hands out tables with their
   * current snapshot alone, without its parent: what came before it is in Nessie's history, and nowhere else.
   */
  async *history(signal: AbortSignal): AsyncGenerator<TableState> {
    let token: string | undefined;
    do {
      const page: HistoryPage = await this.#historyPage(token, signal);
      yield* page.states;
      if (page.isOver) return;
      token = page.next;
    } while (token !== undefined);
  }

  async #historyPage(token: string | undefined, signal: AbortSignal): Promise<HistoryPage> {
    const authorization = authorizationOf(this.#config);
    const url = `${this.#base}/api/v2/trees/${encodeURIComponent(this.#config.branch)}/history?${historyQuery(this.name, token)}`;
    const headers = { accept: 'application/json', ...(authorization !== undefined && { authorization }) };
    const answer = await exchange(this.#transport, { method: 'GET', url, headers }, signal);
    return historyPage(succeeded(answer, `tell the history of branch ${this.#config.branch}`), this.name);
  }

  #prefix(reference: string): string {
    const { warehouse } = this.#config;
    return warehouse === undefined || warehouse === '' ? reference : `${reference}|${warehouse}`;
  }

  #open(loaded: LoadedTable | undefined): OpenTable | undefined {
    if (loaded === undefined) return undefined;
    const { config, metadata } = loaded;
    return {
      metadata,
      storage: new ObjectStorage({
        endpoint: this.#config.s3Endpoint ?? config.get('s3.endpoint'),
        region: this.#config.s3Region ?? config.get('client.region') ?? config.get('s3.region') ?? DEFAULT_REGION,
        credentials: this.#credentials(config),
        transport: this.#transport,
      }),
    };
  }

  /** Ours, or those that Nessie lends with the table. */
  #credentials(config: ReadonlyMap<string, string>): AwsCredentials {
    const { accessKey, secretAccessKey } = this.#config;
    if (accessKey !== undefined && secretAccessKey !== undefined) return { accessKey, secretAccessKey };
    const [lentKey, lentSecret] = [config.get('s3.access-key-id'), config.get('s3.secret-access-key')];
    if (lentKey !== undefined && lentSecret !== undefined)
      return { accessKey: lentKey, secretAccessKey: lentSecret, sessionToken: config.get('s3.session-token') };
    throw new IcebergError(
      `there are no credentials for the object storage of table ${this.label}: set accessKey and secretAccessKey, or let Nessie lend some`,
      { type: 'auth_error', isRetryable: false },
    );
  }
}
