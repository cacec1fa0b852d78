import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RaftRecord } from './disk.ts';
import { openFolders } from './folder-disk.ts';
import { EMPTY } from './state/index.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'disk-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = () => openFolders({ storage: join(folder, 'storage'), snapshots: join(folder, 'snapshots') });
const point = (id: number | bigint | string) => ({ id, vector: [1, 2], payload: { id } });

test('an empty folder is an empty disk', () => {
  const disk = open();
  expect([disk.peer, disk.raft, disk.shards, disk.snapshots.size]).toEqual([undefined, undefined, [], 0]);
});

test('everything is found again: id, log, points, snapshots', () => {
  const disk = open();
  const version = { index: 3, state: { ...EMPTY, peers: { '9007199254740993': 'http://a:6335/' } } };
  const raft: RaftRecord = {
    group: 'g',
    uri: 'http://a:6335/',
    term: 2,
    stored: version,
    applied: version,
    tail: [{ do: 'delete-collection', collection: 'a' }],
    isRemoved: false,
    isSpoiled: false,
  };
  disk.identify('9007199254740993');
  disk.writeRaft(raft);
  disk.putShard('1-0', new Map([['#1', point(1)]]));
  disk.write('1-0', { upsert: [point(2), point(2n ** 60n), point('5c56c793-69f3-4fbf-87e6-c4bf54c28c26')] });
  disk.write('1-0', { delete: [1] });
  disk.putShard('1-1', new Map());
  disk.putShard('1-2', new Map());
  disk.deleteShard('1-2');
  const file = { bytes: Buffer.from('bytes'), createdAt: 0, checksum: '' };
  disk.putSnapshot('a/shards/0/x.snapshot', file);
  disk.putSnapshot('a/y.snapshot', file);
  disk.deleteSnapshot('a/y.snapshot');

  const again = open();
  expect(again.peer).toBe('9007199254740993');
  expect(again.raft).toEqual(raft);
  expect(again.shards).toEqual(['1-0', '1-1']);
  expect(again.points('1-0')).toEqual(disk.points('1-0'));
  expect([...(again.points('1-0')?.keys() ?? [])]).toEqual([
    '#2',
    `#${2n ** 60n}`,
    '5c56c793-69f3-4fbf-87e6-c4bf54c28c26',
  ]);
  expect([...again.snapshots.keys()]).toEqual(['a/shards/0/x.snapshot']);
});

test('what a process was killed over is not read', () => {
  const disk = open();
  disk.putShard('1-0', new Map());
  disk.write('1-0', { upsert: [point(1)] });
  const [journal = ''] = readdirSync(join(folder, 'storage', 'shards'));
  appendFileSync(join(folder, 'storage', 'shards', journal), '{"upsert":[{"id":2,"ve');
  expect([...(open().points('1-0')?.keys() ?? [])]).toEqual(['#1']);
});
