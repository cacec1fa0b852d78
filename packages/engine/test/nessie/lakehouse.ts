/**
 * The few paths of Nessie and of S3 that the connector uses, in memory, with the answers that the real ones give (the suites
 * named *.real.test.ts hold them to it), and with faults that no real server shows on command.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  ExactNumber,
  get,
  isArray,
  isNumber,
  isObject,
  type Json,
  type JsonObject,
  type PlainObject,
  parseJson,
  printJson,
  spellingOf,
} from '../../src/json/index.ts';

/**
 * `before`: it is not done, and answered so. `after`: it is done, and answered so. `lost`: it is done, and not answered. `late`: it
 * is answered with 503, and done just before the next request that changes something.
 */
export type Fault = { readonly before: number } | { readonly after: number } | 'lost' | 'late';

export interface Call {
  readonly method: string;
  /** Decoded, without the query. */
  readonly path: string;
  readonly authorization: string | undefined;
}

interface Table {
  readonly id: string;
  readonly metadata: PlainObject;
}

interface Commit {
  readonly hash: string;
  /** By the name of the table, with its namespace. */
  readonly tables: ReadonlyMap<string, Table>;
  /** What the commit was about. */
  readonly key: string;
  readonly isDrop: boolean;
}

export class Lakehouse {
  /** Of the bucket: by its key. */
  readonly files = new Map<string, Buffer>();
  readonly calls: Call[] = [];
  readonly namespaces = new Set<string>();
  /** Asked before each request. */
  faultOf: (call: Call) => Fault | undefined = () => undefined;
  /** Lent with the table. */
  lent: Readonly<Record<string, string>> = {};
  readonly #commits: Commit[] = [];
  readonly #server: Server;
  #late: () => void = () => undefined;
  #url = '';

  private constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(): Promise<Lakehouse> {
    const lakehouse = new Lakehouse();
    await new Promise<void>((resolve) => lakehouse.#server.listen(0, '127.0.0.1', resolve));
    const address = lakehouse.#server.address();
    lakehouse.#url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
    return lakehouse;
  }

  get baseURL(): string {
    return this.#url;
  }

  get s3Endpoint(): string {
    return `${this.#url}/s3`;
  }

  /** What was committed to a table, the latest last. */
  snapshotsOf(name: string): readonly PlainObject[] {
    const seen = new Map<string, PlainObject>();
    for (const { tables } of this.#commits) {
      const [snapshot] = listIn(tables.get(name)?.metadata ?? {}, 'snapshots');
      if (isPlain(snapshot)) seen.set(printJson(snapshot['snapshot-id'] ?? null), snapshot);
    }
    return [...seen.values()];
  }

  schemaOf(name: string): Json {
    const metadata = this.#commits.at(-1)?.tables.get(name)?.metadata ?? {};
    return listIn(metadata, 'schemas').at(-1) ?? null;
  }

  createTable(name: string, fields: readonly Json[], partition: readonly Json[] = []): void {
    const id = `content-${this.#commits.length}`;
    const metadata: PlainObject = {
      'format-version': 2,
      'table-uuid': `uuid-${this.#commits.length}`,
      location: `s3://lake/${name}`,
      'last-sequence-number': 0,
      'last-column-id': fields.length,
      schemas: [{ type: 'struct', 'schema-id': 0, fields }],
      'current-schema-id': 0,
      'partition-specs': [{ 'spec-id': 0, fields: partition }],
      'default-spec-id': 0,
      'current-snapshot-id': -1,
      snapshots: [],
    };
    this.#commit(name, { id, metadata });
  }

  dropTable(name: string): void {
    this.#commit(name, undefined);
  }

  /** As Nessie does when a branch is assigned to where it was before. */
  forgetCommits(count: number): void {
    this.#commits.splice(-count);
  }

  /** Says another thing of the current snapshot: that it deleted rows, for instance. */
  amendSnapshot(name: string, amend: (snapshot: PlainObject) => PlainObject): void {
    const last = this.#commits.at(-1);
    const table = last?.tables.get(name);
    if (!last || !table) return;
    const snapshots = listIn(table.metadata, 'snapshots').map((one) => (isPlain(one) ? amend(one) : one));
    const tables = new Map(last.tables).set(name, { ...table, metadata: { ...table.metadata, snapshots } });
    this.#commits[this.#commits.length - 1] = { ...last, tables };
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) if (Buffer.isBuffer(part)) parts.push(part);
    const url = new URL(request.url ?? '/', 'http://any');
    const path = decodeURIComponent(url.pathname);
    const { method = 'GET', headers } = request;
    const call = { method, path, authorization: headers.authorization };
    this.calls.push(call);
    const fault = this.faultOf(call);
    if (typeof fault === 'object' && 'before' in fault) return void response.writeHead(fault.before).end();
    const body = Buffer.concat(parts);
    if (fault === 'late') {
      this.#late = () => void this.#answer(call, url, body, headers.range);
      return void response.writeHead(503).end();
    }
    if (method === 'POST') {
      const late = this.#late;
      this.#late = () => undefined;
      late();
    }
    const answer = this.#answer(call, url, body, headers.range);
    if (fault === 'lost') return void request.socket.destroy();
    if (fault !== undefined) return void response.writeHead(fault.after).end();
    response.writeHead(answer.status).end(answer.body);
  }

  #answer({ method, path }: Call, url: URL, body: Buffer, range: string | undefined): Answered {
    if (path.startsWith('/s3/')) return this.#object(method, path.slice('/s3/lake/'.length), body, range);
    const history = /^\/api\/v2\/trees\/[^/]+\/history$/.test(path);
    if (history) return ok(this.#history(url));
    const [, prefix = '', namespace, table, isCreate] =
      /^\/iceberg\/v1\/([^/]+)\/namespaces(?:\/([^/]+)(?:\/tables\/([^/]+)|(\/tables))?)?$/.exec(path) ?? [];
    const name = `${namespace?.replaceAll('\u001f', '.')}.${table}`;
    if (table !== undefined) return method === 'GET' ? this.#load(name, prefix) : this.#update(name, objectIn(body));
    if (isCreate !== undefined) return this.#create(namespace ?? '', objectIn(body));
    if (method === 'POST') {
      this.namespaces.add(
        listIn(objectIn(body), 'namespace')
          .map((level) => (typeof level === 'string' ? level : ''))
          .join('.'),
      );
      return ok({});
    }
    return this.namespaces.has(namespace?.replaceAll('\u001f', '.') ?? '')
      ? ok({})
      : refuse(404, 'Namespace does not exist');
  }

  #object(method: string, key: string, body: Buffer, range: string | undefined): Answered {
    if (method === 'PUT') this.files.set(key, body);
    if (method === 'DELETE') this.files.delete(key);
    if (method !== 'GET') return { status: 200, body: Buffer.alloc(0) };
    const file = this.files.get(key);
    if (!file) return { status: 404, body: Buffer.from('<Error><Code>NoSuchKey</Code></Error>') };
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
    if (start === undefined) return { status: 200, body: file };
    return { status: 206, body: file.subarray(Number(start), Number(end) + 1) };
  }

  #load(name: string, prefix: string): Answered {
    const hash = /@([^|]+)/.exec(prefix)?.[1];
    const commit = hash === undefined ? this.#commits.at(-1) : this.#commits.find((one) => one.hash === hash);
    const table = commit?.tables.get(name);
    if (!table) return refuse(404, `Table does not exist: ${name}`);
    return ok({ metadata: table.metadata, config: { 's3.endpoint': this.s3Endpoint, ...this.lent } });
  }

  #create(namespace: string, request: JsonObject): Answered {
    const name = `${namespace.replaceAll('\u001f', '.')}.${textIn(request, 'name')}`;
    if (this.#commits.at(-1)?.tables.has(name)) return refuse(409, 'Table already exists');
    const schema = get(request, 'schema');
    this.createTable(name, isObject(schema) ? listIn(schema, 'fields') : []);
    return ok({});
  }

  #update(name: string, request: JsonObject): Answered {
    const table = this.#commits.at(-1)?.tables.get(name);
    if (!table) return refuse(404, `Table does not exist: ${name}`);
    for (const one of listIn(request, 'requirements').filter(isObject)) {
      const isMet = meets(one, table.metadata);
      if (!isMet) return refuse(409, `requirement failed: ${textIn(one, 'type')}`);
    }
    const metadata = listIn(request, 'updates').filter(isObject).reduce(updated, table.metadata);
    this.#commit(name, { ...table, metadata });
    return ok({ metadata });
  }

  #commit(name: string, table: Table | undefined): void {
    const tables = new Map(this.#commits.at(-1)?.tables);
    if (table) tables.set(name, table);
    else tables.delete(name);
    this.#commits.push({ hash: `hash-${this.#commits.length}`, tables, key: name, isDrop: table === undefined });
  }

  #history(url: URL): Json {
    const wanted = /op\.key == '([^']*)'/.exec(url.searchParams.get('filter') ?? '')?.[1];
    const entries = this.#commits.filter(({ key }) => key === wanted).toReversed();
    const from = Number(url.searchParams.get('page-token') ?? 0);
    const page = entries.slice(from, from + HISTORY_PAGE);
    return {
      hasMore: from + HISTORY_PAGE < entries.length,
      token: String(from + HISTORY_PAGE),
      logEntries: page.map(({ hash, key, tables, isDrop }) => ({
        commitMeta: { hash },
        operations: [
          {
            type: isDrop ? 'DELETE' : 'PUT',
            key: { elements: key.split('.') },
            ...(!isDrop && {
              content: {
                id: tables.get(key)?.id ?? '',
                snapshotId: tables.get(key)?.metadata['current-snapshot-id'] ?? -1,
              },
            }),
          },
        ],
      })),
    };
  }
}

/** Small, so that tests turn pages. */
const HISTORY_PAGE = 3;

interface Answered {
  readonly status: number;
  readonly body: Buffer;
}

const ok = (body: Json): Answered => ({ status: 200, body: Buffer.from(printJson(body)) });
const refuse = (status: number, message: string): Answered => ({
  status,
  body: Buffer.from(printJson({ error: { message, code: status } })),
});

function meets(requirement: JsonObject, metadata: PlainObject): boolean {
  const same = (name: string, current: Json | undefined) => printed(get(requirement, name)) === printed(current);
  switch (textIn(requirement, 'type')) {
    case 'assert-table-uuid':
      return same('uuid', metadata['table-uuid']);
    case 'assert-current-schema-id':
      return same('current-schema-id', metadata['current-schema-id']);
    case 'assert-last-assigned-field-id':
      return same('last-assigned-field-id', metadata['last-column-id']);
    case 'assert-ref-snapshot-id': {
      const current = printed(metadata['current-snapshot-id']);
      return printed(get(requirement, 'snapshot-id')) === (current === '-1' ? 'null' : current);
    }
    default:
      return false;
  }
}

/** Nessie keeps the current snapshot alone, and forgets its parent. */
function updated(metadata: PlainObject, update: JsonObject): PlainObject {
  const snapshot = get(update, 'snapshot');
  switch (textIn(update, 'action')) {
    case 'add-snapshot': {
      if (!isPlain(snapshot)) return metadata;
      const { 'parent-snapshot-id': _, ...rest } = snapshot;
      return { ...metadata, snapshots: [rest], 'last-sequence-number': rest['sequence-number'] ?? 0 };
    }
    case 'set-snapshot-ref':
      return { ...metadata, 'current-snapshot-id': get(update, 'snapshot-id') ?? -1 };
    case 'add-schema': {
      const schema = get(update, 'schema');
      if (!isPlain(schema)) return metadata;
      const ids = listIn(schema, 'fields').map((field) =>
        isPlain(field) && typeof field['id'] === 'number' ? field['id'] : 0,
      );
      return { ...metadata, schemas: [...listIn(metadata, 'schemas'), schema], 'last-column-id': Math.max(...ids) };
    }
    case 'set-current-schema': {
      const last = listIn(metadata, 'schemas').at(-1);
      return { ...metadata, 'current-schema-id': isPlain(last) ? (last['schema-id'] ?? 0) : 0 };
    }
    default:
      return metadata;
  }
}

const printed = (value: Json | undefined): string => (isNumber(value) ? spellingOf(value) : printJson(value ?? null));

const isPlain = (value: Json | undefined): value is PlainObject => isObject(value) && !(value instanceof ExactNumber);

function listIn(object: JsonObject, name: string): readonly Json[] {
  const list = get(object, name);
  return isArray(list) ? list : [];
}

function textIn(object: JsonObject, name: string): string {
  const text = get(object, name);
  return typeof text === 'string' ? text : '';
}

function objectIn(body: Buffer): JsonObject {
  const json = parseJson(body.toString());
  return isObject(json) ? json : {};
}
