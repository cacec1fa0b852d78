import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CHECKOUT } from '../program.ts';

const FOLDER = join(CHECKOUT, 'docs/checklists');
/** Below which of them a path is, the heading of the page says. */
const ROOTS = ['packages/dataflow', 'packages/engine/src', 'packages/polder', 'packages/polder/test/docs'];

const isThere = (path: string) =>
  ROOTS.some((root) => existsSync(join(CHECKOUT, root, path))) ||
  // The second of two files of one folder goes by its name alone.
  ROOTS.some((root) =>
    readdirSync(join(CHECKOUT, root), { recursive: true }).some((file) => String(file).endsWith(path)),
  );

test.each(readdirSync(FOLDER))('every file that %s names is there', (page) => {
  const text = readFileSync(join(FOLDER, page), 'utf8');
  const named = [...text.matchAll(/`([\w./-]+\.ts)`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((path) => !isThere(path))).toEqual([]);
});
