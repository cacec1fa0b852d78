import type { Payload } from './payload.ts';

/** A message on its way. It is never changed: a transformation makes new ones. */
export interface Message {
  /** Null: there is none (a tombstone of Kafka). */
  readonly payload: Payload | null;
  readonly metadata: Metadata;
  /** Where it came from: shared by all messages that were made of one input. */
  readonly origin: Origin;
}

/** `topic`, `partition`, `key`, `headers`, `operation`, `routed_condition`, …: whatever sources and transformations say. */
export type Metadata = Readonly<Record<string, unknown>>;

/** One input: a record, a row. What is made of it is written, or dropped, before its position is committed. */
export interface Origin {
  /** Positions of one partition are in order and are committed in order; those of different ones know nothing of each other. */
  readonly partition: string;
  /** Counts up by one within the partition from the first message that this run has read of it. */
  readonly sequence: number;
  /** What the source needs to commit it: an offset, a cursor. */
  readonly position: unknown;
  /** When it was read, in milliseconds. */
  readonly readAt: number;
}

/** Why a message could not be transformed or written. */
export interface Failure {
  readonly message: Message;
  readonly because: string;
  readonly type: ErrorType;
  /** Another attempt may help: a connection broke, the system was busy. */
  readonly isRetryable: boolean;
}

export const ERROR_TYPES = [
  'timeout',
  'connection_error',
  'constraint_violation',
  'invalid_data',
  'transient',
  'auth_error',
  'transformation_error',
  'unknown',
] as const;

export type ErrorType = (typeof ERROR_TYPES)[number];
