import { expect, test } from 'vitest';
import { checkpointOf, positionOf } from './position.ts';

const place = { branch: 'main', namespace: 'shop', table: 'orders' };
const position = { snapshotId: 6_076_682_766_480_940_483n, sequenceNumber: 7n };

test('a checkpoint brings back the position, through JSON', () => {
  const checkpoint: unknown = JSON.parse(JSON.stringify(checkpointOf(position, place)));
  expect(checkpoint).toEqual({
    lastAckedSnapshotID: '6076682766480940483',
    lastAckedSnapshotSequence: 7,
    branch: 'main',
    namespace: 'shop',
    table: 'orders',
  });
  expect(positionOf(checkpoint, place)).toEqual(position);
});

test('a number is a position, too; what is none starts anew; another branch is another place', () => {
  expect(positionOf({ lastAckedSnapshotID: 42 }, place)).toEqual({ snapshotId: 42n, sequenceNumber: 0n });
  for (const none of [undefined, null, 'x', {}, { lastAckedSnapshotID: 'x' }])
    expect(positionOf(none, place)).toBe(undefined);
  expect(positionOf(checkpointOf(position, { ...place, branch: 'dev' }), place)).toBe('elsewhere');
});
