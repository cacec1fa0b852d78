import { createApiServer } from '@polder/embedded';
import { describe, expect, test } from 'vitest';
import { Client, Pod } from '../src/index.ts';
import { freshNamespace, VERBS } from './verbs.ts';

describe('the client, on the embedded server,', () => {
  test.each(Object.entries(VERBS))('%s', async (_, promise) => {
    const server = createApiServer();
    const client = new Client({ transport: server.transport(), userAgent: 'polder/test' });
    await promise(client, await freshNamespace(client));
    expect.hasAssertions();
    server.close();
  });
});

test('logs come line by line, as long as they are followed', async () => {
  async function* written() {
    yield Buffer.from('first\nsec');
    yield Buffer.from('ond\n');
  }
  const server = createApiServer({ podLogs: async () => written() });
  const client = new Client({ transport: server.transport(), userAgent: 'polder/test' });
  const ref = { namespace: 'default', name: 'web' };
  await client.create(Pod, { metadata: ref, spec: { nodeName: 'n', containers: [{ name: 'web', image: 'w:1' }] } });
  const lines: string[] = [];
  for await (const line of client.logs(ref, { follow: true })) lines.push(line);
  expect(lines).toEqual(['first', 'second']);
  server.close();
});
