/**
 * Kafka's record batches (version 2), written and read in one pass over one buffer. The client's own way makes a dozen small
 * buffers for each record, which costs more than all the rest of reading and writing it.
 */
import {
  type CompressionAlgorithmValue,
  compressionsAlgorithms,
  compressionsAlgorithmsByBitmask,
  crc32c,
  type KafkaRecord,
  type RecordsBatch,
} from '@platformatic/kafka';

/** A record to be written. */
export interface NewRecord {
  readonly key?: Buffer | undefined;
  readonly value?: Buffer | undefined;
  readonly headers?: ReadonlyMap<Buffer, Buffer | undefined> | undefined;
}

export interface BatchOptions {
  /** Milliseconds since the epoch, for all records. */
  readonly timestamp: bigint;
  readonly compression: CompressionAlgorithmValue;
  readonly producerId: bigint;
  readonly producerEpoch: number;
  readonly firstSequence: number;
}

const MAGIC = 2;
const COMPRESSION = 0b111;
/** Offset and length of the batch, which do not count as part of it. */
const HEAD_BYTES = 12;
/** Everything before the records, and where in it the checksum begins to count. */
const PREFIX_BYTES = 61;
const CHECKED_FROM = 21;

export function encodeBatch(records: readonly NewRecord[], options: BatchOptions): Buffer {
  const { compression, timestamp } = options;
  const plain = encodeRecords(records);
  const body = compression === 'none' ? plain : compressionsAlgorithms[compression].compressSync(plain);
  const batch = Buffer.allocUnsafe(PREFIX_BYTES + body.length);
  batch.writeBigInt64BE(0n, 0);
  batch.writeInt32BE(batch.length - HEAD_BYTES, 8);
  batch.writeInt32BE(0, 12); // the leader's epoch: the broker knows better
  batch.writeInt8(MAGIC, 16);
  batch.writeInt16BE(compressionsAlgorithms[compression].bitmask, CHECKED_FROM);
  batch.writeInt32BE(records.length - 1, 23);
  batch.writeBigInt64BE(timestamp, 27);
  batch.writeBigInt64BE(timestamp, 35);
  batch.writeBigInt64BE(options.producerId, 43);
  batch.writeInt16BE(options.producerEpoch, 51);
  batch.writeInt32BE(options.firstSequence, 53);
  batch.writeInt32BE(records.length, 57);
  batch.set(body, PREFIX_BYTES);
  batch.writeUInt32BE(crc32c(batch.subarray(CHECKED_FROM)), 17);
  return batch;
}

/**
 * Where the records of a batch are put together before they are compressed or copied into it: one batch at a time, so one will do.
 * Memory that is new each time costs as much as the encoding. A batch is smaller, unless it is one large message.
 */
const workspace = Buffer.allocUnsafeSlow(1 << 20);

/** What it returns is good until the next call. */
function encodeRecords(records: readonly NewRecord[]): Buffer {
  const sizes = records.map(sizeOf);
  const total = sizes.reduce((sum, size) => sum + sizeOfVarint(size) + size, 0);
  const encoded = total <= workspace.length ? workspace.subarray(0, total) : Buffer.allocUnsafe(total);
  let at = 0;
  for (const [index, { key, value, headers }] of records.entries()) {
    at = writeVarint(encoded, at, sizes[index] ?? 0);
    encoded[at++] = 0; // attributes: there are none yet
    encoded[at++] = 0; // milliseconds since the batch's timestamp
    at = writeVarint(encoded, at, index);
    at = writeBytes(encoded, at, key);
    at = writeBytes(encoded, at, value);
    at = writeVarint(encoded, at, headers?.size ?? 0);
    if (headers) for (const [name, text] of headers) at = writeBytes(encoded, writeBytes(encoded, at, name), text);
  }
  return encoded;
}

function sizeOf({ key, value, headers }: NewRecord, index: number): number {
  let size = 2 + sizeOfVarint(index) + sizeOfBytes(key) + sizeOfBytes(value) + sizeOfVarint(headers?.size ?? 0);
  if (headers) for (const [name, text] of headers) size += sizeOfBytes(name) + sizeOfBytes(text);
  return size;
}

const sizeOfBytes = (bytes: Buffer | undefined) => (bytes ? sizeOfVarint(bytes.length) + bytes.length : 1);

/** Of a number that is not negative: zigzag leaves it six bits in the first byte and seven in each further one. */
function sizeOfVarint(value: number): number {
  let size = 1;
  for (let rest = value >>> 6; rest > 0; rest >>>= 7) size++;
  return size;
}

function writeVarint(target: Buffer, at: number, value: number): number {
  let rest = value << 1;
  let end = at;
  for (; rest > 0x7f; rest >>>= 7) target[end++] = (rest & 0x7f) | 0x80;
  target[end++] = rest;
  return end;
}

function writeBytes(target: Buffer, at: number, bytes: Buffer | undefined): number {
  if (!bytes) {
    target[at] = 1; // the length -1
    return at + 1;
  }
  const start = writeVarint(target, at, bytes.length);
  target.set(bytes, start);
  return start + bytes.length;
}

/** What is cut off at the end, as brokers do, is left out. */
export function decodeBatches(bytes: Buffer): RecordsBatch[] {
  const batches: RecordsBatch[] = [];
  for (let at = 0; at + HEAD_BYTES <= bytes.length; ) {
    const end = at + HEAD_BYTES + bytes.readInt32BE(at + 8);
    if (end > bytes.length) break;
    batches.push(decodeBatch(bytes.subarray(at, end)));
    at = end;
  }
  return batches;
}

function decodeBatch(bytes: Buffer): RecordsBatch {
  const attributes = bytes.readInt16BE(CHECKED_FROM);
  const compression = attributes & COMPRESSION;
  const body = bytes.subarray(PREFIX_BYTES);
  const algorithm = compressionsAlgorithmsByBitmask[compression];
  if (!algorithm) throw new Error(`records are compressed in a way that is not known (${compression})`);
  return {
    firstOffset: bytes.readBigInt64BE(0),
    length: bytes.readInt32BE(8),
    partitionLeaderEpoch: bytes.readInt32BE(12),
    magic: bytes.readInt8(16),
    crc: bytes.readUInt32BE(17),
    attributes,
    lastOffsetDelta: bytes.readInt32BE(23),
    firstTimestamp: bytes.readBigInt64BE(27),
    maxTimestamp: bytes.readBigInt64BE(35),
    producerId: bytes.readBigInt64BE(43),
    producerEpoch: bytes.readInt16BE(51),
    firstSequence: bytes.readInt32BE(53),
    records: decodeRecords(compression === 0 ? body : algorithm.decompressSync(body), bytes.readInt32BE(57)),
  };
}

function decodeRecords(bytes: Buffer, count: number): KafkaRecord[] {
  const cursor = new Cursor(bytes);
  const records: KafkaRecord[] = [];
  for (let index = 0; index < count; index++) {
    records.push({
      length: cursor.varint(),
      attributes: cursor.byte(),
      timestampDelta: BigInt(cursor.varint()),
      offsetDelta: cursor.varint(),
      key: cursor.bytes(),
      value: cursor.bytes(),
      headers: cursor.pairs(),
    });
  }
  return records;
}

class Cursor {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new Error('a record ends before it is complete');
    return byte;
  }

  /** Up to 53 bits, which is more than any length, and than milliseconds between the records of a batch. */
  varint(): number {
    const first = this.byte();
    if (first < 0x80) return first & 1 ? -(first + 1) / 2 : first / 2;
    let value = first & 0x7f;
    for (let scale = 0x80; ; scale *= 0x80) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
    }
  }

  bytes(): Buffer | null {
    const length = this.varint();
    if (length < 0) return null;
    const start = this.#at;
    this.#at += length;
    if (this.#at > this.#bytes.length) throw new Error('a record ends before it is complete');
    return this.#bytes.subarray(start, this.#at);
  }

  pairs(): [Buffer | null, Buffer | null][] {
    const pairs: [Buffer | null, Buffer | null][] = [];
    for (let left = this.varint(); left > 0; left--) pairs.push([this.bytes(), this.bytes()]);
    return pairs;
  }
}
