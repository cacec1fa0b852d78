import { type JsonObject, objectAt } from '../json.ts';
import { withCollection } from './apply-to-shard.ts';
import { type ClusterState, type Collection, resolve, without } from './cluster-state.ts';
import { patched } from './collection-config.ts';
import { type AliasAction, type Applied, type CollectionEntry, done, noCollection, refused } from './entry.ts';

type Of<Name extends CollectionEntry['do']> = Extract<CollectionEntry, { do: Name }>;

export function applyToCollection(state: ClusterState, entry: CollectionEntry): Applied {
  if (entry.do === 'create-collection') return create(state, entry);
  if (entry.do === 'delete-collection') return remove(state, entry.collection);
  if (entry.do === 'change-aliases') return changeAliases(state, entry.actions);
  const collection = resolve(state, entry.collection);
  if (!collection) return noCollection(state, entry.collection);
  switch (entry.do) {
    case 'update-collection': {
      const config = patched(collection.config, entry.patch);
      if ('error' in config) return refused(state, 400, config.error);
      return done(withCollection(state, { ...collection, config: config.config }));
    }
    case 'put-index': {
      const indexes = { ...collection.indexes, [entry.field]: entry.schema };
      return done(withCollection(state, { ...collection, indexes }));
    }
    case 'delete-index': {
      const indexes = without(collection.indexes, entry.field);
      return done(withCollection(state, { ...collection, indexes }));
    }
    case 'put-vector': {
      const named = (vectors: JsonObject) => ({ ...vectors, [entry.vector]: entry.config });
      return done(withCollection(state, withVectors(collection, entry.kind, named)));
    }
    case 'delete-vector': {
      const unnamed = (vectors: JsonObject) => without(vectors, entry.vector);
      const dense = withVectors(collection, 'dense', unnamed);
      return done(withCollection(state, withVectors(dense, 'sparse', unnamed)));
    }
  }
}

function create(state: ClusterState, entry: Of<'create-collection'>): Applied {
  const { collection: name, config, placement } = entry;
  if (Object.hasOwn(state.collections, name))
    return refused(state, 409, `Wrong input: Collection \`${name}\` already exists!`);
  if (Object.hasOwn(state.aliases, name)) {
    const text = `Can't create collection with name ${name}. Alias with the same name already exists`;
    return refused(state, 400, `Wrong input: ${text}`);
  }
  // It passes every check, and is the storage folder itself once it is a path.
  if (name === '.') {
    const because =
      'failed to rename file ./storage/collections/tmp to ./storage/collections/.: Device or resource busy';
    return { is: 'broken', because };
  }
  const serial = state.serial + 1;
  const shards = placement.map((peers, id) => ({
    id,
    replicas: Object.fromEntries(peers.map((peer) => [peer, 'Initializing' as const])),
  }));
  const collection: Collection = { serial, name, config, shards, transfers: [], indexes: {} };
  return done({ ...withCollection(state, collection), serial });
}

function remove(state: ClusterState, name: string): Applied {
  if (!Object.hasOwn(state.collections, name)) return done(state, false);
  const aliases = Object.entries(state.aliases).filter(([, target]) => target !== name);
  return done({ ...state, collections: without(state.collections, name), aliases: Object.fromEntries(aliases) });
}

/** One after the other: an error leaves those before it in force. */
function changeAliases(state: ClusterState, actions: readonly AliasAction[]): Applied {
  let changed = state;
  for (const action of actions) {
    const next = changeAlias(changed, action);
    if (next.is !== 'done') return next;
    changed = next.state;
  }
  return done(changed);
}

function changeAlias(state: ClusterState, action: AliasAction): Applied {
  const { aliases } = state;
  switch (action.is) {
    case 'create':
      if (Object.hasOwn(state.collections, action.alias)) {
        return refused(state, 409, `Wrong input: Collection \`${action.alias}\` already exists!`);
      }
      if (!Object.hasOwn(state.collections, action.collection)) return noCollection(state, action.collection);
      return done({ ...state, aliases: { ...aliases, [action.alias]: action.collection } });
    case 'delete':
      return done({ ...state, aliases: without(aliases, action.alias) });
    case 'rename': {
      const target = aliases[action.alias];
      if (target === undefined) return refused(state, 404, `Not found: Alias ${action.alias} does not exists!`);
      return done({ ...state, aliases: { ...without(aliases, action.alias), [action.to]: target } });
    }
  }
}

function withVectors(
  collection: Collection,
  kind: 'dense' | 'sparse',
  change: (vectors: JsonObject) => JsonObject,
): Collection {
  const key = kind === 'dense' ? 'vectors' : 'sparse_vectors';
  const params = objectAt(collection.config, 'params');
  return {
    ...collection,
    config: { ...collection.config, params: { ...params, [key]: change(objectAt(params, key)) } },
  };
}
