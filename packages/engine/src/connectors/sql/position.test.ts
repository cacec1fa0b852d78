import { expect, test } from 'vitest';
import { checkpointOf, positionOf } from './position.ts';

test('a checkpoint brings a position back, to the last digit', () => {
  const orders = ['1', '-5', '9007199254740993', '007', '', '0.10', 'a b', '3f0c0a52-5b5b-4b0e-9d5c-0d8a3f4f6b11'];
  for (const order of orders) {
    const text = JSON.stringify(checkpointOf({ change: '2026-01-31 08:00:00.123456+00', order }));
    expect(positionOf(JSON.parse(text))).toEqual({ change: '2026-01-31T08:00:00.123456Z', order });
  }
});

test('checkpoints have the names that have always been used, and the older ones are understood', () => {
  expect(checkpointOf({ change: '2026-01-31 08:00:00+00', order: '7' })).toEqual({
    lastReadChangeTime: '2026-01-31T08:00:00Z',
    lastReadOrderByValue: 7,
  });
  expect(positionOf({ lastReadTime: '2026-01-31T08:00:00Z', lastReadID: 7 })).toEqual({
    change: '2026-01-31T08:00:00Z',
    order: '7',
  });
  expect(positionOf({ lastReadID: 7 })).toEqual({ change: undefined, order: '7' });
  for (const nothing of [undefined, null, {}, 'x', { lastReadID: null }]) expect(positionOf(nothing)).toBeUndefined();
});
