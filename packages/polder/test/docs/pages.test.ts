import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { examplesOf, outputOf } from './examples.ts';
import { DOCS, type Page, pageAt, pagesIn } from './page.ts';

const pages = [
  ...pagesIn('transformations'),
  ...pagesIn('connectors'),
  pageAt('processor.md'),
  pageAt('operator.md'),
  pageAt('qdrant-api.md'),
  pageAt('qdrant-metrics.md'),
];

test.each(pages.flatMap(examplesOf))('the example of $at does what it says', async (example) => {
  expect(await outputOf(example)).toEqual(example.output.text.split('\n'));
});

test.each(pages)('every link of $path leads somewhere', (page) => {
  for (const [, link = ''] of page.text.matchAll(/\]\(([^)]+)\)/g)) {
    const [file = '', heading] = link.split('#');
    const path = file === '' ? page.path : normalize(join(dirname(page.path), file));
    expect({ link, exists: existsSync(join(DOCS, path)) }).toEqual({ link, exists: true });
    if (heading !== undefined) expect(headingsOf(pageAt(path))).toContain(heading);
  }
});

/** As a link names them. */
const headingsOf = ({ text }: Page): readonly string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
