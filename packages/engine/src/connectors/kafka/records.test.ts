import type { KafkaRecord, RecordsBatch } from '@platformatic/kafka';
import { expect, test } from 'vitest';
import { readRecords } from './records.ts';

const TRANSACTIONAL = 0b1_0000;
const CONTROL = 0b10_0000;

const record = (offsetDelta: number, value: string, key: Buffer | null = null): KafkaRecord => ({
  length: 0,
  attributes: 0,
  timestampDelta: BigInt(offsetDelta),
  offsetDelta,
  key,
  value: Buffer.from(value),
  headers: [],
});

function batch(firstOffset: number, records: readonly KafkaRecord[], more: Partial<RecordsBatch> = {}): RecordsBatch {
  return {
    firstOffset: BigInt(firstOffset),
    length: 0,
    partitionLeaderEpoch: 0,
    magic: 2,
    crc: 0,
    attributes: 0,
    lastOffsetDelta: records.length - 1,
    firstTimestamp: 1_000n,
    maxTimestamp: 9_000n,
    producerId: -1n,
    producerEpoch: 0,
    firstSequence: 0,
    records: [...records],
    ...more,
  };
}

const transactional = (firstOffset: number, producerId: bigint, ...values: readonly string[]) =>
  batch(
    firstOffset,
    values.map((value, at) => record(at, value)),
    { attributes: TRANSACTIONAL, producerId },
  );

const marker = (firstOffset: number, producerId: bigint, kind: 'abort' | 'commit') =>
  batch(firstOffset, [record(0, '', Buffer.from([0, 0, 0, kind === 'abort' ? 0 : 1]))], {
    attributes: TRANSACTIONAL | CONTROL,
    producerId,
  });

const values = ({ messages }: ReturnType<typeof readRecords>) => messages.map(({ value }) => String(value));

test('a batch that begins before what was asked for is read from there on', () => {
  const read = readRecords({ records: [batch(10, [record(0, 'a'), record(1, 'b'), record(2, 'c')])] }, 11);
  expect(read.messages.map(({ offset, timestamp }) => [offset, timestamp])).toEqual([
    [11, '1970-01-01T00:00:01.001Z'],
    [12, '1970-01-01T00:00:01.002Z'],
  ]);
  expect(read.next).toBe(13);
});

test('a topic that stamps messages when they arrive has one time for a batch', () => {
  const read = readRecords({ records: [batch(0, [record(0, 'a'), record(1, 'b')], { attributes: 0b1000 })] }, 0);
  expect(read.messages.map(({ timestamp }) => timestamp)).toEqual(Array(2).fill('1970-01-01T00:00:09.000Z'));
});

test('what compaction left out is stepped over', () => {
  const read = readRecords({ records: [batch(5, [record(1, 'b')], { lastOffsetDelta: 9 })] }, 5);
  expect(read.messages.map(({ offset }) => offset)).toEqual([6]);
  expect(read.next).toBe(15);
});

test('aborted transactions and markers are left out, also where the marker is not there yet, and still stepped over', () => {
  const log = [
    transactional(0, 1n, 'aborted'),
    transactional(1, 2n, 'kept'),
    marker(2, 1n, 'abort'),
    transactional(3, 1n, 'kept too'),
    marker(4, 1n, 'commit'),
    marker(5, 2n, 'commit'),
    transactional(6, 1n, 'aborted later', 'aborted later'),
  ];
  const abortedTransactions = [
    { producerId: 1n, firstOffset: 6n },
    { producerId: 1n, firstOffset: 0n },
  ];
  const read = readRecords({ records: log, abortedTransactions }, 0);
  expect(values(read)).toEqual(['kept', 'kept too']);
  expect(read.next).toBe(8);
});

test('a fetch that brought nothing goes on where it was', () => {
  expect(readRecords({ records: null }, 42)).toEqual({ messages: [], next: 42, bytes: 0 });
});
