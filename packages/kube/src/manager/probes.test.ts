import { expect, test } from 'vitest';
import { probes } from './probes.ts';

const fine = () => {};
const broken = () => {
  throw new Error('pods are not synced yet');
};
const app = probes({ live: { ping: fine }, ready: { webhook: fine, caches: broken } });
const get = async (path: string) => {
  const answer = await app.request(path);
  return { status: answer.status, text: await answer.text() };
};

test('a healthy process says ok and nothing else', async () => {
  expect(await get('/healthz')).toEqual({ status: 200, text: 'ok' });
});

test('a process that is not ready says which check failed and why', async () => {
  expect(await get('/readyz')).toEqual({
    status: 500,
    text: '[+]webhook ok\n[-]caches failed: pods are not synced yet\nreadyz check failed\n',
  });
});

test('one check can be asked alone, left out, or all shown', async () => {
  expect(await get('/readyz/webhook')).toEqual({ status: 200, text: 'ok' });
  expect(await get('/readyz/caches')).toEqual({ status: 500, text: 'pods are not synced yet\n' });
  expect((await get('/readyz/typo')).status).toBe(404);
  expect(await get('/readyz?exclude=caches')).toEqual({ status: 200, text: 'ok' });
  expect(await get('/healthz?verbose')).toEqual({ status: 200, text: '[+]ping ok\nhealthz check passed\n' });
});
