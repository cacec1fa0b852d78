import type { Message, Metadata } from '../../message.ts';
import { murmur2 } from './murmur2.ts';
import { bytesOf, headerBytesOf } from './wire-metadata.ts';

/** A message as it goes over the wire. */
export interface Outgoing {
  readonly message: Message;
  readonly key: Buffer | null;
  /** Null: a tombstone. */
  readonly value: Buffer | null;
  readonly headers: Map<Buffer, Buffer | null> | undefined;
  readonly bytes: number;
}

/** What a record costs beside its key, its value and its headers, at most. */
const RECORD_BYTES = 32;
/** A broker takes batches of 1,048,588 bytes unless it was told otherwise; what can't be compressed must fit too. */
const BATCH_BYTES = 900_000;
/** Messages without a key go to one partition until they are this much, then to the next: few requests, even load. */
const STICKY_BYTES = 128 * 1024;

export function outgoing(message: Message): Outgoing {
  const key = bytesOf(keyOf(message.metadata));
  const value = message.payload?.bytes ?? null;
  const headers = headerBytesOf(message.metadata['headers']);
  let bytes = RECORD_BYTES + (key?.length ?? 0) + (value?.length ?? 0);
  for (const [name, text] of headers ?? []) bytes += name.length + (text?.length ?? 0) + 10;
  return { message, key, value, headers, bytes };
}

/** What never had a key (a row of a table) goes by the id of its row: the versions of one row stay in order. */
function keyOf({ key, id }: Metadata): unknown {
  if (key !== undefined) return key;
  return typeof id === 'number' ? String(id) : id;
}

/** Where Kafka's own clients put this key, so that ours and theirs land in the same partition. */
export function partitionOfKey(key: Buffer, partitions: number): number {
  return (murmur2(key) & 0x7f_ff_ff_ff) % partitions;
}

/** Spreads messages over the partitions of a topic. Order is kept within each. */
export class Partitioner {
  #sticky = 0;
  #stickyBytes = 0;

  /** The batches of each partition, in order. */
  spread(messages: readonly Outgoing[], partitions: number): Map<number, Outgoing[][]> {
    const spread = new Map<number, Batches>();
    for (const one of messages) {
      const partition = one.key === null ? this.#next(one.bytes, partitions) : partitionOfKey(one.key, partitions);
      let batches = spread.get(partition);
      if (batches === undefined) {
        batches = { list: [], bytes: 0 };
        spread.set(partition, batches);
      }
      const last = batches.list.at(-1);
      if (last === undefined || batches.bytes + one.bytes > BATCH_BYTES) {
        batches.list.push([one]);
        batches.bytes = one.bytes;
      } else {
        last.push(one);
        batches.bytes += one.bytes;
      }
    }
    return new Map([...spread].map(([partition, { list }]) => [partition, list]));
  }

  #next(bytes: number, partitions: number): number {
    if (this.#stickyBytes > 0 && this.#stickyBytes + bytes > STICKY_BYTES) {
      this.#sticky++;
      this.#stickyBytes = 0;
    }
    this.#stickyBytes += bytes;
    return this.#sticky % partitions;
  }
}

interface Batches {
  readonly list: Outgoing[][];
  bytes: number;
}
