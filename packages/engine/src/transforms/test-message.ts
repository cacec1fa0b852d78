/** What the tests of transformations share: messages, and what comes out of them as text. */

import type { Clock } from '../clock.ts';
import type { Message, Metadata } from '../message.ts';
import { Payload } from '../payload.ts';
import type { Transform } from './transform.ts';

export const NOON: Pick<Clock, 'now'> = { now: () => Date.parse('2026-03-01T12:00:00.120Z') };

export function messageOf(payload: string | Buffer | null, metadata: Metadata = {}): Message {
  const origin = { partition: '0', sequence: 0, position: 0, readAt: 0 };
  if (payload === null) return { payload, metadata, origin };
  return {
    payload: typeof payload === 'string' ? Payload.ofText(payload) : Payload.ofBytes(payload),
    metadata,
    origin,
  };
}

export const textsOf = (
  transform: Transform,
  payload: string | Buffer | null,
  metadata: Metadata = {},
): readonly string[] => transform(messageOf(payload, metadata)).map((message) => message.payload?.text ?? 'none');

/** Of a transformation that makes one of one. */
export function textOf(transform: Transform, payload: string, metadata: Metadata = {}): string {
  const [text = 'dropped', ...more] = textsOf(transform, payload, metadata);
  return more.length === 0 ? text : `${more.length + 1} messages`;
}

/** Whether what leaves is the very message that came. */
export function isUntouched(transform: Transform, payload: string | Buffer | null, metadata: Metadata = {}): boolean {
  const message = messageOf(payload, metadata);
  const [output, ...more] = transform(message);
  return output === message && more.length === 0;
}
