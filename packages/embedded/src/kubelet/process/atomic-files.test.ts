import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '@polder/kube';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeFiles } from './atomic-files.ts';

const clock = new VirtualClock();
let volume: string;
beforeEach(() => {
  volume = join(mkdtempSync(join(tmpdir(), 'volume-')), 'v');
});
afterEach(() => rmSync(join(volume, '..'), { recursive: true }));

const files = (contents: Readonly<Record<string, string>>, mode = 0o644) =>
  new Map(Object.entries(contents).map(([path, text]) => [path, { bytes: Buffer.from(text), mode }]));

const read = (path: string) => readFileSync(join(volume, path), 'utf8');
const visible = () => readdirSync(volume).filter((name) => !name.startsWith('..'));

test('every name is a link through ..data, which is a link to a directory with a time', async () => {
  await writeFiles(volume, files({ a: '1', 'sub/b': '2' }), clock);
  expect(readlinkSync(join(volume, 'a'))).toBe('..data/a');
  expect(readlinkSync(join(volume, 'sub'))).toBe('..data/sub');
  expect(readlinkSync(join(volume, '..data'))).toMatch(/^\.\.2026_01_01_00_00_00\.\w{6}$/);
  expect([read('a'), read('sub/b')]).toEqual(['1', '2']);
});

test('only the owner can read, but what may be run may be run', async () => {
  await writeFiles(volume, new Map([...files({ secret: 's' }), ...files({ script: 's' }, 0o755)]), clock);
  expect(statSync(volume).mode & 0o777).toBe(0o700);
  expect(statSync(join(volume, 'secret')).mode & 0o777).toBe(0o600);
  expect(statSync(join(volume, 'script')).mode & 0o777).toBe(0o700);
});

test('nothing is written when nothing has changed', async () => {
  await writeFiles(volume, files({ a: '1' }), clock);
  const data = readlinkSync(join(volume, '..data'));
  const written = lstatSync(volume, { bigint: true }).mtimeNs;
  await writeFiles(volume, files({ a: '1' }), clock);
  expect(readlinkSync(join(volume, '..data'))).toBe(data);
  expect(lstatSync(volume, { bigint: true }).mtimeNs).toBe(written);
});

test.each([
  ['a content', files({ a: 'new', b: '2' })],
  ['a name less', files({ a: '1' })],
  ['a name more', files({ a: '1', b: '2', c: '3' })],
  ['a mode', files({ a: '1', b: '2' }, 0o400)],
])('%s changes: old files go with the old directory', async (_, changed) => {
  await writeFiles(volume, files({ a: '1', b: '2' }), clock);
  const data = readlinkSync(join(volume, '..data'));
  await writeFiles(volume, changed, clock);
  expect(readlinkSync(join(volume, '..data'))).not.toBe(data);
  expect(existsSync(join(volume, data))).toBe(false);
  expect(visible()).toEqual([...changed.keys()]);
});

test('a reader never sees files of two versions together', async () => {
  await writeFiles(volume, files({ a: '0', b: '0' }), clock);
  const writing = (async () => {
    for (let i = 1; i <= 50; i++) await writeFiles(volume, files({ a: `${i}`, b: `${i}` }), clock);
    return 'done';
  })();
  const look = async () => {
    const data = join(volume, readlinkSync(join(volume, '..data')));
    expect(readFileSync(join(data, 'a'), 'utf8')).toBe(readFileSync(join(data, 'b'), 'utf8'));
    return new Promise((resolve) => {
      setImmediate(resolve);
    });
  };
  while ((await Promise.race([writing, look()])) !== 'done');
  expect(read('a')).toBe('50');
});

test('an update that was interrupted is done again, and leaves nothing behind', async () => {
  await writeFiles(volume, files({ a: '1' }), clock);
  mkdirSync(join(volume, '..2020_01_01_00_00_00.abcdef'));
  symlinkSync('..2020_01_01_00_00_00.abcdef', join(volume, '..data_tmp'));
  await writeFiles(volume, files({ a: '2' }), clock);
  expect(read('a')).toBe('2');
  expect(readdirSync(volume)).toHaveLength(3);
});

test('whatever was there before, the volume holds the files and nothing else', async () => {
  const names = fc.constantFrom('a', 'b', 'c/d', 'c/e', 'f/g/h');
  const states = fc.array(fc.dictionary(names, fc.string()), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(states, async (sequence) => {
      for (const state of sequence) await writeFiles(volume, files(state), clock);
      const last = sequence.at(-1) ?? {};
      for (const [path, text] of Object.entries(last)) expect(read(path)).toBe(text);
      expect(new Set(visible())).toEqual(new Set(Object.keys(last).map((path) => path.split('/')[0])));
    }),
    { numRuns: 30 },
  );
});
