import type { Answer } from './answer.ts';
import { type Distribution, distributionOf } from './cluster-info.ts';
import { idAt, isObject, type Json, type JsonObject, listAt, numberAt, objectAt, textAt } from './json.ts';
import { type Door, type PeerClientOptions, pathOf, Requests } from './requests.ts';

/** A collection as a peer tells of it. */
export interface CollectionInfo {
  /** `green`, `yellow` while it is being optimized, `grey` if that waits for a write, `red` if it failed. */
  readonly color: string;
  /** What its optimizer failed with. */
  readonly trouble: string | undefined;
  readonly pointsCount: number;
  /** In the words of the server, with everything filled in that nobody said. */
  readonly config: JsonObject;
  /** The types of its payload indexes, by their fields. */
  readonly indexes: ReadonlyMap<string, string>;
}

/** Where the shards of a collection are, and under which keys. */
export interface Placement extends Distribution {
  readonly shardKeys: readonly string[];
}

export type AliasAction =
  | { readonly is: 'create'; readonly alias: string; readonly collection: string }
  | { readonly is: 'delete'; readonly alias: string };

/**
 * A new replica on a peer that is away or hung is waited for by the server before it answers: 11 to 20 s were seen. Who gives
 * up sooner takes what was done for what was not.
 */
const CREATION_SECONDS = 30;
const CREATION_MS = 45_000;

/** What the operator asks one peer about collections, and has it propose to the others. */
export class CollectionsClient {
  readonly #requests: Requests;
  readonly #creationMs: number;

  constructor(door: Door, options: PeerClientOptions, signal: AbortSignal) {
    this.#requests = new Requests(door, options, signal);
    this.#creationMs = Math.max(CREATION_MS, options.writeTimeoutMs);
  }

  /** Asked by an alias, it tells of the collection behind it. */
  collection(name: string): Promise<Answer<CollectionInfo>> {
    return this.#requests.read(pathOf(name), collectionInfoOf, `it does not tell how ${name} is`);
  }

  placement(name: string): Promise<Answer<Placement>> {
    const parsed = (json: Json) => placementOf(name, json);
    return this.#requests.read(`${pathOf(name)}/cluster`, parsed, `it does not tell where ${name} is`);
  }

  /** Those of all collections: what they point to, by their names. */
  aliases(): Promise<Answer<ReadonlyMap<string, string>>> {
    return this.#requests.read('/aliases', aliasesOf, 'it does not tell its aliases');
  }

  create(name: string, body: JsonObject): Promise<Answer<Json>> {
    const path = `${pathOf(name)}?timeout=${CREATION_SECONDS}`;
    return this.#requests.write('PUT', path, JSON.stringify(body), this.#creationMs);
  }

  update(name: string, patch: JsonObject): Promise<Answer<Json>> {
    return this.#requests.write('PATCH', this.#agreed(pathOf(name)), JSON.stringify(patch));
  }

  /** As soon as it is answered, it is there: the next question is not to find it missing. */
  createVector(name: string, vector: string, config: JsonObject): Promise<Answer<Json>> {
    const path = `${this.#agreed(`${pathOf(name)}/vectors/${encodeURIComponent(vector)}`)}&wait=true`;
    return this.#requests.write('PUT', path, JSON.stringify(config));
  }

  /** True or false say nothing: another peer may have been first, and an alias of that name is left as it is. */
  delete(name: string): Promise<Answer<Json>> {
    return this.#requests.write('DELETE', this.#agreed(pathOf(name)));
  }

  createShardKey(name: string, key: { readonly name: string; readonly shards: number; readonly copies: number }) {
    const asked = { shard_key: key.name, shards_number: key.shards, replication_factor: key.copies };
    const path = `${pathOf(name)}/cluster?timeout=${CREATION_SECONDS}`;
    return this.#requests.write('POST', path, JSON.stringify({ create_sharding_key: asked }), this.#creationMs);
  }

  /** Begun, not finished: an index over many points takes its time. */
  createIndex(name: string, field: string, type: string): Promise<Answer<Json>> {
    const body = JSON.stringify({ field_name: field, field_schema: type });
    return this.#requests.write('PUT', this.#agreed(`${pathOf(name)}/index`), body);
  }

  deleteIndex(name: string, field: string): Promise<Answer<Json>> {
    return this.#requests.write('DELETE', this.#agreed(`${pathOf(name)}/index/${encodeURIComponent(field)}`));
  }

  /** One after the other: an error leaves those before it in force. To create one that is there moves it. */
  changeAliases(actions: readonly AliasAction[]): Promise<Answer<Json>> {
    const body = JSON.stringify({ actions: actions.map(actionOf) });
    return this.#requests.write('POST', this.#agreed('/collections/aliases'), body);
  }

  #agreed(path: string): string {
    return `${path}?timeout=${this.#requests.agreementSeconds}`;
  }
}

const actionOf = (action: AliasAction) =>
  action.is === 'create'
    ? { create_alias: { alias_name: action.alias, collection_name: action.collection } }
    : { delete_alias: { alias_name: action.alias } };

function collectionInfoOf(json: Json): CollectionInfo | undefined {
  const [color, config] = [textAt(json, 'status'), objectAt(json, 'config')];
  // Without its configuration everything would be taken for missing.
  if (color === undefined || !isObject(config['params'])) return undefined;
  const indexes = Object.entries(objectAt(json, 'payload_schema')).map(
    ([field, about]) => [field, textAt(about, 'data_type') ?? ''] as const,
  );
  return {
    color,
    trouble: textAt(objectAt(json, 'optimizer_status'), 'error'),
    pointsCount: numberAt(json, 'points_count') ?? 0,
    config,
    indexes: new Map(indexes),
  };
}

function placementOf(name: string, json: Json): Placement | undefined {
  const distribution = distributionOf(name, json);
  const shards = [...listAt(json, 'local_shards'), ...listAt(json, 'remote_shards')];
  const keys = shards.flatMap((shard) => idAt(shard, 'shard_key') ?? []);
  return distribution && { ...distribution, shardKeys: [...new Set(keys)] };
}

function aliasesOf(json: Json): ReadonlyMap<string, string> | undefined {
  const found = listAt(json, 'aliases').map(
    (one) => [textAt(one, 'alias_name'), textAt(one, 'collection_name')] as const,
  );
  const isWhole = (one: (typeof found)[number]): one is readonly [string, string] =>
    one[0] !== undefined && one[1] !== undefined;
  return found.every(isWhole) ? new Map(found) : undefined;
}
