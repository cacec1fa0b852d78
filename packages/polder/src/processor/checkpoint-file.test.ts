import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CheckpointFile } from './checkpoint-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'polder-checkpoint-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('what was saved is there for the next process, beside what others saved', async () => {
  const path = join(folder, 'checkpoint.json');
  const store = new CheckpointFile(path);
  expect(await store.load('postgresql')).toBeUndefined();
  await store.save('postgresql', { lastReadOrderByValue: '7' });
  await store.save('nessie', { lastAckedSnapshotID: '8' });
  const later = new CheckpointFile(path);
  expect(await later.load('postgresql')).toEqual({ lastReadOrderByValue: '7' });
  expect(await later.load('nessie')).toEqual({ lastAckedSnapshotID: '8' });
  expect(readdirSync(folder)).toEqual(['checkpoint.json']);
});

test('a file that is something else is neither read nor overwritten', async () => {
  const path = join(folder, 'checkpoint.json');
  writeFileSync(path, '[1]');
  const store = new CheckpointFile(path);
  const message = `${path} is no checkpoint file; remove it to read from the beginning`;
  await expect(store.load('postgresql')).rejects.toThrow(message);
  await expect(store.save('postgresql', {})).rejects.toThrow(message);
});

test('a folder that is not there is named', async () => {
  const path = join(folder, 'missing', 'checkpoint.json');
  await expect(new CheckpointFile(path).save('postgresql', {})).rejects.toThrow(
    `cannot write the checkpoint ${path}: `,
  );
});
