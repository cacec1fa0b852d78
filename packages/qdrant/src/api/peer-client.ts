import type { Answer } from './answer.ts';
import {
  type ClusterInfo,
  clusterInfoOf,
  type Distribution,
  distributionOf,
  type Factors,
  factorsOf,
} from './cluster-info.ts';
import { type Json, listAt, parseJson, rawId, textAt } from './json.ts';
import { type Door, type PeerClientOptions, pathOf, Requests } from './requests.ts';

/** One shard on its way from one peer to another. */
export interface Travel {
  readonly collection: string;
  readonly shard: number;
  readonly from: string;
  readonly to: string;
}

/** Said in every call: what is left out means something else in each version. It works for peers of any age. */
const METHOD = 'stream_records';

/** Asks one peer, and has it propose changes to the others. */
export class PeerClient {
  readonly #requests: Requests;

  constructor(door: Door, options: PeerClientOptions, signal: AbortSignal) {
    this.#requests = new Requests(door, options, signal);
  }

  /** What it runs: `1.19.0`. Needs no key. */
  async version(): Promise<Answer<string>> {
    const answer = await this.#requests.open('/');
    if (answer.is !== 'answered') return answer;
    const { status, text } = answer.response;
    const version = status === 200 ? textAt(safely(text), 'version') : undefined;
    return version === undefined
      ? { is: 'unreachable', because: `it does not tell its version (status ${status})` }
      : { is: 'ok', value: version };
  }

  cluster(): Promise<Answer<ClusterInfo>> {
    return this.#requests.read('/cluster', clusterInfoOf, 'it is not in cluster mode');
  }

  collections(): Promise<Answer<readonly string[]>> {
    const names = (json: Json) => {
      const found = listAt(json, 'collections').map((one) => textAt(one, 'name'));
      return found.every((name) => name !== undefined) ? found : undefined;
    };
    return this.#requests.read('/collections', names, 'it does not tell its collections');
  }

  distribution(collection: string): Promise<Answer<Distribution>> {
    const parsed = (json: Json) => distributionOf(collection, json);
    return this.#requests.read(`${pathOf(collection)}/cluster`, parsed, `it does not tell where ${collection} is`);
  }

  factors(collection: string): Promise<Answer<Factors>> {
    return this.#requests.read(pathOf(collection), factorsOf, `it does not tell how ${collection} is replicated`);
  }

  /** The source is dropped at the end. To a peer that holds the shard it would lose a copy, and the server does not object. */
  move({ collection, ...travel }: Travel): Promise<Answer<Json>> {
    return this.#operate(collection, { move_shard: transferOf(travel) });
  }

  replicate({ collection, ...travel }: Travel): Promise<Answer<Json>> {
    return this.#operate(collection, { replicate_shard: transferOf(travel) });
  }

  /** The server only looks whether another copy is called active, which a dead peer's is. */
  drop(collection: string, shard: number, peer: string): Promise<Answer<Json>> {
    return this.#operate(collection, { drop_replica: { shard_id: shard, peer_id: rawId(peer) } });
  }

  /** Never by force: that loses shards without a word, and minutes later if nobody agrees now. */
  removePeer(id: string): Promise<Answer<Json>> {
    return this.#requests.write('DELETE', `/cluster/peer/${id}?force=false&timeout=${this.#requests.agreementSeconds}`);
  }

  #operate(collection: string, operation: object): Promise<Answer<Json>> {
    const path = `${pathOf(collection)}/cluster?timeout=${this.#requests.agreementSeconds}`;
    return this.#requests.write('POST', path, JSON.stringify(operation));
  }
}

const transferOf = ({ shard, from, to }: Omit<Travel, 'collection'>) => ({
  shard_id: shard,
  from_peer_id: rawId(from),
  to_peer_id: rawId(to),
  method: METHOD,
});

function safely(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}
