import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CHECKOUT } from '../program.ts';

const FOLDER = join(CHECKOUT, 'docs/checklists');
/** Below which of them a path is, the heading of each page says. */
const ROOTS: Readonly<Record<string, readonly string[]>> = {
  'dataflow.md': ['packages/dataflow', 'packages/engine/src', 'packages/polder', 'packages/polder/test/docs'],
  'qdrant.md': ['packages/qdrant', 'packages/kube', 'packages/doubles'],
};

/** The files that a path can stand for. The second of two files of one folder goes by its name alone. */
function filesAt(page: string, path: string): readonly string[] {
  const roots = (ROOTS[page] ?? []).map((root) => join(CHECKOUT, root));
  const exact = roots.map((root) => join(root, path)).filter((file) => existsSync(file));
  if (exact.length > 0) return exact;
  return roots.flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith(path) && !file.includes('node_modules'))
      .map((file) => join(root, file)),
  );
}

/** `x.test.ts` ("one test", "another…"): each is the name of a test in it, or how it begins or goes on. */
function testsNamedIn(text: string): readonly { readonly path: string; readonly name: string }[] {
  return [...text.matchAll(/`([\w./-]+\.test\.ts)` \(([^)]*)\)/g)].flatMap(([, path = '', list = '']) =>
    [...list.matchAll(/"([^"]+?)…?"/g)].map(([, name = '']) => ({ path, name })),
  );
}

describe.each(readdirSync(FOLDER))('%s', (page) => {
  const text = readFileSync(join(FOLDER, page), 'utf8');

  test('names files that are there', () => {
    const named = [...text.matchAll(/`([\w./-]+\.ts)`/g)].map(([, path = '']) => path);
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((path) => filesAt(page, path).length === 0)).toEqual([]);
  });

  test('names tests that are there', () => {
    const isThere = ({ path, name }: { readonly path: string; readonly name: string }) =>
      filesAt(page, path).some((file) => readFileSync(file, 'utf8').includes(name));
    expect(testsNamedIn(text).filter((one) => !isThere(one))).toEqual([]);
  });
});
