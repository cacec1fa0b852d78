import type { SnapshotFile } from '../disk.ts';
import { type Json, type JsonObject, stringAt } from '../json.ts';
import { shardName } from '../peer/index.ts';
import {
  checksumOf,
  collectionSnapshot,
  PRIORITIES,
  type Priority,
  restoreCollection,
  restoreShard,
  shardSnapshot,
  stampOf,
} from '../snapshots.ts';
import { formatError, nameObjection, type Refusal } from '../state/index.ts';
import { type Answer, plain, Refused, refuse, result } from './answer.ts';
import { fieldOf } from './multipart.ts';
import { type Call, del, get, order, put, type Route } from './route.ts';

const COLLECTION = '/collections/{name}/snapshots';
const SHARD = '/collections/{name}/shards/{shard}/snapshots';

/** Snapshots live on the peer that made them; no other knows of them. */
export const snapshotRoutes: readonly Route[] = [
  order(COLLECTION, (call) => {
    const { peer, collection } = call;
    const name = `${collection.name}-${peer.id}-${stampOf(peer.clock.now())}.snapshot`;
    return created(call, folderOf(call), name, collectionSnapshot(peer, collection));
  }),
  get(COLLECTION, (call) => listed(call, `${call.collection.name}/`)),
  get(`${COLLECTION}/{file}`, (call) => downloaded(call, folderOf(call))),
  del(`${COLLECTION}/{file}`, (call) => deleted(call, folderOf(call))),
  order(`${COLLECTION}/upload`, (call) =>
    uploaded(call, (bytes, priority) => intoCollection(call, bytes, priority), true),
  ),
  put(`${COLLECTION}/recover`, (call) =>
    recovered(call, (bytes, priority) => intoCollection(call, bytes, priority), true),
  ),

  order(SHARD, (call) => {
    const { peer, collection } = call;
    const shard = localShard(call, 'Wrong input: Shard {} is not a local or queue proxy shard');
    const name = `${collection.name}-shard-${shard}-${stampOf(peer.clock.now())}.snapshot`;
    return created(call, folderOf(call), name, shardSnapshot(peer, collection, shard));
  }),
  get(SHARD, (call) => {
    localShard(call, 'Wrong input: Shard {} is not a local shard');
    return listed(call, folderOf(call));
  }),
  get(`${SHARD}/{file}`, (call) => downloaded(call, folderOf(call))),
  del(`${SHARD}/{file}`, (call) => deleted(call, folderOf(call))),
  order(`${SHARD}/upload`, (call) => uploaded(call, (bytes, priority) => intoShard(call, bytes, priority), null)),
  put(`${SHARD}/recover`, (call) => recovered(call, (bytes, priority) => intoShard(call, bytes, priority), true)),
  // Nothing is stored: no length, no checksum.
  get('/collections/{name}/shards/{shard}/snapshot', (call) => {
    const shard = localShard(call, 'Wrong input: Shard {} is not a local shard');
    const { bytes } = shardSnapshot(call.peer, call.collection, shard);
    return plain(200, bytes, { 'content-type': 'application/octet-stream', 'transfer-encoding': 'chunked' });
  }),

  order('/snapshots', (call) => {
    const { peer } = call;
    const name = `full-snapshot-${stampOf(peer.clock.now())}.snapshot`;
    const bytes = Buffer.from(Object.keys(peer.view.collections).join('\n'));
    return created(call, 'full/', name, { bytes, createdAt: peer.clock.now(), checksum: checksumOf(bytes) });
  }),
  get('/snapshots', (call) => listed(call, 'full/')),
];

/** Where the files of a collection are, or of one of its shards. */
function folderOf(call: Call): string {
  const shard = call.param('shard');
  return shard === '' ? `${call.collection.name}/` : `${call.collection.name}/shards/${shard}/`;
}

function shardIn(call: Call): number {
  const shard = Number(call.param('shard'));
  if (!call.collection.shards.some(({ id }) => id === shard))
    throw new Refused(404, `Not found: shard ${shard} not found`);
  return shard;
}

function localShard(call: Call, otherwise: string): number {
  const shard = shardIn(call);
  if (call.peer.disk.points(shardName(call.collection, shard))) return shard;
  throw new Refused(400, otherwise.replace('{}', String(shard)));
}

function created({ peer, waits }: Call, folder: string, name: string, file: SnapshotFile): Answer {
  if (peer.faults.isDiskFull) throw new Refused(500, 'Service internal error: No space left on device (os error 28)');
  peer.disk.putSnapshot(folder + name, file);
  return waits ? result(described(name, file)) : { is: 'accepted' };
}

const described = (name: string, { bytes, createdAt, checksum }: SnapshotFile): JsonObject => ({
  name,
  creation_time: new Date(createdAt).toISOString().slice(0, 19),
  size: bytes.length,
  checksum,
});

function listed({ peer }: Call, folder: string): Answer {
  const files = [...peer.disk.snapshots].flatMap(([path, file]): readonly Json[] => {
    const name = path.startsWith(folder) ? path.slice(folder.length) : '/';
    return name.includes('/') ? [] : [described(name, file)];
  });
  return result(files);
}

function downloaded(call: Call, folder: string): Answer {
  const name = call.param('file');
  const file = call.peer.disk.snapshots.get(folder + name);
  if (!file) return plain(404, `Not found: Snapshot ${name} not found`);
  return plain(200, file.bytes, {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename="${name}"`,
    'content-length': String(file.bytes.length),
    etag: `"${file.checksum.slice(0, 16)}"`,
  });
}

function deleted(call: Call, folder: string): Answer {
  const name = call.param('file');
  if (!call.peer.disk.snapshots.has(folder + name)) throw new Refused(404, `Not found: Snapshot ${name} not found`);
  call.peer.disk.deleteSnapshot(folder + name);
  return result(true);
}

type Restore = (bytes: Uint8Array, priority: Priority) => Promise<Refusal | undefined>;

function intoCollection(call: Call, bytes: Uint8Array, priority: Priority): Promise<Refusal | undefined> {
  const name = call.param('name');
  const objection = nameObjection(name);
  if (objection) refuse(objection);
  return restoreCollection(call.peer, name, bytes, priority);
}

const intoShard = (call: Call, bytes: Uint8Array, priority: Priority) =>
  restoreShard(call.peer, call.collection, shardIn(call), bytes, priority);

async function restored({ waits }: Call, work: Promise<Refusal | undefined>, value: Json): Promise<Answer> {
  if (!waits) {
    void work;
    return { is: 'accepted' };
  }
  const refusal = await work;
  if (refusal) refuse(refusal);
  return result(value);
}

function uploaded(call: Call, restore: Restore, value: Json): Promise<Answer> | Answer {
  const { request, query } = call;
  const priority = priorityOf(query.get('priority'));
  const bytes = fieldOf(request.body, request.headers['content-type'] ?? '', 'snapshot');
  if (!bytes) return plain(400, 'Required field is missing: snapshot');
  const [supplied, computed] = [query.get('checksum'), checksumOf(bytes)];
  // The words are the wrong way round, as on the real server: "expected" is what the file has.
  if (supplied !== null && supplied !== computed) {
    throw new Refused(400, `Checksum mismatch: expected ${computed}, actual ${supplied}`);
  }
  return restored(call, restore(bytes, priority), value);
}

async function recovered(call: Call, restore: Restore, value: Json): Promise<Answer> {
  const { body } = call;
  const location = stringAt(body, 'location');
  if (location === undefined) return refuse(formatError('missing field `location`'));
  const priority = priorityOf(stringAt(body, 'priority') ?? null);
  const bytes = await located(call, location, stringAt(body, 'api_key'));
  const [supplied, computed] = [stringAt(body, 'checksum'), checksumOf(bytes)];
  if (supplied !== undefined && supplied !== computed) {
    throw new Refused(400, `Wrong input: Snapshot checksum mismatch: expected ${supplied}, got ${computed}`);
  }
  return restored(call, restore(bytes, priority), value);
}

const SNAPSHOTS = '/qdrant/snapshots/';

/** A file of this peer, or what another one or anybody else serves. */
async function located({ peer }: Call, location: string, key: string | undefined): Promise<Uint8Array> {
  const url = URL.parse(location);
  if (url?.protocol === 'file:') {
    const path = decodeURIComponent(url.pathname);
    const file = peer.disk.snapshots.get(path.replace(SNAPSHOTS, ''));
    return file?.bytes ?? refuse({ status: 400, error: `Bad request: Snapshot file "${path}" does not exist` });
  }
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    const scheme = url?.protocol.replace(':', '') ?? location;
    return refuse({
      status: 400,
      error: `Wrong input: Cannot recover from ${location}: scheme ${scheme} is not supported`,
    });
  }
  const headers: Record<string, string> = key === undefined ? {} : { 'api-key': key };
  const isPeer = peer.cluster.peers.some(({ host }) => host === url.hostname);
  const path = url.pathname + url.search;
  const answer = isPeer
    ? await peer.cluster.request(url.hostname, { method: 'GET', path, headers, body: new Uint8Array() })
    : await peer.cluster.download(location, headers);
  if (answer.status === 200) return 'body' in answer ? answer.body : answer.bytes;
  const status = answer.status === 404 ? '404 Not Found' : String(answer.status);
  return refuse({ status: 400, error: `Wrong input: Failed to download tar from ${location}: status - ${status}` });
}

function priorityOf(asked: string | null): Priority {
  if (asked === null) return 'snapshot';
  const known = PRIORITIES.find((one) => one === asked);
  const expected = PRIORITIES.map((one) => `\`${one}\``).join(', ');
  return (
    known ??
    refuse({
      status: 400,
      error: `Deserialize error in query parameters: unknown variant \`${asked}\`, expected one of ${expected}`,
    })
  );
}
