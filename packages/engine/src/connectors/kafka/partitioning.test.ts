import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Payload } from '../../payload.ts';
import { outgoing, Partitioner, partitionOfKey } from './partitioning.ts';

const sized = (sequence: number, bytes: number, key: string | null) =>
  outgoing({
    payload: Payload.ofBytes(Buffer.alloc(bytes)),
    metadata: { key },
    origin: { partition: 'p', sequence, position: sequence, readAt: 0 },
  });

test('a key lands where Kafka’s own clients put it', () => {
  // The hashes of the tests of Apache Kafka's own implementation; three of them are negative.
  const hashes = {
    '21': -973_932_308,
    foobar: -790_332_482,
    'a-little-bit-long-string': -985_981_536,
    abc: 479_470_107,
  };
  for (const [key, hash] of Object.entries(hashes)) {
    for (const partitions of [1, 3, 7, 64]) {
      expect(partitionOfKey(Buffer.from(key), partitions)).toBe((hash & 0x7f_ff_ff_ff) % partitions);
    }
  }
});

test('messages without a key fill one partition for a while, then the next, and so all of them', () => {
  const partitioner = new Partitioner();
  const spread = partitioner.spread(
    Array.from({ length: 1_000 }, (_, i) => sized(i, 1_000, null)),
    4,
  );
  expect(new Set(spread.keys())).toEqual(new Set([0, 1, 2, 3]));
  const [first] = spread.get(0) ?? [];
  expect(first?.slice(0, 100).map(({ message }) => message.origin.sequence)).toEqual([...Array(100).keys()]);
});

test('the versions of a row stay together, and a message whose key is null keeps it', () => {
  const keyOf = (metadata: object) =>
    outgoing({
      payload: null,
      metadata: { ...metadata },
      origin: { partition: 'p', sequence: 0, position: 0, readAt: 0 },
    }).key;
  expect(keyOf({ table: 'orders', id: 7 })).toEqual(Buffer.from('7'));
  expect(keyOf({ table: 'orders', id: 'a7' })).toEqual(Buffer.from('a7'));
  expect(keyOf({ key: 'k', id: 7 })).toEqual(Buffer.from('k'));
  expect(keyOf({ key: null, id: 7 })).toBeNull();
  expect(keyOf({})).toBeNull();
});

test('whatever is spread, everything is there once, in order within its partition, in batches a broker takes', () => {
  const message = fc.record({ bytes: fc.nat(600_000), key: fc.option(fc.constantFrom('a', 'b', 'c', 'd')) });
  fc.assert(
    fc.property(fc.array(message, { maxLength: 40 }), fc.integer({ min: 1, max: 5 }), (messages, partitions) => {
      const list = messages.map(({ bytes, key }, sequence) => sized(sequence, bytes, key));
      const spread = new Partitioner().spread(list, partitions);
      const seen = [...spread.values()].flatMap((batches) => {
        const sequences = batches.flat().map(({ message }) => message.origin.sequence);
        expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
        for (const batch of batches) {
          expect(batch.length === 1 || batch.reduce((sum, { bytes }) => sum + bytes, 0) <= 1_048_588).toBe(true);
        }
        return sequences;
      });
      expect(seen.toSorted((a, b) => a - b)).toEqual([...list.keys()]);
    }),
    { numRuns: 50 },
  );
});
