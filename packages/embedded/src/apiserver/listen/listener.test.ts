import { systemClock } from '@polder/kube';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiServer, createApiServer } from '../api-server.ts';
import type { Listener } from './listener.ts';

describe('a server on a socket', () => {
  let server: ApiServer;
  let listener: Listener;
  let dispatcher: Agent;

  beforeAll(async () => {
    server = createApiServer({ clock: systemClock, random: Math.random });
    listener = await server.listen();
    dispatcher = new Agent({ connect: { ca: listener.ca } });
  });

  afterAll(async () => {
    await dispatcher.destroy();
    await listener.close();
    server.close();
  });

  const call = (path: string, options: Parameters<typeof request>[1] = {}) =>
    request(`${listener.url}${path}`, {
      dispatcher,
      headers: { authorization: `Bearer ${listener.token}` },
      ...options,
    });

  it('is reached over TLS with the certificate authority and token of its kubeconfig', async () => {
    const created = await call('/api/v1/namespaces/default/configmaps', {
      method: 'POST',
      body: JSON.stringify({ metadata: { name: 'a' } }),
    });
    expect(created.statusCode).toBe(201);
    expect(listener.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(listener.kubeconfig).toContain(listener.token);
  });

  it.each([undefined, 'Bearer wrong', 'Basic eDp5'])('turns away a request with authorization %s', async (value) => {
    const answer = await call('/api/v1/configmaps', { headers: value === undefined ? {} : { authorization: value } });
    expect(answer.statusCode).toBe(401);
    expect(await answer.body.json()).toMatchObject({ kind: 'Status', reason: 'Unauthorized', code: 401 });
  });

  it('streams a watch while it is open, and stops it when the client leaves', async () => {
    const watch = await call('/api/v1/configmaps?watch=true');
    const lines = watch.body[Symbol.asyncIterator]();
    const first = await lines.next();
    expect(String(first.value)).toMatch(/^{"type":"ADDED"/);
    watch.body.destroy();
  });

  it('compresses large answers for those who ask', async () => {
    await call('/api/v1/namespaces/default/configmaps', {
      method: 'POST',
      body: JSON.stringify({ metadata: { name: 'large' }, data: { text: 'x'.repeat(200_000) } }),
    });
    const headers = { authorization: `Bearer ${listener.token}`, 'accept-encoding': 'gzip' };
    const large = await call('/api/v1/namespaces/default/configmaps/large', { headers });
    expect(large.headers['content-encoding']).toBe('gzip');
    expect(Number(large.headers['content-length'])).toBeLessThan(10_000);
    await large.body.dump();
    const small = await call('/api/v1/namespaces/default/configmaps/a', { headers });
    expect(small.headers['content-encoding']).toBeUndefined();
    await small.body.dump();
  });
});
