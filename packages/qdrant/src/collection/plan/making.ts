import type { JsonObject } from '../../api/index.ts';
import type { Situation } from './situation.ts';
import type { CollectionStep } from './step.ts';
import { creationOf, effectiveOf, UNNAMED } from './wanted.ts';

/** The collection itself, if there is none. */
export function creating({ collection, server, seen, via }: Situation): readonly CollectionStep[] {
  if (!server || !via || seen) return [];
  const { metadata, spec } = collection;
  const because = `there is no collection ${metadata.name}`;
  return [{ do: 'create-collection', because, via, collection: metadata.name, body: creationOf(spec) }];
}

/** Whatever can be changed and is not as the spec says, in one request. */
export function updating({ collection, drift, via }: Situation): readonly CollectionStep[] {
  if (!drift.patch || !via) return [];
  const fields = fieldsIn(drift.patch);
  const because = `${fields.join(', ')} ${fields.length > 1 ? 'differ' : 'differs'}`;
  return [{ do: 'update-collection', because, via, collection: collection.metadata.name, patch: drift.patch }];
}

/** Those that the spec does not name have points in them: they are left alone. */
export function addingVectors({ collection, drift, via }: Situation): readonly CollectionStep[] {
  if (!via) return [];
  const { name: of } = collection.metadata;
  return drift.missing.map(({ name, kind, config }) => {
    const because = `there is no ${kind} vector ${name}`;
    return { do: 'create-vector', because, via, collection: of, vector: name, kind, config };
  });
}

/** Parts that points are sent to by name. Those that the spec does not name have points in them: they are left alone. */
export function keying({ collection, seen, declared, via }: Situation): readonly CollectionStep[] {
  if (!seen || !via) return [];
  const { metadata, spec } = collection;
  const settings = effectiveOf(declared, seen.config);
  const [shards, copies] = [Number(settings['shard_number']), Number(settings['replication_factor'])];
  return (spec.shardKeys ?? [])
    .filter((key) => !seen.placement.shardKeys.includes(key))
    .map((key) => {
      const because = `there is no shard key ${key}`;
      return { do: 'create-shard-key', because, via, collection: metadata.name, key, shards, copies };
    });
}

const fieldsIn = (patch: JsonObject): readonly string[] =>
  Object.entries(patch).flatMap(([section, part]) =>
    typeof part === 'object' && part !== null
      ? Object.keys(part).map((key) => (key === UNNAMED ? section : `${section}.${key}`))
      : [section],
  );
