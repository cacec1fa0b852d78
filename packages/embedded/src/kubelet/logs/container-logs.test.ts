import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '@polder/kube';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ContainerLogs } from './container-logs.ts';
import type { LogReading } from './log-reader.ts';
import type { LogLimits } from './log-writer.ts';

const everything: LogReading = {
  follow: false,
  timestamps: false,
  tailLines: undefined,
  since: undefined,
  limitBytes: undefined,
  signal: undefined,
};

let directory: string;
let clock: VirtualClock;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'logs-'));
  clock = new VirtualClock();
});
afterEach(() => rmSync(directory, { recursive: true }));

const bytes = (text: string) => Buffer.from(text);

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all).toString();
}

async function logged(pieces: readonly string[], limits?: LogLimits) {
  const logs = new ContainerLogs(clock, limits);
  logs.begin(directory, 0);
  for (const piece of pieces) await logs.write(directory, 0, 'stdout', bytes(piece));
  await logs.end(directory, 0);
  return logs;
}

describe('writing', () => {
  test('lines have time and stream, as container runtimes write them', async () => {
    const logs = new ContainerLogs(clock);
    logs.begin(directory, 0);
    await logs.write(directory, 0, 'stdout', bytes('one\ntw'));
    await clock.advance(1500);
    await logs.write(directory, 0, 'stderr', bytes('oops\n'));
    await logs.write(directory, 0, 'stdout', bytes('o\nend'));
    await logs.end(directory, 0);
    expect(readFileSync(join(directory, '0.log'), 'utf8').split('\n')).toEqual([
      '2026-01-01T00:00:00.000000000Z stdout F one',
      '2026-01-01T00:00:01.500000000Z stderr F oops',
      '2026-01-01T00:00:01.500000000Z stdout F two',
      '2026-01-01T00:00:01.500000000Z stdout P end',
      '',
    ]);
    expect(statSync(join(directory, '0.log')).mode & 0o777).toBe(0o600);
  });

  test('what is read is what was written, however it was cut into pieces and files', async () => {
    const texts = fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '\n', ' ', '\r') }), { maxLength: 20 });
    const limits = fc.record({ maxBytes: fc.integer({ min: 1, max: 500 }), maxFiles: fc.constant(1000) });
    await fc.assert(
      fc.asyncProperty(texts, limits, async (pieces, limit) => {
        rmSync(directory, { recursive: true });
        const logs = await logged(pieces, limit);
        expect(await textOf(logs.read(directory, 0, everything))).toBe(pieces.join(''));
      }),
      { numRuns: 50 },
    );
  });

  test('a line without end is written in parts, and comes back whole', async () => {
    const long = 'x'.repeat(100_000);
    const logs = await logged([long, long, '\nnext\n']);
    expect(await textOf(logs.read(directory, 0, everything))).toBe(`${long}${long}\nnext\n`);
    const lines = readFileSync(join(directory, '0.log'), 'utf8').split('\n');
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(17 * 1024);
    const stamped = await textOf(logs.read(directory, 0, { ...everything, timestamps: true }));
    expect(stamped.match(/2026-/g)).toHaveLength(2);
  });

  test('a full file is put aside, and the oldest goes', async () => {
    const lines = Array.from({ length: 100 }, (_, i) => `line ${i}\n`);
    const logs = await logged(lines, { maxBytes: 500, maxFiles: 3 });
    const files = readdirSync(directory);
    expect(files).toHaveLength(3);
    for (const file of files) expect(statSync(join(directory, file)).size).toBeLessThan(550);
    const kept = await textOf(logs.read(directory, 0, everything));
    expect(kept.split('\n').at(-2)).toBe('line 99');
    expect(lines.join('').endsWith(kept)).toBe(true);
  });

  test('the run before is kept, older ones are not', async () => {
    const logs = new ContainerLogs(clock, { maxBytes: 1, maxFiles: 2 });
    for (const run of [0, 1, 2]) {
      logs.begin(directory, run);
      await logs.write(directory, run, 'stdout', bytes(`run ${run}\n`));
      await logs.end(directory, run);
    }
    expect(logs.runs(directory)).toEqual([1, 2]);
    expect(readdirSync(directory).toSorted()).toEqual(['1.log', '1.log.1', '2.log', '2.log.1']);
  });
});

describe('reading', () => {
  test('the last lines, across files and blocks', async () => {
    const lines = Array.from({ length: 3000 }, (_, i) => `line ${i} ${'.'.repeat(i % 90)}\n`);
    const logs = await logged(lines, { maxBytes: 100_000, maxFiles: 5 });
    for (const tailLines of [0, 1, 2, 700, 1500, 2999, 3000, 9999]) {
      const tail = await textOf(logs.read(directory, 0, { ...everything, tailLines }));
      expect(tail).toBe(lines.slice(Math.max(0, 3000 - tailLines)).join(''));
    }
  });

  test('only so many bytes', async () => {
    const logs = await logged(['one\ntwo\n']);
    expect(await textOf(logs.read(directory, 0, { ...everything, limitBytes: 5 }))).toBe('one\nt');
    expect(await textOf(logs.read(directory, 0, { ...everything, limitBytes: 500 }))).toBe('one\ntwo\n');
  });

  test('nothing older than asked for', async () => {
    const logs = new ContainerLogs(clock);
    logs.begin(directory, 0);
    await logs.write(directory, 0, 'stdout', bytes('old\n'));
    await clock.advance(5000);
    await logs.write(directory, 0, 'stdout', bytes('new\n'));
    await logs.end(directory, 0);
    expect(await textOf(logs.read(directory, 0, { ...everything, since: clock.now() - 1000 }))).toBe('new\n');
  });

  test('the half of a line that a crash left is not shown', async () => {
    const logs = await logged(['one\n']);
    const path = join(directory, '0.log');
    writeFileSync(path, `${readFileSync(path, 'utf8')}2026-01-01T00:00:00.0000`);
    expect(await textOf(logs.read(directory, 0, everything))).toBe('one\n');
  });
});

describe('following', () => {
  test('goes on through new files until the container ends', async () => {
    const logs = new ContainerLogs(clock, { maxBytes: 300, maxFiles: 5 });
    logs.begin(directory, 0);
    await logs.write(directory, 0, 'stdout', bytes('first\n'));
    const reader = logs.read(directory, 0, { ...everything, follow: true });
    const next = async () => Buffer.from((await reader.next()).value ?? '').toString();
    expect(await next()).toBe('first\n');
    for (let i = 0; i < 20; i++) {
      const waiting = next();
      await logs.write(directory, 0, 'stdout', bytes(`line ${i}\n`));
      expect(await waiting).toBe(`line ${i}\n`);
    }
    const end = reader.next();
    await logs.end(directory, 0);
    expect(await end).toEqual({ done: true, value: undefined });
  });

  test('loses nothing that is written while it reads', async () => {
    const logs = new ContainerLogs(clock, { maxBytes: 80, maxFiles: 1000 });
    logs.begin(directory, 0);
    const lines = Array.from({ length: 300 }, (_, i) => `line ${i}\n`);
    const reading = textOf(logs.read(directory, 0, { ...everything, follow: true }));
    for (const line of lines) await logs.write(directory, 0, 'stdout', bytes(line));
    await logs.end(directory, 0);
    expect(await reading).toBe(lines.join(''));
  });

  test('ends when the reader leaves', async () => {
    const logs = new ContainerLogs(clock);
    logs.begin(directory, 0);
    const leaving = new AbortController();
    const reading = textOf(logs.read(directory, 0, { ...everything, follow: true, signal: leaving.signal }));
    leaving.abort();
    expect(await reading).toBe('');
    await logs.end(directory, 0);
  });

  test('a reader that does not read costs no memory, and the container goes on', async () => {
    const logs = new ContainerLogs(clock, { maxBytes: 1_000_000, maxFiles: 3 });
    logs.begin(directory, 0);
    const reader = logs.read(directory, 0, { ...everything, follow: true });
    const piece = Buffer.from(`${'x'.repeat(99)}\n`.repeat(600));
    await logs.write(directory, 0, 'stdout', piece);
    await reader.next();
    for (let i = 0; i < 1000; i++) await logs.write(directory, 0, 'stdout', piece);
    await logs.end(directory, 0);
    // What was kept for it is what it gets now: of 60 MB, what the files hold.
    let size = 0;
    for await (const { length } of reader) size += length;
    expect(size).toBeLessThan(3_000_000);
  });
});
