import { expect, test } from 'vitest';
import { probes, Waiting } from './probes.ts';

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

test('who waits for what may never come keeps nobody from being ready but himself', async () => {
  const waiting = () => {
    throw new Waiting('there is no kind Page');
  };
  const ask = async (ready: Readonly<Record<string, () => void>>, path: string) => {
    const answer = await probes({ live: {}, ready }).request(path);
    return [answer.status, await answer.text()];
  };
  const some = { pages: waiting, notes: fine };
  const line = '[ ]pages waits: there is no kind Page\n';
  expect(await ask(some, '/readyz')).toEqual([200, `${line}ok`]);
  expect(await ask(some, '/readyz?verbose')).toEqual([200, `${line}[+]notes ok\nreadyz check passed\n`]);
  expect(await ask(some, '/readyz/pages')).toEqual([500, 'there is no kind Page\n']);
  expect(await ask({ pages: waiting }, '/readyz')).toEqual([500, `${line}readyz check failed\n`]);
});
