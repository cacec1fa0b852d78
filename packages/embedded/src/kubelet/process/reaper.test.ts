import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { Reaper } from './reaper.ts';

/** A process that has registered, once this resolves. */
async function sleeper(reaper: Reaper): Promise<ChildProcess> {
  const child = spawn('/bin/sh', ['-c', 'echo "+$$" >&3 && exec 3>&- && echo up && exec sleep 60'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore', reaper.pipe],
  });
  if (child.stdout !== null) await once(child.stdout, 'data');
  return child;
}

const groupOf = ({ pid = 0 }: ChildProcess) => pid;

test('all groups are killed at the end, but not those that were gone before: their numbers are of others now', async () => {
  const reaper = new Reaper();
  const [first, removed, last] = [await sleeper(reaper), await sleeper(reaper), await sleeper(reaper)];
  reaper.remove(groupOf(removed));
  reaper.remove(4);
  const ended = Promise.all([once(first, 'exit'), once(last, 'exit')]);
  await reaper.close();
  expect(await ended).toEqual([
    [null, 'SIGKILL'],
    [null, 'SIGKILL'],
  ]);
  expect(removed.exitCode ?? removed.signalCode).toBeNull();
  removed.kill('SIGKILL');
});

test('a child that comes too late to tell its group does not run', async () => {
  const reaper = new Reaper();
  const late = spawn('/bin/sh', ['-c', 'read -r go; echo "+$$" >&3 && exec 3>&- && exec sleep 60'], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore', reaper.pipe],
  });
  await reaper.close();
  const ended = once(late, 'exit');
  late.stdin?.end('go\n');
  expect(await ended).toEqual([null, 'SIGPIPE']);
});
