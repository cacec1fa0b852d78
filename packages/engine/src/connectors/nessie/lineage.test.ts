import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TableState } from './history.ts';
import { lineageOf } from './lineage.ts';

const state = (snapshotId: bigint | undefined, commit = String(snapshotId)): TableState => ({
  commit,
  snapshotId,
  contentId: 'c',
});

async function* newestFirst(...states: readonly TableState[]): AsyncGenerator<TableState> {
  yield* states;
}

const idsOf = async (history: AsyncIterable<TableState>, last?: bigint, start?: bigint) => {
  const { since, newer } = await lineageOf(history, last, start);
  return { since: since?.snapshotId, newer: newer.map(({ snapshotId }) => snapshotId) };
};

test('what came after the last snapshot is read in the order in which it came', async () => {
  const history = newestFirst(state(5n), state(4n), state(3n), state(2n), state(undefined));
  expect(await idsOf(history, 3n)).toEqual({ since: 3n, newer: [4n, 5n] });
});

test('commits that changed no rows are passed over', async () => {
  const history = newestFirst(state(4n, 'b'), state(4n, 'a'), state(3n, 'y'), state(3n, 'x'), state(undefined));
  expect(await idsOf(history, 3n)).toEqual({ since: 3n, newer: [4n] });
});

test('a lineage that is broken goes on from startSnapshotID, or says that there is none', async () => {
  const history = () => newestFirst(state(5n), state(4n), state(3n));
  expect(await idsOf(history(), 99n, 4n)).toEqual({ since: 4n, newer: [5n] });
  expect(await idsOf(history(), 99n)).toEqual({ since: undefined, newer: [] });
  expect(await idsOf(history(), undefined, 98n)).toEqual({ since: undefined, newer: [] });
});

test('the checkpoint counts before startSnapshotID, wherever the two are', async () => {
  const history = () => newestFirst(state(5n), state(4n), state(3n));
  expect(await idsOf(history(), 3n, 5n)).toEqual({ since: 3n, newer: [4n, 5n] });
  expect(await idsOf(history(), 5n, 3n)).toEqual({ since: 5n, newer: [] });
});

test('history is walked no further than needed', async () => {
  let walked = 0;
  async function* long(): AsyncGenerator<TableState> {
    for (let id = 1000n; id > 0n; id--) {
      walked++;
      yield state(id);
    }
  }
  await idsOf(long(), 998n);
  expect(walked).toBe(3);
});

test('whatever the history, every snapshot after the last one comes once, in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 30 }), fc.nat(), async (isNew, pick) => {
      // A commit either adds a snapshot or repeats the one before.
      let id = 1n;
      const states = isNew.map((adds, at) => state(adds ? ++id : id, `c${at}`));
      const ids = [...new Set(states.map(({ snapshotId }) => snapshotId))];
      const last = ids[pick % ids.length];
      const found = await idsOf(newestFirst(...states.toReversed()), last);
      expect(found).toEqual({ since: last, newer: ids.slice((pick % ids.length) + 1) });
    }),
  );
});
