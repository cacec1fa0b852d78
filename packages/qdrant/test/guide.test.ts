import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const GUIDE = readFileSync(join(ROOT, '../../docs/qdrant.md'), 'utf8');

/** Of every kind that is acted on. */
const rulesInCode: string[] = [];
for await (const file of glob('src/**/rules.ts', { cwd: ROOT })) {
  const { rules }: { readonly rules: readonly { readonly name: string }[] } = await import(join(ROOT, file));
  rulesInCode.push(...rules.map(({ name }) => name));
}

test('the guide tells of every rule, and of no other, and why there is one', () => {
  const rows = [...GUIDE.matchAll(/^\| `([a-z]+(?:-[a-z]+){2,})` \| (.+) \|$/gm)];
  expect(rulesInCode.length).toBeGreaterThan(20);
  expect(rows.map(([, name = '']) => name).toSorted()).toEqual(rulesInCode.toSorted());
});
