import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { Client, kubeconfig, socketTransport } from '../src/index.ts';
import { freshNamespace, VERBS } from './verbs.ts';

let client: Client;
beforeAll(async () => {
  client = new Client({
    transport: socketTransport(await kubeconfig([inject('kubeconfig')])),
    userAgent: 'polder/test',
  });
});
afterAll(() => client.close());

describe('the client, on a real server,', () => {
  test.each(Object.entries(VERBS))('%s', async (_, promise) => {
    await promise(client, await freshNamespace(client));
    expect.hasAssertions();
  });
});
