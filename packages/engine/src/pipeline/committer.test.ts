import { expect, test } from 'vitest';
import { memoryLog } from '../../test/postgres/logs.ts';
import { VirtualClock } from '../testing/index.ts';
import { Committer } from './committer.ts';
import { Ledger } from './ledger.ts';

function committing(isPrompt: boolean) {
  const clock = new VirtualClock();
  const ledger = new Ledger();
  const commits: { readonly at: number; readonly sequence: number | undefined }[] = [];
  const startedAt = clock.monotonic();
  const committer = new Committer({
    source: {
      commit: async ([origin]) => void commits.push({ at: clock.monotonic() - startedAt, sequence: origin?.sequence }),
    },
    ledger,
    intervalMs: 1_000,
    isPrompt,
    clock,
    log: memoryLog().log,
    on: {},
  });
  const write = async (sequence: number) => {
    const origin = { partition: 'a', sequence, position: sequence, readAt: 0 };
    ledger.opened(origin, 1);
    ledger.settled(origin);
    committer.look();
    await clock.advance(400);
  };
  return { write, commits };
}

test('what becomes committable within the interval is committed together, at its end', async () => {
  const { write, commits } = committing(false);
  for (const sequence of [0, 1, 2, 3]) await write(sequence);
  expect(commits).toEqual([{ at: 1_000, sequence: 2 }]);
});

test('prompt: the first is committed at once, the next not before the interval is over', async () => {
  const { write, commits } = committing(true);
  for (const sequence of [0, 1, 2, 3]) await write(sequence);
  expect(commits).toEqual([
    { at: 0, sequence: 0 },
    { at: 1_000, sequence: 2 },
  ]);
});
