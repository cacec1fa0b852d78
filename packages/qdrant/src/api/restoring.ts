import type { Answer, Stream } from './answer.ts';
import { isObject, type Json, type JsonObject, listAt, numberAt, objectAt, parseVerbatim, textAt } from './json.ts';
import { type Door, type PeerClientOptions, pathOf, Requests } from './requests.ts';

export interface SnapshotUpload {
  readonly collection: string;
  /** The shard that the file is of; none: it is of a peer, with all the shards that it had. */
  readonly shard: number | undefined;
  readonly sha256: string;
  readonly file: Stream;
}

/** What can't be changed about a collection once it is there. */
export interface CollectionShape {
  readonly vectors: JsonObject;
  readonly sparseVectors: JsonObject;
  readonly shardNumber: number;
  readonly isCustomSharded: boolean;
}

/** Some points of a collection in the order of their ids, with all that they have, each number as the server spelled it. */
export interface Page {
  readonly points: readonly Json[];
  /** The id at which the next page begins, as JSON; none after the last. */
  readonly next: string | undefined;
}

/** As long as a large file takes over a slow line. A peer that is gone is noticed by its connection. */
const UPLOAD_MS = 3_600_000;

/** Asks one peer for what it takes to restore a collection. */
export class RestoreClient {
  readonly #requests: Requests;

  constructor(door: Door, options: PeerClientOptions, signal: AbortSignal) {
    this.#requests = new Requests(door, options, signal);
  }

  /**
   * Makes what is in a file the content of a shard of this peer. The file counts: other copies are marked dead and filled from
   * this one. (That the copies count would stop consensus on all peers, if it is said of a whole collection; that nobody is
   * told leaves active copies that differ.) What does not have the checksum is refused before anything is changed.
   */
  upload({ collection, shard, sha256, file }: SnapshotUpload): Promise<Answer<Json>> {
    const folder = shard === undefined ? pathOf(collection) : `${pathOf(collection)}/shards/${shard}`;
    const path = `${folder}/snapshots/upload?wait=true&priority=snapshot&checksum=${sha256}`;
    // Nobody can have put it into a file that has this checksum.
    const boundary = `snapshot-${sha256}`;
    const contentType = `multipart/form-data; boundary=${boundary}`;
    const body = inForm(file, boundary);
    return this.#requests.ask({ method: 'POST', path, body, contentType, isWrite: true, timeoutMs: UPLOAD_MS });
  }

  shapeOf(collection: string): Promise<Answer<CollectionShape>> {
    const shape = (json: Json) => {
      const { params } = objectAt(json, 'config');
      if (!isObject(params)) return undefined;
      return {
        vectors: objectAt(params, 'vectors'),
        sparseVectors: objectAt(params, 'sparse_vectors'),
        shardNumber: numberAt(params, 'shard_number') ?? 1,
        isCustomSharded: textAt(params, 'sharding_method') === 'custom',
      };
    };
    return this.#requests.read(pathOf(collection), shape, `it does not tell what ${collection} is like`);
  }

  create(collection: string, config: object): Promise<Answer<Json>> {
    return this.#requests.write('PUT', pathOf(collection), JSON.stringify(config));
  }

  createShardKey(
    collection: string,
    { key, shards, copies }: { readonly key: string | number; readonly shards: number; readonly copies: number },
  ): Promise<Answer<Json>> {
    const asked = { shard_key: key, shards_number: shards, replication_factor: copies };
    return this.#requests.write(
      'POST',
      `${pathOf(collection)}/cluster`,
      JSON.stringify({ create_sharding_key: asked }),
    );
  }

  remove(collection: string): Promise<Answer<Json>> {
    return this.#requests.write('DELETE', pathOf(collection));
  }

  /** Which collection each alias stands for. */
  aliases(): Promise<Answer<ReadonlyMap<string, string>>> {
    const pairs = (json: Json) =>
      new Map(
        listAt(json, 'aliases').map((one) => [textAt(one, 'alias_name') ?? '', textAt(one, 'collection_name') ?? '']),
      );
    return this.#requests.read('/aliases', pairs, 'it does not tell its aliases');
  }

  /** An alias of another collection would be taken away from it. */
  createAliases(collection: string, aliases: readonly string[]): Promise<Answer<Json>> {
    const actions = aliases.map((alias) => ({ create_alias: { collection_name: collection, alias_name: alias } }));
    return this.#requests.write('POST', '/collections/aliases', JSON.stringify({ actions }));
  }

  /** `from`: as the page before said. */
  async scroll(collection: string, limit: number, from: string | undefined): Promise<Answer<Page>> {
    const asked = { limit, with_payload: true, with_vector: true };
    const answer = await this.#requests.ask({
      method: 'POST',
      path: `${pathOf(collection)}/points/scroll`,
      body: JSON.stringify({ ...asked, ...(from !== undefined && { offset: JSON.rawJSON(from) }) }),
      isWrite: false,
      parse: parseVerbatim,
    });
    return answer.is === 'ok' ? { is: 'ok', value: pageOf(answer.value) } : answer;
  }

  /** Points of the same id are overwritten. Waits until the shards have them. */
  upsert(collection: string, points: readonly Json[]): Promise<Answer<Json>> {
    return this.#requests.write('PUT', `${pathOf(collection)}/points?wait=true`, JSON.stringify({ points }));
  }
}

function inForm(file: Stream, boundary: string): Stream {
  const disposition = 'content-disposition: form-data; name="snapshot"; filename="snapshot"';
  const head = Buffer.from(`--${boundary}\r\n${disposition}\r\ncontent-type: application/octet-stream\r\n\r\n`);
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  return {
    bytes: head.length + file.bytes + tail.length,
    async *read() {
      yield head;
      yield* file.read();
      yield tail;
    },
  };
}

function pageOf(json: Json): Page {
  const next = isObject(json) ? json['next_page_offset'] : null;
  const points = listAt(json, 'points').filter((point) => isObject(point));
  return {
    // Whatever else the server tells of a point is not what one is made of.
    points: points.map(({ id = null, vector = null, payload = null }) => ({ id, vector, payload })),
    next: next === null || next === undefined ? undefined : JSON.stringify(next),
  };
}
