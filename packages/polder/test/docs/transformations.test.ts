import { describe, expect, test } from 'vitest';
import { fieldsOf, variantsOf } from './declared.ts';
import { examplesOf } from './examples.ts';
import { pagesIn } from './page.ts';

const pages = pagesIn('transformations');
const types = variantsOf('transformations');

test('every transformation has a page, and the index leads to it', () => {
  expect(pages.map(({ name }) => name)).toEqual(['README', ...types.keys()].toSorted());
  const [index] = pages;
  for (const type of types.keys()) expect(index?.text).toContain(`[\`${type}\`](${type}.md)`);
});

describe.each(pages.filter(({ name }) => name !== 'README'))('the page of $name', (page) => {
  const { name, fields } = page;
  const declared = fieldsOf(types.get(name) ?? {});

  test('names every field there is, and no other, with its default', () => {
    const named = fields.map((field) => [field.names.join(), field.default] as const);
    expect(new Map(named.map(([field, value]) => [field, value === '–' ? '' : value]))).toEqual(declared);
    expect(named).toHaveLength(declared.size);
  });

  test('has an example', () => expect(examplesOf(page)).not.toEqual([]));
});
