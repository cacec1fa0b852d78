import { keyOf, type Point, type PointId } from '../disk.ts';
import { arrayAt, isObject, type Json, type JsonObject, numberAt, objectAt, present, printJson } from '../json.ts';
import { isPointId } from '../point-json.ts';
import { read, remove, upsert, type Written } from '../points.ts';
import { formatError, type ShardKey } from '../state/index.ts';
import { type Answer, Refused, refuse, result } from './answer.ts';
import { type Call, get, post, put, query, type Route } from './route.ts';

/** As much of points as it takes to tell whether they are still there. There is no search. */
export const pointRoutes: readonly Route[] = [
  put('/collections/{name}/points', async (call) => {
    const { peer, collection } = call;
    const points = pointsOf(call.body);
    for (const point of points) checkSize(call, point);
    return answer(call, await upsert(peer, collection, points, shardKey(call), isWaitedFor(call)));
  }),
  post('/collections/{name}/points/delete', async (call) => {
    const { peer, collection } = call;
    const ids = arrayAt(call.body, 'points').map(idOf);
    return answer(call, await remove(peer, collection, ids, shardKey(call), isWaitedFor(call)));
  }),
  query('/collections/{name}/points/count', async (call) => {
    refuseFilter(call);
    const found = await all(call);
    return found ? result({ count: found.length }) : { is: 'closed' };
  }),
  query('/collections/{name}/points/scroll', async (call) => {
    refuseFilter(call);
    const found = await all(call);
    return found ? result(page(found, call.body)) : { is: 'closed' };
  }),
  query('/collections/{name}/points', async (call) => {
    const wanted = new Set(arrayAt(call.body, 'ids').map((id) => keyOf(idOf(id))));
    const found = await all(call);
    if (!found) return { is: 'closed' };
    return result(found.filter(({ id }) => wanted.has(keyOf(id))).map((point) => printed(point, call.body)));
  }),
  get('/collections/{name}/points/{id}', async (call) => {
    const found = await all(call);
    if (!found) return { is: 'closed' };
    const text = call.param('id');
    const point = found.find(({ id }) => String(id) === text);
    if (!point) throw new Refused(404, `Not found: Point with id ${text} does not exists!`);
    return result(printed(point, { with_vector: true }));
  }),
];

/** Points are not waited for unless that is asked for; both are a 200. */
const isWaitedFor = ({ query }: Call) => query.get('wait') === 'true';

function answer(call: Call, written: Written): Answer {
  if (written.is === 'failed') throw new Refused(500, written.error);
  const status = isWaitedFor(call) ? 'completed' : 'acknowledged';
  return result({ operation_id: call.peer.node.record.applied.index, status });
}

async function all({ peer, collection }: Call): Promise<readonly Point[] | undefined> {
  const found = await read(peer, collection, (points) => [...points.values()]);
  if (found.is === 'closed') return undefined;
  if (found.is === 'failed') throw new Refused(500, found.error);
  return found.parts.flat();
}

function page(points: readonly Point[], body: JsonObject): Json {
  const sorted = points.toSorted((a, b) => compare(a.id, b.id));
  const { offset = null } = body;
  const from = offset === null ? 0 : sorted.findIndex(({ id }) => compare(id, idOf(offset)) >= 0);
  const limit = numberAt(body, 'limit') ?? 10;
  const rest = from < 0 ? [] : sorted.slice(from);
  return {
    points: rest.slice(0, limit).map((point) => printed(point, body)),
    next_page_offset: rest[limit]?.id ?? null,
  };
}

/** Numbers by their size, then the others. */
function compare(a: PointId, b: PointId): number {
  if (typeof a === 'string' || typeof b === 'string') {
    if (typeof a !== typeof b) return typeof a === 'string' ? 1 : -1;
    return String(a) < String(b) ? -1 : Number(String(a) > String(b));
  }
  return a < b ? -1 : Number(a > b);
}

const printed = ({ id, payload, vector }: Point, asked: JsonObject): Json =>
  present({
    id,
    payload: asked['with_payload'] === false ? undefined : payload,
    vector: asked['with_vector'] === true ? vector : undefined,
  });

function pointsOf(body: JsonObject): readonly Point[] {
  const batch = body['batch'];
  if (isObject(batch)) {
    const [vectors, payloads] = [arrayAt(batch, 'vectors'), arrayAt(batch, 'payloads')];
    return arrayAt(batch, 'ids').map((id, at) => {
      const payload = payloads[at];
      return { id: idOf(id), vector: vectors[at] ?? null, payload: isObject(payload) ? payload : {} };
    });
  }
  if (!Array.isArray(body['points']))
    return refuse(formatError('data did not match any variant of untagged enum PointInsertOperations'));
  return arrayAt(body, 'points').map((one) => {
    if (!isObject(one)) return refuse(formatError('expected struct PointStruct'));
    return { id: idOf(one['id'] ?? null), vector: one['vector'] ?? null, payload: objectAt(one, 'payload') };
  });
}

const idOf = (id: Json): PointId =>
  isPointId(id)
    ? id
    : refuse(
        formatError(
          `value ${printJson(id)} is not a valid point ID, valid values are either an unsigned integer or a UUID`,
        ),
      );

function checkSize({ collection }: Call, { vector }: Point): void {
  const size = numberAt(objectAt(objectAt(collection.config, 'params'), 'vectors'), 'size');
  if (size === undefined || !Array.isArray(vector) || vector.length === size) return;
  throw new Refused(400, `Wrong input: Vector dimension error: expected dim: ${size}, got ${vector.length}`);
}

function shardKey({ collection, body }: Call): ShardKey | undefined {
  const isCustom = objectAt(collection.config, 'params')['sharding_method'] === 'custom';
  const { shard_key: asked } = body;
  const key = Array.isArray(asked) ? asked[0] : asked;
  if (!isCustom) return undefined;
  if (typeof key !== 'string' && typeof key !== 'number')
    throw new Refused(400, 'Wrong input: Shard key not specified');
  if (!collection.shards.some((shard) => shard.key === key)) {
    throw new Refused(404, `Not found: Shard key ${key} not found`);
  }
  return key;
}

/** An answer that ignores a filter would be a wrong one. */
function refuseFilter({ body }: Call): void {
  if (body['filter'] !== undefined) throw new Refused(400, 'Bad request: this stand-in does not filter points');
}
