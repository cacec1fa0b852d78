import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const GUIDE = readFileSync(join(ROOT, '../../docs/qdrant.md'), 'utf8');

/** The names of the rules of every kind that is acted on. */
async function rulesInCode(): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const file of glob('src/**/rules.ts', { cwd: ROOT })) {
    const { rules }: { readonly rules: readonly { readonly name: string }[] } = await import(join(ROOT, file));
    names.push(...rules.map(({ name }) => name));
  }
  return names;
}

test('the guide tells of every rule, and of no other, and why there is one', async () => {
  const rows = [...GUIDE.matchAll(/^\| `([a-z]+(?:-[a-z]+){2,})` \| (.+) \|$/gm)];
  const names = await rulesInCode();
  expect(names.length).toBeGreaterThan(20);
  expect(rows.map(([, name]) => name).toSorted()).toEqual(names.toSorted());
});
