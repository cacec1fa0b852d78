import { createRecordsBatch, NumericMap, Reader, readRecordsBatches } from '@platformatic/kafka';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type BatchOptions, decodeBatches, encodeBatch, type NewRecord } from './record-batch.ts';

const bytes = (maxLength: number) => fc.uint8Array({ maxLength, size: 'max' }).map((array) => Buffer.from(array));
const maybe = (maxLength: number) => fc.option(bytes(maxLength), { nil: undefined });
const anyRecord: fc.Arbitrary<NewRecord> = fc.record({
  key: maybe(80),
  value: maybe(9_000),
  headers: fc.option(
    fc.array(fc.tuple(bytes(20), maybe(200)), { maxLength: 3 }).map((pairs) => new Map(pairs)),
    { nil: undefined },
  ),
});
const anyRecords = fc.array(anyRecord, { minLength: 1, maxLength: 80 });
const anyOptions = (compression: BatchOptions['compression']): fc.Arbitrary<BatchOptions> =>
  fc.record({
    timestamp: fc.bigInt({ min: 0n, max: 1n << 45n }),
    compression: fc.constant(compression),
    producerId: fc.bigInt({ min: -1n, max: 1n << 62n }),
    producerEpoch: fc.integer({ min: -1, max: 32_767 }),
    firstSequence: fc.integer({ min: 0, max: 0x7f_ff_ff_ff }),
  });

/** The client's own way. */
function encodedByClient(records: readonly NewRecord[], options: BatchOptions): Buffer {
  const { timestamp, compression, producerId, producerEpoch, firstSequence } = options;
  const messages = records.map((record) => Object.assign({ topic: 't', partition: 0, timestamp }, record));
  const sequences = new NumericMap([['t:0', firstSequence]]);
  // Its types know neither tombstones nor null headers; its code does.
  const batch: { readonly buffer: Buffer } = Reflect.apply(createRecordsBatch, undefined, [
    messages,
    { compression, producerId, producerEpoch, sequences },
  ]);
  return batch.buffer;
}

test.each(['none', 'lz4'] as const)('what is written is byte for byte what the client writes (%s)', (compression) => {
  fc.assert(
    fc.property(anyRecords, anyOptions(compression), (records, options) => {
      expect(encodeBatch(records, options).equals(encodedByClient(records, options))).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test.each(['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const)(
  'what is read is what the client reads (%s)',
  (compression) => {
    fc.assert(
      fc.property(fc.array(anyRecords, { maxLength: 3 }), anyOptions(compression), (batches, options) => {
        const written = Buffer.concat(batches.map((records) => encodeBatch(records, options)));
        expect(decodeBatches(written)).toEqual(readRecordsBatches(Reader.from(written)));
      }),
      { numRuns: 20 },
    );
  },
);

test('times before and after the first one of a batch are read, however far', () => {
  for (const delta of [0n, -1n, 63n, 64n, -64n, 8_192n, 1n << 30n, -(1n << 30n)]) {
    const timestamp = 1n << 41n;
    const written = createRecordsBatch([
      { topic: 't', partition: 0, value: Buffer.from('a'), timestamp },
      { topic: 't', partition: 0, value: Buffer.from('b'), timestamp: timestamp + delta },
    ]).buffer;
    expect(decodeBatches(written)[0]?.records[1]?.timestampDelta).toBe(delta);
  }
});

test('a batch that is cut off is left out, and one that lies about its length is an error', () => {
  const options: BatchOptions = {
    timestamp: 0n,
    compression: 'none',
    producerId: 1n,
    producerEpoch: 0,
    firstSequence: 0,
  };
  const written = encodeBatch([{ value: Buffer.from('value') }], options);
  expect(decodeBatches(Buffer.concat([written, written.subarray(0, 40)]))).toHaveLength(1);
  const lying = Buffer.from(written);
  lying.writeInt32BE(9, 57); // records
  expect(() => decodeBatches(lying)).toThrow('a record ends before it is complete');
});

test.each(['none', 'lz4'] as const)(
  'a batch stays what it is when the next one is written, however large (%s)',
  (compression) => {
    const options = { timestamp: 1n, compression, producerId: 1n, producerEpoch: 0, firstSequence: 0 };
    const filled = (bytes: number, fill: string) => encodeBatch([{ value: Buffer.alloc(bytes, fill) }], options);
    for (const bytes of [10, 900_000, 3_000_000]) {
      const first = filled(bytes, 'a');
      filled(bytes, 'b');
      expect(decodeBatches(first)[0]?.records[0]?.value?.equals(Buffer.alloc(bytes, 'a'))).toBe(true);
    }
  },
);
