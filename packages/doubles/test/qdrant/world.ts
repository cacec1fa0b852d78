import { VirtualClock } from '@polder/kube/clock';
import { Cluster, Disk, type Peer, type PeerSettings, type Start } from '../../qdrant/src/index.ts';
import { isObject, type Json, type JsonObject, parseJson, printJson } from '../../qdrant/src/json.ts';
import { shardName } from '../../qdrant/src/peer/index.ts';

export interface Asked {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The whole body. */
  readonly json: Json;
  /** `result` of the body. */
  readonly result: Json;
  readonly error: string | undefined;
}

export interface Question {
  readonly body?: Json;
  /** Instead of a body of JSON. */
  readonly bytes?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Peers `p0`, `p1` …, in virtual time: whatever is awaited here moves the clock on until it is there. */
export class World {
  readonly clock = new VirtualClock();
  readonly cluster: Cluster;
  readonly #disks = new Map<number, Disk>();
  readonly #openDisk: (at: number) => Disk;

  constructor(seed = 1, openDisk: (at: number) => Disk = () => new Disk()) {
    this.#openDisk = openDisk;
    this.cluster = new Cluster({ clock: this.clock, random: randomOf(seed) });
  }

  /** That many members, all of them ready and led. */
  static async of(peers: number, seed = 1): Promise<World> {
    const world = new World(seed);
    for (let at = 0; at < peers; at++) await world.start(at);
    await world.rest();
    return world;
  }

  uri(at: number): string {
    return `http://p${at}:6335`;
  }

  disk(at: number): Disk {
    const disk = this.#disks.get(at) ?? this.#openDisk(at);
    this.#disks.set(at, disk);
    return disk;
  }

  /** Its volume is gone; the next start finds an empty one. */
  loseVolume(at: number): void {
    this.#disks.delete(at);
  }

  start(at: number, settings: Partial<PeerSettings> = {}): Promise<Start> {
    const bootstrap = at === 0 ? {} : { bootstrap: this.uri(0) };
    return this.run(this.cluster.start({ uri: this.uri(at), ...bootstrap, ...settings }, this.disk(at)));
  }

  /** Starts several at the same time. */
  startAll(...peers: readonly number[]): Promise<readonly Start[]> {
    const starts = peers.map((at) => this.cluster.start({ uri: this.uri(at) }, this.disk(at)));
    return this.run(Promise.all(starts));
  }

  kill(at: number): void {
    this.cluster.peerAt(this.uri(at))?.stop();
  }

  async restart(at: number, settings: Partial<PeerSettings> = {}): Promise<Start> {
    this.kill(at);
    return this.start(at, settings);
  }

  peer(at: number): Peer {
    const peer = this.cluster.peerAt(this.uri(at));
    if (!peer) throw new Error(`p${at} does not run`);
    return peer;
  }

  id(at: number): string {
    const id = this.disk(at).peer;
    if (id === undefined) throw new Error(`p${at} never ran`);
    return id;
  }

  async run<T>(work: Promise<T>, limitMs = 120_000): Promise<T> {
    let isOver = false;
    const noted = work.finally(() => (isOver = true));
    noted.catch(() => {});
    if (!(await this.clock.runUntil(() => isOver, limitMs))) throw new Error(`it took longer than ${limitMs} ms`);
    return noted;
  }

  /** Lets everything that is under way come to its end. */
  rest(ms = 10_000): Promise<void> {
    return this.clock.advance(ms);
  }

  async until(isSo: () => boolean, limitMs = 60_000): Promise<void> {
    if (!(await this.clock.runUntil(isSo, limitMs))) throw new Error(`it was not so after ${limitMs} ms`);
  }

  ask(at: number, method: string, path: string, question: Question = {}): Promise<Asked> {
    return this.run(this.asking(at, method, path, question));
  }

  /** The same, while time stands still until somebody moves it. */
  async asking(at: number, method: string, path: string, { body, bytes, headers = {} }: Question = {}): Promise<Asked> {
    const text = body === undefined ? '' : printJson(body);
    const response = await this.cluster.request(`p${at}`, {
      method,
      path,
      headers,
      body: bytes ?? Buffer.from(text),
    });
    return askedOf(response.status, response.headers, Buffer.from(response.body).toString('utf8'));
  }

  /** Asks for what must not fail. */
  async get(at: number, path: string): Promise<JsonObject> {
    const { result, text } = await this.ask(at, 'GET', path);
    if (!isObject(result)) throw new Error(`GET ${path} at p${at}: ${text}`);
    return result;
  }

  create(at: number, name: string, more: JsonObject = {}): Promise<Asked> {
    return this.ask(at, 'PUT', `/collections/${name}`, { body: { vectors: { size: 4, distance: 'Dot' }, ...more } });
  }

  operate(at: number, collection: string, body: JsonObject, timeout = 10): Promise<Asked> {
    return this.ask(at, 'POST', `/collections/${collection}/cluster?timeout=${timeout}`, { body });
  }

  /** Points with these numbers, each with its number as its payload. */
  upsert(at: number, collection: string, numbers: readonly number[], wait = true): Promise<Asked> {
    const points = numbers.map((id) => ({ id, vector: [id, 0, 0, 1], payload: { number: id } }));
    return this.ask(at, 'PUT', `/collections/${collection}/points?wait=${wait}`, { body: { points } });
  }

  async numbers(at: number, collection: string): Promise<readonly Json[]> {
    const { result, text } = await this.ask(at, 'POST', `/collections/${collection}/points/scroll`, {
      body: { limit: 10_000 },
    });
    if (!isObject(result) || !Array.isArray(result['points'])) throw new Error(`scroll at p${at}: ${text}`);
    return result['points'].map((point) =>
      isObject(point) && isObject(point['payload']) ? (point['payload']['number'] ?? null) : null,
    );
  }

  /** Who holds a shard and in which state, as a peer sees it: `{ p0: 'Active' }`. */
  replicas(at: number, collection: string, shard: number): Readonly<Record<string, string>> {
    const replicas = this.peer(at).view.collections[collection]?.shards.find(({ id }) => id === shard)?.replicas ?? {};
    return Object.fromEntries(Object.entries(replicas).map(([id, state]) => [this.nameOf(id), state]));
  }

  /** The numbers of the points that a peer has of a shard, on its disk. */
  points(at: number, collection: string, shard: number): readonly number[] {
    return [...(this.#pointsOf(at, collection, shard)?.values() ?? [])].map(({ id }) => Number(id));
  }

  /** How many they are; undefined if the peer has no such shard. */
  held(at: number, collection: string, shard: number): number | undefined {
    return this.#pointsOf(at, collection, shard)?.size;
  }

  #pointsOf(at: number, collection: string, shard: number) {
    const known = this.cluster.peers.map(({ view }) => view.collections[collection]).find((one) => one !== undefined);
    return known && this.disk(at).points(shardName(known, shard));
  }

  /** The peers that hold a shard, by their numbers. */
  holders(at: number, collection: string, shard: number): readonly number[] {
    return Object.keys(this.replicas(at, collection, shard)).map((name) => Number(name.slice(1)));
  }

  /** Every replica of every collection is active, and nothing is under way, as each of these peers sees it. */
  isHealed(...peers: readonly number[]): boolean {
    return peers.every((at) =>
      Object.values(this.peer(at).view.collections).every(
        ({ shards, transfers }) =>
          transfers.length === 0 &&
          shards.every(({ replicas }) => Object.values(replicas).every((state) => state === 'Active')),
      ),
    );
  }

  nameOf(id: string): string {
    const at = [...this.#disks].find(([, disk]) => disk.peer === id)?.[0];
    return at === undefined ? id : `p${at}`;
  }
}

function askedOf(status: number, headers: Readonly<Record<string, string>>, text: string): Asked {
  const json = headers['content-type'] === 'application/json' ? parseJson(text) : null;
  const envelope = isObject(json) ? json : {};
  const { status: outcome = null, result = null } = envelope;
  const error = isObject(outcome) && typeof outcome['error'] === 'string' ? outcome['error'] : undefined;
  return { status, headers, text, json, result, error };
}

/** Numbers that look random and are the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const numbersTo = (last: number): number[] => Array.from({ length: last }, (_, at) => at + 1);
