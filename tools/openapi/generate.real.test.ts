import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import { readApi } from './api.ts';
import { ApiServer } from './api-server.ts';
import { DEFINITIONS, generatedFiles } from './files.ts';
import { SERVED } from './served.ts';

const root = join(import.meta.dirname, '../..');
const server = await ApiServer.of(inject('kubeconfig'));
const files = generatedFiles(await readApi(server, SERVED));

afterAll(() => server.close());

test.each([...files])('%s is what a real server says today', (file, text) => {
  expect(readFileSync(join(root, file), 'utf8') === text).toBe(true);
});

test('no definitions are left over from an older version', () => {
  const found = globSync(`${DEFINITIONS}/*.json`, { cwd: root });
  expect(found.toSorted()).toEqual([...files.keys()].filter((file) => file.endsWith('.json')).toSorted());
});
