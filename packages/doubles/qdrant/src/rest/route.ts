import type { Verdict } from '../consensus/index.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import type { Peer } from '../peer/index.ts';
import { apply, type Collection, type Entry, resolve } from '../state/index.ts';
import { type Answer, Refused, refuse } from './answer.ts';
import type { QdrantRequest } from './exchange.ts';

/** `open`: without a key. `read`: with any. `manage`: not with the read-only one. */
export type Access = 'open' | 'read' | 'manage';

export interface Route {
  readonly method: string;
  /** `/collections/{name}/points`. */
  readonly path: string;
  readonly access: Access;
  readonly takesJson: boolean;
  readonly handle: (call: Call) => Promise<Answer> | Answer;
}

const by =
  (method: string, access: Access, takesJson: boolean) =>
  (path: string, handle: Route['handle']): Route => ({ method, path, access, takesJson, handle });

export const get = by('GET', 'read', false);
export const put = by('PUT', 'manage', true);
export const patch = by('PATCH', 'manage', true);
export const del = by('DELETE', 'manage', false);
export const post = by('POST', 'manage', true);
/** Asks, with a body. */
export const query = by('POST', 'read', true);
/** Needs no body, or has one that is not JSON. */
export const order = by('POST', 'manage', false);
export const open = by('GET', 'open', false);

/** One request on its way through a peer. */
export class Call {
  readonly peer: Peer;
  readonly request: QdrantRequest;
  readonly query: URLSearchParams;
  readonly #params: Readonly<Record<string, string>>;
  readonly #body: Json | undefined;

  constructor(
    peer: Peer,
    request: QdrantRequest,
    query: URLSearchParams,
    params: Readonly<Record<string, string>>,
    body: Json | undefined,
  ) {
    this.peer = peer;
    this.request = request;
    this.query = query;
    this.#params = params;
    this.#body = body;
  }

  param(name: string): string {
    return this.#params[name] ?? '';
  }

  get json(): Json | undefined {
    return this.#body;
  }

  get body(): JsonObject {
    const body = this.#body;
    if (!isObject(body))
      throw new Refused(400, 'Format error in JSON body: invalid type, expected struct at line 1 column 0');
    return body;
  }

  /** The collection of the path, by its name or an alias, as this peer knows it. */
  get collection(): Collection {
    const name = this.param('name');
    const collection = resolve(this.peer.view, name);
    if (!collection) throw new Refused(404, `Not found: Collection \`${name}\` doesn't exist!`);
    return collection;
  }

  /** Unless told otherwise, the answer is waited for. */
  get waits(): boolean {
    return this.query.get('wait') !== 'false';
  }

  /** In seconds. */
  get timeout(): number {
    const text = this.query.get('timeout');
    if (text === null) return 10;
    if (!/^\d+$/.test(text)) {
      throw new Refused(400, 'Deserialize error in query parameters: invalid digit found in string');
    }
    if (Number(text) === 0) {
      throw new Refused(422, 'Validation error in query parameters: [timeout: value 0 invalid, must be 1 or larger]');
    }
    return Number(text);
  }

  requireCluster(): void {
    if (!this.peer.isClustered) throw new Refused(405, 'Qdrant is running in standalone mode');
  }

  /** What this peer can see to be impossible is refused here; everything else is for all of them to agree on. */
  async agree(entry: Entry): Promise<boolean> {
    const { timeout } = this;
    const expected = apply(this.peer.view, entry);
    if (expected.is === 'refused') refuse(expected.refusal);
    return this.valueOf(await this.peer.propose(entry, timeout * 1_000));
  }

  valueOf(verdict: Verdict): boolean {
    switch (verdict.is) {
      case 'done':
        return verdict.value;
      case 'refused':
        return refuse(verdict.refusal);
      case 'broken':
        throw new Refused(500, `Service internal error: ${verdict.because}`);
      case 'timed-out':
        throw new Refused(
          500,
          `Service internal error: Waiting for consensus operation commit failed. Timeout set at: ${this.timeout} seconds`,
        );
      case 'no-leader':
        throw new Refused(
          500,
          `Service internal error: Failed to propose operation: leader is not established within ${this.timeout}s`,
        );
    }
  }
}
