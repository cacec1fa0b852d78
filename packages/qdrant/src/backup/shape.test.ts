import { expect, test } from 'vitest';
import { creationOf, shapeOf } from './shape.ts';

// As a server of version 1.19 tells it.
const config = {
  params: {
    vectors: { size: 4, distance: 'Dot', on_disk: true },
    shard_number: 3,
    replication_factor: 2,
    write_consistency_factor: 1,
    read_fan_out_factor: 2,
    on_disk_payload: true,
  },
  hnsw_config: { m: 16, ef_construct: 100 },
  optimizer_config: { deleted_threshold: 0.2, max_segment_size: null },
  wal_config: { wal_capacity_mb: 32 },
  quantization_config: null,
};

test('a collection is created in other words than it is told in', () => {
  expect(creationOf(config)).toEqual({
    vectors: { size: 4, distance: 'Dot', on_disk: true },
    shard_number: 3,
    replication_factor: 2,
    write_consistency_factor: 1,
    on_disk_payload: true,
    hnsw_config: { m: 16, ef_construct: 100 },
    optimizers_config: { deleted_threshold: 0.2, max_segment_size: null },
    wal_config: { wal_capacity_mb: 32 },
  });
});

test('what can be changed later does not make it another collection; vectors and shards do', () => {
  const { params } = config;
  expect(shapeOf({ ...config, params: { ...params, replication_factor: 1 }, hnsw_config: {} })).toBe(shapeOf(config));
  expect(shapeOf({ ...config, params: { ...params, shard_number: 4 } })).not.toBe(shapeOf(config));
  expect(shapeOf({ ...config, params: { ...params, vectors: { size: 8, distance: 'Dot' } } })).not.toBe(
    shapeOf(config),
  );
});
