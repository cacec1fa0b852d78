import { create, defaultsOf, place } from '../creation.ts';
import { isObject, type Json, type JsonObject, objectAt, present, stringAt } from '../json.ts';
import { read } from '../points.ts';
import { isAtLeast } from '../settings.ts';
import {
  type AliasAction,
  apply,
  type Entry,
  formatError,
  isRefusal,
  nameObjection,
  newCollection,
  patchObjection,
  resolve,
} from '../state/index.ts';
import { plain, Refused, refuse, result } from './answer.ts';
import { type Call, del, get, patch, post, put, type Route } from './route.ts';

export const collectionRoutes: readonly Route[] = [
  get('/collections', ({ peer }) => {
    const names = Object.keys(peer.view.collections).toSorted();
    return result({ collections: names.map((name) => ({ name })) });
  }),
  get('/collections/{name}', async (call) => result(await description(call))),
  get('/collections/{name}/exists', (call) =>
    result({ exists: resolve(call.peer.view, call.param('name')) !== undefined }),
  ),
  put('/collections/{name}', async (call) => result(await createCollection(call))),
  patch('/collections/{name}', async (call) => {
    const objection = patchObjection(call.body);
    if (objection) refuse(objection);
    return result(await call.agree({ do: 'update-collection', collection: call.param('name'), patch: call.body }));
  }),
  // An alias does not stand for its collection here.
  del('/collections/{name}', async (call) =>
    result(await call.agree({ do: 'delete-collection', collection: call.param('name') })),
  ),
  put('/collections/{name}/index', async (call) => {
    const schema = indexSchema(call.body['field_schema']);
    const field = stringAt(call.body, 'field_name');
    if (field === undefined) return refuse(formatError('missing field `field_name`'));
    return acknowledged(call, { do: 'put-index', collection: call.collection.name, field, schema });
  }),
  del('/collections/{name}/index/{field}', (call) =>
    acknowledged(call, { do: 'delete-index', collection: call.collection.name, field: call.param('field') }),
  ),
  put('/collections/{name}/vectors/{vector}', (call) => {
    if (!isAtLeast(call.peer.version, '1.18.0')) return plain(404, '', {});
    const kind = isObject(call.body['dense']) ? 'dense' : 'sparse';
    const config = call.body[kind];
    if (!isObject(config)) return refuse(formatError('missing field `dense`'));
    const vector = call.param('vector');
    return acknowledged(call, {
      do: 'put-vector',
      collection: call.collection.name,
      vector,
      kind,
      config: vectorOf(kind, config),
    });
  }),
  del('/collections/{name}/vectors/{vector}', (call) => {
    if (!isAtLeast(call.peer.version, '1.18.0')) return plain(404, '', {});
    return acknowledged(call, { do: 'delete-vector', collection: call.collection.name, vector: call.param('vector') });
  }),
  get('/aliases', ({ peer }) => result({ aliases: aliases(Object.entries(peer.view.aliases)) })),
  get('/collections/{name}/aliases', (call) => {
    const { name } = call.collection;
    // Asked for by an alias, there are none: the list is by the name in the path.
    const own = Object.entries(call.peer.view.aliases).filter(([, to]) => to === name && name === call.param('name'));
    return result({ aliases: aliases(own) });
  }),
  post('/collections/aliases', async (call) => {
    const actions = Array.isArray(call.body['actions']) ? call.body['actions'].map(aliasAction) : [];
    // Not asked beforehand: actions that come before a wrong one are carried out.
    const verdict = await call.peer.propose({ do: 'change-aliases', actions }, call.timeout * 1_000);
    return result(call.valueOf(verdict));
  }),
];

async function createCollection(call: Call): Promise<boolean> {
  const { peer, timeout } = call;
  const name = call.param('name');
  const objection = nameObjection(name);
  if (objection) refuse(objection);
  const asked = newCollection(call.body, defaultsOf(peer));
  if (isRefusal(asked)) return refuse(asked);
  const { config, shardNumber, replicationFactor, isCustomSharded } = asked;
  const placement = isCustomSharded ? [] : place(peer, shardNumber, replicationFactor);
  const entry = { do: 'create-collection', collection: name, config, placement } as const;
  const expected = apply(peer.view, entry);
  if (expected.is === 'refused') refuse(expected.refusal);
  return call.valueOf(await create(peer, entry, timeout * 1_000));
}

async function description({ peer, collection }: Call): Promise<Json> {
  const counted = await read(peer, collection, (points) => [...points.values()]);
  if (counted.is === 'closed') throw new Refused(500, 'Service internal error: 0 of 0 read operations failed');
  if (counted.is === 'failed') throw new Refused(500, counted.error);
  const points = counted.parts.flat();
  const schema = Object.entries(collection.indexes).map(([field, index]) => {
    const having = points.filter(({ payload }) => field in payload).length;
    return [field, { ...index, points: having }] as const;
  });
  return {
    status: 'green',
    optimizer_status: 'ok',
    indexed_vectors_count: 0,
    points_count: points.length,
    segments_count: collection.shards.length,
    config: collection.config,
    payload_schema: Object.fromEntries(schema),
    update_queue: { length: 0 },
  };
}

const INDEX_TYPES: readonly Json[] = ['keyword', 'integer', 'float', 'geo', 'text', 'bool', 'datetime', 'uuid'];

function indexSchema(schema: Json | undefined): JsonObject {
  const type = isObject(schema) ? schema['type'] : schema;
  if (type === undefined || !INDEX_TYPES.includes(type)) {
    return refuse(formatError('data did not match any variant of untagged enum PayloadFieldSchema'));
  }
  return present({ data_type: type, params: isObject(schema) ? schema : undefined });
}

/** Only what a vector has for good is taken; where it is kept and how it is indexed is a patch. */
function vectorOf(
  kind: 'dense' | 'sparse',
  { size, distance, multivector_config, datatype, modifier }: JsonObject,
): JsonObject {
  if (kind === 'dense') return present({ size, distance, multivector_config, datatype });
  return present({ modifier, index: datatype === undefined ? undefined : { datatype } });
}

/** Agreed on by all of them, and answered in the words of points. */
async function acknowledged(call: Call, entry: Entry) {
  await call.agree(entry);
  const status = call.query.get('wait') === 'true' ? 'completed' : 'acknowledged';
  return result({ operation_id: call.peer.node.record.applied.index, status });
}

const aliases = (entries: readonly (readonly [string, string])[]): Json =>
  entries.map(([alias_name, collection_name]) => ({ alias_name, collection_name }));

function aliasAction(action: Json): AliasAction {
  if (isObject(action)) {
    const made = objectAt(action, 'create_alias');
    const [alias, collection] = [stringAt(made, 'alias_name'), stringAt(made, 'collection_name')];
    if (alias !== undefined && collection !== undefined) return { is: 'create', alias, collection };
    const deleted = stringAt(objectAt(action, 'delete_alias'), 'alias_name');
    if (deleted !== undefined) return { is: 'delete', alias: deleted };
    const renamed = objectAt(action, 'rename_alias');
    const [old, to] = [stringAt(renamed, 'old_alias_name'), stringAt(renamed, 'new_alias_name')];
    if (old !== undefined && to !== undefined) return { is: 'rename', alias: old, to };
  }
  return refuse(formatError('data did not match any variant of untagged enum AliasOperations'));
}
