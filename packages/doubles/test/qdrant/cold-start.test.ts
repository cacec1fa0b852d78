import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openFolders } from '../../qdrant/src/index.ts';
import { numbersTo, World } from './world.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'qdrant-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Peers on folders; another world with the same ones is another run of the program that they lived in. */
const worldOf = (seed: number) =>
  new World(seed, (at) => openFolders({ storage: join(folder, `${at}`), snapshots: join(folder, `${at}-snapshots`) }));

test('a cluster goes on where it was after everything was killed, in whatever order its peers start', async () => {
  const before = worldOf(1);
  for (const at of [0, 1, 2]) await before.start(at);
  await before.rest();
  await before.create(0, 'a', { shard_number: 3, replication_factor: 2 });
  await before.rest(1_000);
  await before.upsert(1, 'a', numbersTo(60));
  await before.ask(2, 'POST', '/collections/a/snapshots');
  const ids = [0, 1, 2].map((at) => before.id(at));
  // Agreed on by those that live; the third hears of it only in its next life.
  before.kill(0);
  await before.rest();
  await before.create(1, 'b', { shard_number: 1 });

  const after = worldOf(2);
  await after.start(0);
  await after.rest();
  expect(await after.get(0, '/collections')).toEqual({ collections: [{ name: 'a' }] });
  for (const at of [2, 1]) await after.start(at);
  await after.rest();
  await after.until(() => after.isHealed(0, 1, 2));
  expect([0, 1, 2].map((at) => after.id(at))).toEqual(ids);
  for (const at of [0, 1, 2]) {
    expect(await after.get(at, '/collections')).toEqual({ collections: [{ name: 'a' }, { name: 'b' }] });
    expect(await after.numbers(at, 'a')).toEqual(numbersTo(60));
  }
  expect((await after.ask(2, 'GET', '/collections/a/snapshots')).result).toHaveLength(1);
});
