import { describe, expect, test } from 'vitest';
import { fieldsOf, objectsIn, variantsOf } from './declared.ts';
import { problemsOf } from './examples.ts';
import { type Page, pagesIn } from './page.ts';

const pages = pagesIn('connectors');
const sources = variantsOf('source');
const sinks = variantsOf('sink');

test('every connector has a page, and the index leads to it', () => {
  expect(pages.map(({ name }) => name)).toEqual(['README', ...sources.keys()].toSorted());
  expect([...sinks.keys()]).toEqual([...sources.keys()]);
  const [index] = pages;
  for (const type of sources.keys()) expect(index?.text).toContain(`[\`${type}\`](${type}.md)`);
});

/** The fields of a section; a row may name two, of which the second refers to a Secret. */
const fieldsIn = ({ fields }: Page, section: string) =>
  new Map(
    fields
      .filter((field) => field.section === section)
      .flatMap(({ names, default: value }) =>
        names.map((name, index) => [name, index === 0 && value !== '–' ? value : ''] as const),
      ),
  );

describe.each(pages.filter(({ name }) => name !== 'README'))('the page of $name', (page) => {
  const source = sources.get(page.name) ?? {};
  const sink = sinks.get(page.name) ?? {};
  const sections = [
    ['Source', source] as const,
    ['Sink', sink] as const,
    ...[source, sink].flatMap(objectsIn).map(([name, schema]) => [`\`${name}\``, schema] as const),
  ];

  test.each(sections)('names every field of %s, and no other, with its default', (section, schema) => {
    expect(fieldsIn(page, section)).toEqual(fieldsOf(schema));
  });

  test('has no other tables of fields', () => {
    const known = new Set<string>(sections.map(([section]) => section));
    expect(page.fields.filter(({ section }) => !known.has(section))).toEqual([]);
  });

  const manifests = page.fences.filter(({ text }) => text.startsWith('apiVersion:'));
  test('shows a whole flow', () => expect(manifests).not.toEqual([]));

  test.each(manifests)('shows a flow on line $line that there is nothing to say against', async ({ text }) => {
    expect(await problemsOf(text)).toEqual([]);
  });
});
