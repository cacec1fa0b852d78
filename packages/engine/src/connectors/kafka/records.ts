import type { RecordsBatch } from '@platformatic/kafka';
import { type Headers, headersOf, type Text, textOf } from './wire-metadata.ts';

const LOG_APPEND_TIME = 0b1000;
const TRANSACTIONAL = 0b1_0000;
const CONTROL = 0b10_0000;

/** A record as the source sees it. Offsets are numbers: 2^53 messages are not written in a lifetime. */
export interface KafkaMessage {
  readonly offset: number;
  /** RFC 3339 */
  readonly timestamp: string;
  readonly key: Text;
  readonly value: Buffer | null;
  readonly headers: Headers;
}

export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: bigint;
}

export interface FetchedPartition {
  readonly records?: readonly RecordsBatch[] | null | undefined;
  readonly abortedTransactions?: readonly AbortedTransaction[] | null | undefined;
}

export interface Read {
  readonly messages: readonly KafkaMessage[];
  readonly next: number;
  /** Of their values: nearly what they take. */
  readonly bytes: number;
}

/**
 * What a fetch brought, from `offset` on, without what belongs to Kafka itself (markers) or to transactions that were aborted;
 * and where to go on, which may be further than the last message.
 */
export function readRecords(fetched: FetchedPartition, offset: number): Read {
  const messages: KafkaMessage[] = [];
  let next = offset;
  let bytes = 0;
  const isAborted = abortedIn(fetched.abortedTransactions ?? []);
  const stamp = timestamps();
  for (const batch of fetched.records ?? []) {
    const first = Number(batch.firstOffset);
    const last = first + batch.lastOffsetDelta;
    next = Math.max(next, last + 1);
    if (isAborted(batch, last) || (batch.attributes & CONTROL) !== 0) continue;
    const base = Number(batch.firstTimestamp);
    const appendedAt = (batch.attributes & LOG_APPEND_TIME) === 0 ? undefined : Number(batch.maxTimestamp);
    for (const record of batch.records) {
      // A batch is stored and sent whole, also when it begins before what was asked for.
      const at = first + record.offsetDelta;
      if (at < offset) continue;
      bytes += record.value?.length ?? 0;
      messages.push({
        offset: at,
        timestamp: stamp(appendedAt ?? base + Number(record.timestampDelta)),
        key: textOf(record.key),
        value: record.value,
        headers: headersOf(record.headers),
      });
    }
  }
  return { messages, next, bytes };
}

/**
 * Whether a batch belongs to an aborted transaction. Asked in the order of the log: a producer's records are aborted from the
 * first offset that the broker named up to its abort marker. The client filters too, but lets through what it does not see
 * the marker of, because that is in a later answer.
 */
function abortedIn(transactions: readonly AbortedTransaction[]): (batch: RecordsBatch, lastOffset: number) => boolean {
  if (transactions.length === 0) return () => false;
  const ahead = transactions.toSorted((a, b) => Number(a.firstOffset - b.firstOffset));
  const aborted = new Set<bigint>();
  return (batch, lastOffset) => {
    for (let first = ahead[0]; first !== undefined && Number(first.firstOffset) <= lastOffset; first = ahead[0]) {
      aborted.add(first.producerId);
      ahead.shift();
    }
    if ((batch.attributes & CONTROL) !== 0) {
      if (isAbortMarker(batch)) aborted.delete(batch.producerId);
      return false;
    }
    return (batch.attributes & TRANSACTIONAL) !== 0 && aborted.has(batch.producerId);
  };
}

/** The key of a marker is its version and its kind: 0 aborts, 1 commits. */
const isAbortMarker = (batch: RecordsBatch) => batch.records[0]?.key?.readInt16BE(2) === 0;

/** Messages come in bursts, and to print a date is not free. */
function timestamps(): (ms: number) => string {
  let last = Number.NaN;
  let text = '';
  return (ms) => {
    if (ms !== last) {
      last = ms;
      // -1 is a message without a time; it reads as the beginning of time rather than breaking everything that parses it.
      text = new Date(Math.max(0, ms)).toISOString();
    }
    return text;
  };
}
