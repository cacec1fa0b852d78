import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ProcessRecords } from './records.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orphans-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Every test has its own: seconds of a sleep that nobody else would sleep. */
const newMark = () => `${1000 + Math.floor(Math.random() * 1000)}.${process.pid}${process.hrtime.bigint() % 100_000n}`;

/** The processes with this mark on their command line. */
function marked(mark: string): readonly number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,stat=,args='], { encoding: 'utf8' }).split('\n');
  const found = lines.filter(
    (line) => line.includes(mark) && !line.includes('endless-runner') && !/^\s*\d+ Z/.test(line),
  );
  return found.map((line) => Number.parseInt(line, 10));
}

function endless(mark: string): ChildProcess {
  const program = join(import.meta.dirname, 'testdata', 'endless-runner.ts');
  return spawn(process.execPath, [program, folder, mark], { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Waits until the program has said so many lines. */
async function lines({ stdout }: ChildProcess, count: number): Promise<void> {
  if (stdout === null) throw new Error('no output');
  let seen = 0;
  for await (const _ of createInterface(stdout)) if (++seen === count) return;
  throw new Error(`the program ended after ${seen} lines`);
}

/** Undefined if there is none at this moment. */
function reaperOf(parent: ChildProcess): number | undefined {
  const list = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  const line = list.find((one) => one.includes(` ${parent.pid} `) && one.includes('read -r line'));
  return line === undefined ? undefined : Number.parseInt(line, 10);
}

function killReaper(parent: ChildProcess): number {
  const reaper = reaperOf(parent);
  if (reaper === undefined) throw new Error('there is no reaper');
  process.kill(reaper, 'SIGKILL');
  return reaper;
}

async function killed(parent: ChildProcess): Promise<void> {
  parent.kill('SIGKILL');
  await once(parent, 'exit');
}

async function nothingIsLeft(mark: string): Promise<void> {
  await expect.poll(() => marked(mark), { timeout: 10_000 }).toEqual([]);
}

test('whenever the program is killed, none of its processes is left', { timeout: 60_000 }, async () => {
  for (const count of [1, 2, 3, 5, 8]) {
    const mark = newMark();
    const parent = endless(mark);
    await lines(parent, count);
    expect(marked(mark)).not.toEqual([]);
    await killed(parent);
    await nothingIsLeft(mark);
  }
});

test('not even if the reaper had been killed before', { timeout: 30_000 }, async () => {
  const mark = newMark();
  const parent = endless(mark);
  await lines(parent, 2);
  const first = killReaper(parent);
  await expect.poll(() => reaperOf(parent) ?? first, { timeout: 10_000 }).not.toBe(first);
  await killed(parent);
  await nothingIsLeft(mark);
});

test('what a program left that died together with its reaper ends at the next start', { timeout: 30_000 }, async () => {
  const mark = newMark();
  const parent = endless(mark);
  await lines(parent, 4);
  parent.kill('SIGSTOP');
  killReaper(parent);
  await killed(parent);
  const left = marked(mark);
  expect(left).not.toEqual([]);
  new ProcessRecords(join(folder, 'processes')).killLeftovers();
  await nothingIsLeft(mark);
  expect(readdirSync(join(folder, 'processes'))).toEqual([]);
});

test('processes of a program that lives are left alone, and so is whoever got the number of an old one', () => {
  const sleeper = spawn('sleep', ['60'], { detached: true });
  const { pid = 0 } = sleeper;
  const records = new ProcessRecords(folder);
  records.add(pid);
  expect(records.killLeftovers()).toEqual([]);
  expect(readdirSync(folder)).toEqual([`${pid}.json`]);

  const [other, dead] = [
    { pid, started: 'at another time' },
    { pid: 1, started: 'long ago' },
  ];
  writeFileSync(join(folder, `${pid}.json`), JSON.stringify({ ...other, owner: dead }));
  writeFileSync(join(folder, '7.json'), '{ "pid": 7');
  expect(records.killLeftovers()).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
  expect(sleeper.exitCode ?? sleeper.signalCode).toBeNull();
  sleeper.kill('SIGKILL');
});
