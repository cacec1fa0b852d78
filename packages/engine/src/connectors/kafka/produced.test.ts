import { MultipleErrors, NetworkError, ResponseError } from '@platformatic/kafka';
import { expect, test } from 'vitest';
import { fatesIn } from './produced.ts';

const PRODUCE = 0;

/** The error of an answer in which each partition has a code. */
function answer(codes: Readonly<Record<number, number>>): ResponseError {
  const partitionResponses = Object.entries(codes).map(([index, errorCode]) => ({
    index: Number(index),
    errorCode,
    errorMessage: null,
  }));
  const errors = Object.entries(codes).filter(([, code]) => code !== 0);
  return new ResponseError(PRODUCE, 11, Object.fromEntries(errors.map(([index, code]) => [index, [code, null]])), {
    responses: [{ name: 't', partitionResponses }],
  });
}

test('each partition of a refused request has its own fate', () => {
  const fateOf = fatesIn(answer({ 0: 0, 1: 10, 2: 46 }));
  expect(fateOf(0)).toEqual({ is: 'written' });
  expect(fateOf(1)).toMatchObject({ is: 'refused', code: 'MESSAGE_TOO_LARGE' });
  // It was sent before and the answer got lost.
  expect(fateOf(2)).toEqual({ is: 'written' });
  expect(fateOf(3)).toEqual({ is: 'unknown' });
});

test('what one attempt has written stays written, whatever the next one met', () => {
  const lost = new NetworkError('Connection closed');
  const fateOf = fatesIn(new MultipleErrors('produce failed 2 times.', [answer({ 0: 0, 1: 6 }), lost]));
  expect([0, 1].map((partition) => fateOf(partition).is)).toEqual(['written', 'refused']);
});

test('brokers that took everything are among the results', () => {
  const produced = { offsets: [{ topic: 't', partition: 4, offset: 17n }] };
  const error = new MultipleErrors('Producing messages failed.', [answer({ 0: 6 })], { produced });
  expect([0, 4, 5].map((partition) => fatesIn(error)(partition).is)).toEqual(['refused', 'written', 'unknown']);
});

test('without any answer nothing is known', () => {
  expect(fatesIn(new NetworkError('Connection closed'))(0)).toEqual({ is: 'unknown' });
  expect(fatesIn(undefined)(0)).toEqual({ is: 'unknown' });
});
