import { expect, test } from 'vitest';
import type { Failure } from '../../message.ts';
import { Payload } from '../../payload.ts';
import { afterwards } from './aftermath.ts';
import { type Outgoing, outgoing } from './partitioning.ts';
import type { Fate } from './produced.ts';
import type { Trouble } from './trouble.ts';

const sent = (...sequences: readonly number[]): Outgoing[] =>
  sequences.map((sequence) =>
    outgoing({
      payload: Payload.ofText('x'),
      metadata: {},
      origin: { partition: 'p', sequence, position: sequence, readAt: 0 },
    }),
  );

const away: Trouble = { because: 'kafka k:9092: Connection closed', type: 'connection_error', isRetryable: true };

function after(batches: readonly Outgoing[][], fate: Fate, trouble = away) {
  const failures: Failure[] = [];
  const rest = afterwards(batches, fate, trouble, failures);
  return {
    rest: rest.map((batch) => batch.map(({ message }) => message.origin.sequence)),
    failed: failures.map(({ message, isRetryable }) => [message.origin.sequence, isRetryable]),
    types: new Set(failures.map(({ type }) => type)),
  };
}

test('what is written is done, and the next batch goes', () => {
  expect(after([sent(1, 2), sent(3)], { is: 'written' })).toMatchObject({ rest: [[3]], failed: [] });
});

test('a message that a broker does not take is looked for by halves, and fails alone', () => {
  const tooLarge: Fate = { is: 'refused', code: 'MESSAGE_TOO_LARGE', because: '' };
  expect(after([sent(1, 2, 3), sent(4)], tooLarge)).toMatchObject({ rest: [[1, 2], [3], [4]], failed: [] });
  expect(after([sent(3), sent(4)], tooLarge)).toMatchObject({ rest: [[4]], failed: [[3, false]] });
});

test('where nothing is known, all that is left of the partition may be tried again, in order', () => {
  expect(after([sent(1, 2), sent(3)], { is: 'unknown' })).toMatchObject({
    rest: [],
    failed: [
      [1, true],
      [2, true],
      [3, true],
    ],
  });
});

test('a partition is not given up on because of what another one met', () => {
  const others: Trouble = { because: 'MESSAGE_TOO_LARGE', type: 'unknown', isRetryable: false };
  expect(after([sent(1)], { is: 'unknown' }, others).failed).toEqual([[1, true]]);
});

test.for(['NOT_LEADER_OR_FOLLOWER', 'NOT_ENOUGH_REPLICAS', 'OUT_OF_ORDER_SEQUENCE_NUMBER', 'UNKNOWN_PRODUCER_ID'])(
  '%s passes',
  (code) => {
    const { failed, types } = after([sent(1)], { is: 'refused', code, because: '' });
    expect(failed).toEqual([[1, true]]);
    expect(types).toEqual(new Set(['transient']));
  },
);

test('a user who may not write does not get to by trying again', () => {
  const { failed, types } = after([sent(1)], { is: 'refused', code: 'TOPIC_AUTHORIZATION_FAILED', because: '' });
  expect(failed).toEqual([[1, false]]);
  expect(types).toEqual(new Set(['auth_error']));
});
