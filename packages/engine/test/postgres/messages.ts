import type { Message, Metadata } from '../../src/message.ts';
import { Payload } from '../../src/payload.ts';

let sequence = 0;

/** A message as a source would make it; `body` is its text, or a value to print. */
export function message(body: unknown, metadata: Metadata = {}): Message {
  const payload = Payload.ofText(typeof body === 'string' ? body : JSON.stringify(body));
  return { payload, metadata, origin: { partition: 'test', sequence: sequence++, position: undefined, readAt: 0 } };
}
