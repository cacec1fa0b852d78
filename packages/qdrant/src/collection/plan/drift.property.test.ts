/** Whatever a spec says and whatever a server has: what can be changed is changed by one request, and nothing else is sent. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isObject, type Json, type JsonObject, objectAt } from '../../api/index.ts';
import type { CollectionSpec } from '../../kinds/index.ts';
import { driftOf } from './drift.ts';
import { creationOf, isUnnamed, merged } from './wanted.ts';

const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
/** Keys that have no value are not there. */
const sparse = <T extends object>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(shape).map((value): JsonObject => JSON.parse(JSON.stringify(value)));

const hnsw = sparse({
  m: some(fc.constantFrom(8, 16, 32)),
  ef_construct: some(fc.constantFrom(100, 200)),
  on_disk: some(fc.boolean()),
  memory: some(fc.constantFrom('cold', 'cached')),
});
const quantization = fc.constantFrom<Json>(
  { scalar: { type: 'int8' } },
  { scalar: { type: 'int8', quantile: 0.99 } },
  { product: { compression: 'x16' } },
  'Disabled',
);
const vector = sparse({
  size: some(fc.constantFrom(4, 8)),
  distance: some(fc.constantFrom('Cosine', 'Dot')),
  on_disk: some(fc.boolean()),
  memory: some(fc.constantFrom('cold', 'cached')),
  datatype: some(fc.constantFrom('float32', 'uint8')),
  hnsw_config: some(hnsw),
  quantization_config: some(quantization),
});
const sparseVector = sparse({
  modifier: some(fc.constantFrom('idf', 'none')),
  index: some(
    sparse({
      full_scan_threshold: some(fc.constantFrom(100, 5_000)),
      on_disk: some(fc.boolean()),
      datatype: some(fc.constantFrom('float32', 'float16')),
    }),
  ),
});
const named = (of: fc.Arbitrary<JsonObject>) => fc.dictionary(fc.constantFrom('image', 'text', 'sound'), of);

const config = sparse({
  vectors: some(fc.oneof(vector, named(vector))),
  sparse_vectors: some(named(sparseVector)),
  hnsw_config: some(hnsw),
  optimizers_config: some(
    sparse({
      deleted_threshold: some(fc.constantFrom(0.2, 0.35, 0.1 + 0.2)),
      max_optimization_threads: some(fc.constantFrom('auto', 4)),
    }),
  ),
  optimizer_config: some(sparse({ indexing_threshold: some(fc.constantFrom(0, 5_000)) })),
  wal_config: some(sparse({ wal_capacity_mb: some(fc.constantFrom(1, 32)) })),
  quantization_config: some(quantization),
  strict_mode_config: some(sparse({ enabled: some(fc.boolean()), max_query_limit: some(fc.constantFrom(10, 100)) })),
  metadata: some(fc.dictionary(fc.constantFrom('owner', 'team'), fc.constantFrom<Json>('a', 1, { deep: true }, null))),
  replication_factor: some(fc.constantFrom(1, 2, 3)),
  write_consistency_factor: some(fc.constantFrom(1, 2)),
  on_disk_payload: some(fc.boolean()),
  sharding_method: some(fc.constantFrom('auto', 'custom')),
  nobody_knows: some(fc.boolean()),
});

const spec: fc.Arbitrary<CollectionSpec> = fc.record({
  cluster: fc.constant('vectors'),
  vectorSize: fc.constantFrom(4, 8),
  distance: fc.constantFrom('Cosine', 'Dot'),
  shardNumber: fc.constantFrom(1, 2),
  replicationFactor: fc.constantFrom(1, 2, 3),
  onDisk: fc.boolean(),
  config,
});

/** What no spec can be silent about. */
const silent: CollectionSpec = { cluster: 'vectors', vectorSize: 4 };

const HNSW = { m: 16, ef_construct: 100, full_scan_threshold: 10_000, on_disk: false };
const OPTIMIZERS = { deleted_threshold: 0.2, indexing_threshold: 10_000, max_optimization_threads: null };
const WAL = { wal_capacity_mb: 32, wal_segments_ahead: 0 };

/** What a server makes of a creation: defaults are filled in, fractions lose digits, what it does not know is not kept. */
function created(body: JsonObject): JsonObject {
  const optimizers = rounded({ ...OPTIMIZERS, ...objectAt(body, 'optimizers_config') });
  const params = ['vectors', 'sparse_vectors', 'shard_number', 'replication_factor', 'sharding_method'];
  return {
    params: {
      write_consistency_factor: 1,
      on_disk_payload: true,
      ...picked(body, [...params, 'write_consistency_factor', 'on_disk_payload']),
    },
    hnsw_config: { ...HNSW, ...objectAt(body, 'hnsw_config') },
    optimizer_config: optimizers,
    wal_config: { ...WAL, ...objectAt(body, 'wal_config') },
    quantization_config: body['quantization_config'] ?? null,
    ...picked(body, ['strict_mode_config', 'metadata']),
  };
}

const rounded = (json: JsonObject): JsonObject => {
  const { max_optimization_threads: threads = null, ...rest } = json;
  const entries = Object.entries(rest).map(([key, value]) => [
    key,
    typeof value === 'number' ? Math.fround(value) : value,
  ]);
  return { ...Object.fromEntries(entries), max_optimization_threads: threads === 'auto' ? null : threads };
};

const picked = (from: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(from).filter(([key]) => keys.includes(key)));

/** What a server makes of a patch; it refuses one that names a vector which is not there. */
function patched(config: JsonObject, patch: JsonObject): JsonObject {
  const params = objectAt(config, 'params');
  const vectors = objectAt(params, 'vectors');
  const isSingle = isUnnamed(vectors);
  let dense = isSingle ? { '': vectors } : vectors;
  for (const [name, change] of Object.entries(objectAt(patch, 'vectors'))) {
    const old = dense[name];
    if (!isObject(old) || !isObject(change)) throw new Error(`Not existing vector name error: ${name}`);
    const { quantization_config: quantized, ...rest } = old;
    const next = change['quantization_config'] ?? quantized ?? null;
    const kept = next === null || next === 'Disabled' ? {} : { quantization_config: next };
    const hnswOf = merged(objectAt(old, 'hnsw_config'), objectAt(change, 'hnsw_config'));
    const hnswKept = Object.keys(hnswOf).length > 0 ? { hnsw_config: hnswOf } : {};
    dense = { ...dense, [name]: { ...rest, ...picked(change, ['on_disk', 'memory']), ...hnswKept, ...kept } };
  }
  const sparseVectors = objectAt(params, 'sparse_vectors');
  for (const name of Object.keys(objectAt(patch, 'sparse_vectors'))) {
    if (!(name in sparseVectors)) throw new Error(`Not existing vector name error: ${name}`);
  }
  const quantized = patch['quantization_config'] ?? config['quantization_config'] ?? null;
  const metadata = { ...objectAt(config, 'metadata'), ...objectAt(patch, 'metadata') };
  const PARAMS = ['replication_factor', 'write_consistency_factor', 'on_disk_payload'];
  return {
    ...config,
    params: {
      ...params,
      ...picked(objectAt(patch, 'params'), PARAMS),
      vectors: isSingle ? (dense[''] ?? {}) : dense,
      sparse_vectors: merged(sparseVectors, objectAt(patch, 'sparse_vectors')),
    },
    hnsw_config: { ...objectAt(config, 'hnsw_config'), ...objectAt(patch, 'hnsw_config') },
    optimizer_config: rounded({ ...objectAt(config, 'optimizer_config'), ...objectAt(patch, 'optimizers_config') }),
    quantization_config: quantized === 'Disabled' ? null : quantized,
    strict_mode_config: { ...objectAt(config, 'strict_mode_config'), ...objectAt(patch, 'strict_mode_config') },
    metadata: Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null)),
  };
}

const RUNS = { numRuns: 400 };

test('a collection that was just created is as its spec says', () => {
  fc.assert(
    fc.property(spec, (spec) => {
      expect(driftOf(spec, created(creationOf(spec)))).toEqual({ patch: undefined, missing: [], immutable: [] });
    }),
    RUNS,
  );
});

test('one patch makes everything so that can be changed, and changes nothing that can not', () => {
  fc.assert(
    fc.property(spec, spec, (wanted, other) => {
      const there = created(creationOf(other));
      const { patch, immutable } = driftOf(wanted, there);
      const after = patch ? patched(there, patch) : there;
      const again = driftOf(wanted, after);
      expect(again.patch).toBeUndefined();
      expect(again.immutable).toEqual(immutable);
      expect(keysIn(patch ?? {}).filter((key) => IMMUTABLE.has(key))).toEqual([]);
      expect(patch === undefined || !('replication_factor' in patch)).toBe(true);
    }),
    RUNS,
  );
});

const IMMUTABLE = new Set([
  'size',
  'distance',
  'datatype',
  'multivector_config',
  'shard_number',
  'sharding_method',
  'wal_config',
]);

const keysIn = (json: Json): readonly string[] =>
  isObject(json)
    ? Object.entries(json).flatMap(([key, value]) => (key === 'metadata' ? [] : [key, ...keysIn(value)]))
    : [];

test('what the spec does not say is left as it is', () => {
  fc.assert(
    fc.property(spec, ({ config = {}, ...bare }) => {
      const { sharding_method: _, replication_factor: __, ...more } = config;
      const there = created(creationOf({ ...bare, config: { ...more, vectors: {} } }));
      expect(driftOf(bare, there)).toEqual({ patch: undefined, missing: [], immutable: [] });
      const found = created(creationOf({ ...bare, vectorSize: silent.vectorSize, config: { ...config, vectors: {} } }));
      expect(driftOf(silent, found)).toEqual({ patch: undefined, missing: [], immutable: [] });
    }),
    RUNS,
  );
});
