import { expect, test } from 'vitest';
import { stepTo } from './step.ts';

const position = { snapshotId: 1n, sequenceNumber: 5n };
const step = (operation: string, sequenceNumber: bigint) =>
  stepTo({ id: 9n, sequenceNumber, operation }, position, 'shop.orders');

test('an append is read, a compaction is passed over, a deletion is refused with what to do', () => {
  expect(step('append', 6n)).toEqual({ do: 'read', after: 5n });
  expect(step('replace', 6n)).toEqual({ do: 'pass' });
  for (const operation of ['delete', 'overwrite'])
    expect(step(operation, 6n)).toEqual({
      do: 'refuse',
      because: expect.stringContaining(`is of the operation ${operation}: it changed or deleted rows`),
    });
});

test('what came with a merged branch is read, compactions among it too, and a warning says so', () => {
  for (const operation of ['append', 'replace'])
    expect(step(operation, 8n)).toEqual({
      do: 'read',
      after: 5n,
      warning: expect.stringContaining('a branch was merged in'),
    });
});

test('a table that was set back has nothing new, and what comes then is read', () => {
  expect(step('append', 3n)).toMatchObject({ do: 'pass', warning: expect.stringContaining('set back') });
  const back = { snapshotId: 9n, sequenceNumber: 3n };
  expect(stepTo({ id: 10n, sequenceNumber: 4n, operation: 'append' }, back, 't')).toEqual({ do: 'read', after: 3n });
});
