import { createApiServer } from '@polder/embedded/apiserver';
import { Client, silentLogger, systemClock, VirtualClock } from '@polder/kube';
import { qdrantApi } from '@polder/qdrant';
import { kinds, QdrantCollectionBackup } from '@polder/qdrant/kinds';
import { endpoints } from '@polder/qdrant/rest';
import { expect, test } from 'vitest';
import { installCrds } from '../../src/crds.ts';
import { type Fence, pageAt } from './page.ts';

const page = pageAt('qdrant-api.md');

/** A request, and the answer that is shown below it. */
interface Example {
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly answer: Fence | undefined;
}

const examples = page.fences.flatMap((fence, index): readonly Example[] => {
  if (fence.language !== 'http') return [];
  const [head = '', body = ''] = fence.text.split('\n\n');
  const [request = '', ...headers] = head.split('\n');
  const [method = '', path = ''] = request.split(' ');
  const pairs = headers.map((line) => line.split(': '));
  const answer = page.fences[index + 1];
  return [{ at: `line ${fence.line}: ${request}`, method, path, headers: Object.fromEntries(pairs), body, answer }];
});

/** At noon of the day of the examples. */
const clock = new VirtualClock(Date.parse('2026-03-01T12:00:00Z'));
const client = new Client({ transport: createApiServer({ clock }).transport(), userAgent: 'docs' });
await installCrds(kinds, { client, clock: systemClock, signal: new AbortController().signal });
const app = qdrantApi({ client, token: 'TOKEN', clock, log: silentLogger, timeoutMs: 10_000 });

/** The operator's part: the examples go on where a backup was made in the night before. */
async function backUp(): Promise<void> {
  const ref = { namespace: 'default', name: 'products' };
  const bucket = { s3EndpointURL: 'https://s3.example.com', s3CredentialsSecretName: 'bucket', bucketName: 'backups' };
  const snapshots = { ...bucket, backupSchedule: '0 2 * * *' };
  const spec = { cluster: 'vectors', collectionName: 'products', snapshots };
  await client.create(QdrantCollectionBackup, { metadata: ref, spec });
  const lastBackup = { generation: 1, id: 'vectors/products/2026-03-01-02-00', time: '2026-03-01T02:05:00Z' };
  const body = { status: { lastBackup } };
  await client.patch(QdrantCollectionBackup, ref, { type: 'merge', body }, { subresource: 'status' });
}
await backUp();

test.each(examples)('$at is answered as it is shown', async ({ method, path, headers, body, answer }) => {
  const response = await app.request(path, { method, headers, ...(body !== '' && { body }) });
  expect(String(response.status)).toBe(answer?.role);
  const told: unknown = await response.json();
  expect(told).toEqual(JSON.parse(answer?.text ?? ''));
});

test('there is an example for every endpoint', () => {
  const shown = examples.map(({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`);
  for (const { method, path } of endpoints) {
    const pattern = new RegExp(`^${method} /api/v1${path.replace(':name', '[a-z-]+')}$`);
    expect(shown.filter((one) => pattern.test(one))).not.toEqual([]);
  }
});
