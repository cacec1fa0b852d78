import type { ErrorType, Failure, Message } from '../../message.ts';
import type { Outgoing } from './partitioning.ts';
import type { Fate } from './produced.ts';
import type { Trouble } from './trouble.ts';

/** Refusals that one message of a batch brings upon all of it. */
const FOR_ONE_MESSAGE = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD', 'INVALID_TIMESTAMP']);

/** What is still to be written of a partition once the fate of its first batch is known. What is not, goes to the failures. */
export function afterwards(
  batches: readonly Outgoing[][],
  fate: Fate,
  trouble: Trouble,
  failures: Failure[],
): Outgoing[][] {
  const [first = [], ...rest] = batches;
  if (fate.is === 'written') return rest;
  const isForOne = fate.is === 'refused' && FOR_ONE_MESSAGE.has(fate.code);
  if (isForOne && first.length > 1) {
    const half = Math.ceil(first.length / 2);
    return [first.slice(0, half), first.slice(half), ...rest];
  }
  if (isForOne) {
    failures.push(...first.map(({ message, bytes }) => refusal(message, fate.code, fate.because, bytes)));
    return rest;
  }
  const failure = fate.is === 'unknown' ? trouble : { ...trouble, ...refusalOf(fate.code, fate.because) };
  // A batch that nothing is known of may be tried again whatever befell others, and so may all that a broker refused for a
  // reason that passes: a leader that moved, replicas that are missing, a producer that it has forgotten.
  const isRetryable = failure.type !== 'auth_error';
  // Also what was not tried: written after what is tried again, it would overtake it.
  for (const { message } of [first, ...rest].flat()) failures.push({ message, ...failure, isRetryable });
  return [];
}

function refusalOf(code: string, said: string): Pick<Failure, 'because' | 'type'> {
  const type: ErrorType = code.endsWith('AUTHORIZATION_FAILED') ? 'auth_error' : 'transient';
  return { type, because: `the broker refused the messages (${code}${said === '' ? '' : `: ${said}`})` };
}

function refusal(message: Message, code: string, said: string, bytes: number): Failure {
  const isTooLarge = code.endsWith('TOO_LARGE');
  const because = isTooLarge
    ? `the message is too large for the topic (about ${bytes} bytes; see max.message.bytes)`
    : `the broker refused the message (${code}${said === '' ? '' : `: ${said}`})`;
  const type: ErrorType = 'invalid_data';
  return { message, because, type, isRetryable: false };
}
