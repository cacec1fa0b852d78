/** The documents in front of the real reader: kubectl has to see in ours what it sees in a real server's. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { BUILTIN_KINDS } from '../builtin/index.ts';
import { groupDocument, index } from '../openapi/index.ts';
import { AGGREGATED, acceptsAggregated, aggregated, resourceList } from './index.ts';

const run = promisify(execFile);
const cache = mkdtempSync(join(tmpdir(), 'kubectl-'));
let server: Server;
let ours: readonly string[];

beforeAll(async () => {
  server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const isRoot = pathname === '/api' || pathname === '/apis';
    const isAggregated = isRoot && acceptsAggregated(request.headers.accept);
    const document = isAggregated ? aggregated(BUILTIN_KINDS, pathname) : openApi(pathname);
    response.statusCode = document ? 200 : 404;
    response.setHeader('content-type', isAggregated ? AGGREGATED : 'application/json');
    response.end(JSON.stringify(document ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('no port');
  ours = ['--server', `http://127.0.0.1:${address.port}`, '--kubeconfig', '/dev/null', '--cache-dir', cache];
});

afterAll(() => {
  server.close();
  rmSync(cache, { recursive: true });
});

function openApi(path: string) {
  return path === '/openapi/v3'
    ? index(BUILTIN_KINDS)
    : groupDocument(BUILTIN_KINDS, path.slice('/openapi/v3/'.length));
}

async function kubectl(...args: readonly string[]): Promise<string> {
  const { stdout } = await run(inject('kubectl'), args, {
    maxBuffer: 1 << 26,
    env: { KUBECONFIG: inject('kubeconfig'), HOME: cache },
  });
  return stdout;
}

test.each([
  ['pod.spec.containers'],
  ['pods', '--recursive'],
  ['deployment.spec.strategy'],
  ['statefulsets', '--recursive'],
  ['events', '--api-version=events.k8s.io/v1'],
  ['crd.spec.versions.schema'],
  ['hpa.spec.metrics'],
  ['lease.spec'],
])('kubectl explain %s says what it says of a real server', async (...args) => {
  expect(await kubectl('explain', ...args, ...ours)).toBe(await kubectl('explain', ...args));
});

const rows = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim());

test('kubectl api-resources lists our kinds as it lists those of a real server', async () => {
  const args = ['api-resources', '-o', 'wide', '--no-headers', '--sort-by', 'name'];
  const real = new Set(rows(await kubectl(...args)));
  const listed = rows(await kubectl(...args, ...ours));
  expect(listed).toHaveLength(BUILTIN_KINDS.length);
  expect(listed.filter((row) => !real.has(row))).toEqual([]);
});

test.each(['/api/v1', '/apis/apps/v1', '/apis/batch/v1', '/apis/policy/v1'])(
  'the resources of %s are those of a real server',
  async (path) => {
    const [group = '', version = ''] = path === '/api/v1' ? ['', 'v1'] : path.split('/').slice(2);
    const ours = resourceList(BUILTIN_KINDS, group, version)?.['resources'];
    const real: { readonly resources: readonly object[] } = JSON.parse(await kubectl('get', '--raw', path));
    const unhashed = real.resources.map((resource) => ({ ...resource, storageVersionHash: undefined }));
    expect(unhashed).toEqual(expect.arrayContaining(Array.isArray(ours) ? ours : [undefined]));
  },
);

test('kubectl dry-runs and validates on the server: it finds the parameters in our documents', async () => {
  const manifest = join(cache, 'cm.json');
  writeFileSync(
    manifest,
    JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'n' } }),
  );
  await expect(run(inject('kubectl'), ['create', '-v=6', '--dry-run=server', '-f', manifest, ...ours])).rejects.toThrow(
    'configmaps?dryRun=All&fieldManager=kubectl-create&fieldValidation=Strict',
  );
});
