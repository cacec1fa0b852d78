import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseManifests, readManifests } from './read.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'polder-manifests-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const map = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;
const names = (manifests: readonly { readonly object: { readonly metadata: { readonly name: string } } }[]) =>
  manifests.map(({ object }) => object.metadata.name);

describe('manifests', () => {
  test('of a folder are read in the order of their names, other files left alone', async () => {
    writeFileSync(join(folder, '2.yaml'), map('c'));
    writeFileSync(join(folder, '1.yml'), `${map('a')}---\n${map('b')}`);
    writeFileSync(
      join(folder, '3.json'),
      JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'd' } }),
    );
    writeFileSync(join(folder, 'README.md'), '# no manifest');
    expect(names(await readManifests(folder))).toEqual(['a', 'b', 'c', 'd']);
  });

  test('in a List are taken one by one, and empty documents are nothing', () => {
    const list = 'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: a}}\n';
    expect(names(parseManifests(`---\n# nothing\n---\n${list}`, 'x.yaml'))).toEqual(['a']);
  });

  test.each([
    ['a: [', /^x\.yaml, line 1: /],
    [`${map('a')}---\nkind: [`, /^x\.yaml, line 5: /],
    [`${map('a')}---\nkind: Pod\nmetadata: {name: a}`, 'x.yaml, line 5: the manifest has no apiVersion'],
    ['apiVersion: v1\nmetadata: {name: a}', 'x.yaml, line 1: the manifest has no kind'],
    ['apiVersion: v1\nkind: Pod\nmetadata: {}', 'x.yaml, line 1: the manifest has no metadata.name'],
    ['just text', 'x.yaml, line 1: a manifest is an object with apiVersion, kind and metadata'],
  ])('that are wrong are told with their place: %j', (text, message) => {
    expect(() => parseManifests(text, 'x.yaml')).toThrow(message);
  });

  test('that are not there are told by their path', async () => {
    await expect(readManifests(join(folder, 'none'))).rejects.toThrow(
      `there is no file or folder ${join(folder, 'none')}`,
    );
    await expect(readManifests(folder)).rejects.toThrow(`the folder ${folder} has no manifests (.yaml, .yml, .json)`);
  });
});
