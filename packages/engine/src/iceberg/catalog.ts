import { ExactNumber, get, isObject, type Json, parseJson, printJson } from '../json/index.ts';
import { Answer } from './answer.ts';
import { exchange, type HttpAnswer, type HttpRequest, type Transport } from './http.ts';
import { type TableMetadata, tableMetadataOf } from './metadata.ts';
import { IcebergError, troubleOf } from './trouble.ts';
import { type Schema, schemaJson } from './types.ts';

export interface CatalogOptions {
  /** Before `/v1/…`. */
  readonly baseURL: string;
  /** What the catalog calls the warehouse in its paths; Nessie also names the branch here. */
  readonly prefix: string;
  /** How we are let in: `Bearer …`, `Basic …`. */
  readonly authorization: string | undefined;
  readonly transport: Transport;
}

export interface TableName {
  readonly namespace: readonly string[];
  readonly table: string;
}

export interface LoadedTable {
  readonly metadata: TableMetadata;
  /** How to reach the files: endpoint, region, perhaps credentials. */
  readonly config: ReadonlyMap<string, string>;
}

/** What must still hold for a commit to be made. */
export type Requirement =
  | { readonly type: 'assert-table-uuid'; readonly uuid: string }
  | { readonly type: 'assert-current-schema-id'; readonly 'current-schema-id': number }
  | { readonly type: 'assert-last-assigned-field-id'; readonly 'last-assigned-field-id': number }
  | { readonly type: 'assert-ref-snapshot-id'; readonly ref: string; readonly 'snapshot-id': bigint | null };

/** Levels of a namespace, in paths. */
const LEVEL = '\u001f';

/** The part of Iceberg's REST catalog that reading and appending need. */
export class RestCatalog {
  readonly #options: CatalogOptions;
  readonly #base: string;

  constructor(options: CatalogOptions) {
    this.#options = options;
    this.#base = `${options.baseURL}/v1/${encodeURIComponent(options.prefix)}`;
  }

  /** Undefined: there is no such table. `prefix` reads it in another state than the present one. */
  async loadTable(
    name: TableName,
    signal: AbortSignal,
    prefix = this.#options.prefix,
  ): Promise<LoadedTable | undefined> {
    const base = `${this.#options.baseURL}/v1/${encodeURIComponent(prefix)}`;
    const answer = await this.#send('GET', `${base}${tablePath(name)}`, undefined, signal);
    if (answer.status === 404 && isCatalogs(answer)) return undefined;
    return loadedTable(succeeded(answer, 'load the table'));
  }

  /** False: somebody else was faster. */
  async createTable({ namespace, table }: TableName, schema: Schema, signal: AbortSignal): Promise<boolean> {
    const path = `${namespacePath(namespace)}/tables`;
    // Optional to the specification, required by Nessie.
    const body = { name: table, schema: schemaJson(schema), 'stage-create': false };
    const answer = await this.#send('POST', `${this.#base}${path}`, body, signal);
    if (answer.status === 409) return false;
    succeeded(answer, 'create the table');
    return true;
  }

  /** Level by level: a namespace can't be in one that is not there. */
  async createNamespace(namespace: readonly string[], signal: AbortSignal): Promise<void> {
    for (let depth = 1; depth <= namespace.length; depth++) {
      const levels = namespace.slice(0, depth);
      const existing = await this.#send('GET', `${this.#base}${namespacePath(levels)}`, undefined, signal);
      if (existing.status === 200) continue;
      const answer = await this.#send(
        'POST',
        `${this.#base}/namespaces`,
        { namespace: levels, properties: {} },
        signal,
      );
      if (answer.status !== 409) succeeded(answer, 'create the namespace');
    }
  }

  /**
   * Rejects with status 409 if a requirement does not hold any more, and then nothing was changed. After any other failure
   * than one of status 4xx nobody knows whether it was.
   */
  async commit(
    name: TableName,
    requirements: readonly Requirement[],
    updates: readonly Json[],
    signal: AbortSignal,
  ): Promise<void> {
    const body: Json = {
      requirements: requirements.map((requirement) =>
        'snapshot-id' in requirement
          ? { ...requirement, 'snapshot-id': longJson(requirement['snapshot-id']) }
          : requirement,
      ),
      updates,
    };
    succeeded(await this.#send('POST', `${this.#base}${tablePath(name)}`, body, signal), 'commit to the table');
  }

  #send(method: HttpRequest['method'], url: string, body: Json | undefined, signal: AbortSignal): Promise<HttpAnswer> {
    const { authorization, transport } = this.#options;
    const headers = {
      accept: 'application/json',
      'x-iceberg-access-delegation': 'vended-credentials',
      ...(authorization !== undefined && { authorization }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const bytes = body === undefined ? undefined : Buffer.from(printJson(body));
    return exchange(transport, { method, url, headers, ...(bytes && { body: bytes }) }, signal);
  }
}

/** With all its digits. */
export const longJson = (value: bigint | null): Json => (value === null ? null : new ExactNumber(value.toString()));

const namespacePath = (namespace: readonly string[]): string =>
  `/namespaces/${encodeURIComponent(namespace.join(LEVEL))}`;

const tablePath = ({ namespace, table }: TableName): string =>
  `${namespacePath(namespace)}/tables/${encodeURIComponent(table)}`;

function loadedTable(answer: Answer): LoadedTable {
  const config = answer.field('config');
  return {
    metadata: tableMetadataOf(answer.field('metadata')),
    config: config.isGiven ? config.texts : new Map<string, string>(),
  };
}

/** The body of a success; anything else is thrown. */
export function succeeded({ status, body }: HttpAnswer, what: string): Answer {
  if (status >= 200 && status < 300)
    return Answer.parse(body.length > 0 ? body.toString() : 'null', 'the answer of the catalog');
  throw new IcebergError(`the catalog refused to ${what}: ${status}${saidIn(body)}`, troubleOf(status));
}

/** By its form: any server says 404 of an address that it does not know. */
function isCatalogs({ body }: HttpAnswer): boolean {
  const said = parseJson(body.toString());
  return isObject(said) && isObject(get(said, 'error'));
}

/** Catalogs say what is wrong in `error.message`; proxies before them do not. */
function saidIn(body: Buffer): string {
  try {
    const answer = Answer.parse(body.toString('utf8', 0, 65_536), '');
    const inner = answer.field('error');
    const message = inner.isGiven ? inner.field('message') : answer.field('message');
    return message.isText ? `, ${message.text.slice(0, 300)}` : '';
  } catch {
    return '';
  }
}
