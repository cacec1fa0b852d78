import { TransportError } from '@polder/kube';
import { describe, expect, it } from 'vitest';
import { CONFIG_MAPS, TestServer } from '../test-server.ts';

describe('faults on demand', () => {
  it('hit only what they are meant for, and only so often', async () => {
    const test = new TestServer();
    test.server.faults.on({ verb: 'create', plural: 'configmaps', count: 1 }, { do: 'fail', when: 'before' });
    const body = { metadata: { name: 'a' } };
    expect((await test.call('POST', '/api/v1/namespaces/default/secrets', body)).status).toBe(201);
    expect((await test.call('POST', CONFIG_MAPS, body)).status).toBe(500);
    expect((await test.call('POST', CONFIG_MAPS, body)).status).toBe(201);
  });

  it('hit one client among several', async () => {
    const test = new TestServer();
    test.server.faults.on({ userAgent: 'kubectl/v1' }, { do: 'fail', when: 'before' });
    const list = (agent: string) => test.call('GET', CONFIG_MAPS, undefined, { 'user-agent': agent });
    expect((await list('kubectl/v1')).status).toBe(500);
    expect((await list('polder/1')).status).toBe(200);
  });

  it('can fail after everything was done', async () => {
    const test = new TestServer();
    test.server.faults.on({ verb: 'create', count: 1 }, { do: 'fail', when: 'after' });
    const body = { metadata: { name: 'a' } };
    expect((await test.call('POST', CONFIG_MAPS, body)).status).toBe(500);
    expect((await test.call('POST', CONFIG_MAPS, body)).status).toBe(409);
  });

  it('throttle with the time to wait', async () => {
    const test = new TestServer();
    test.server.faults.on({ verb: 'list' }, { do: 'throttle', retryAfterSeconds: 7 });
    const answer = await test.call('GET', CONFIG_MAPS);
    expect(answer.status).toBe(429);
    expect(answer.headers['retry-after']).toBe('7');
  });

  it('close or reset the connection without an answer', async () => {
    const test = new TestServer();
    for (const fault of ['close', 'reset'] as const) {
      test.server.faults.on({ verb: 'get', count: 1 }, { do: fault });
      await expect(test.call('GET', `${CONFIG_MAPS}/a`)).rejects.toBeInstanceOf(TransportError);
    }
  });

  it('take their time on the clock of the server', async () => {
    const test = new TestServer();
    test.server.faults.on({ verb: 'list' }, { do: 'slow', ms: 5_000 });
    let isAnswered = false;
    const answer = test.call('GET', CONFIG_MAPS).finally(() => {
      isAnswered = true;
    });
    await test.clock.advance(4_999);
    expect(isAnswered).toBe(false);
    await test.clock.advance(1);
    await answer;
  });

  it('silence a watch that is open already: no event, no bookmark, no end', async () => {
    const test = new TestServer();
    const abort = new AbortController();
    const watch = await test.watch(
      `${CONFIG_MAPS}?watch=true&allowWatchBookmarks=true&timeoutSeconds=90`,
      abort.signal,
    );
    test.server.faults.on({ verb: 'watch', plural: 'configmaps' }, { do: 'silence' });
    await test.configMap('a');
    let isRoused = false;
    const next = watch.next().finally(() => {
      isRoused = true;
    });
    await test.clock.advance(600_000);
    expect(isRoused).toBe(false);
    abort.abort();
    await expect(next).rejects.toThrow('aborted');
  });

  it('end, break or expire a watch', async () => {
    const test = new TestServer();
    const open = () => test.watch(`${CONFIG_MAPS}?watch=true`);
    const closed = await open();
    test.server.faults.on({ verb: 'watch', count: 1 }, { do: 'close' });
    expect(await closed.next()).toBeUndefined();
    const broken = await open();
    test.server.faults.on({ verb: 'watch', count: 1 }, { do: 'reset' });
    await expect(broken.next()).rejects.toThrow('reset');
    test.server.faults.on({ verb: 'watch', count: 1 }, { do: 'expire' });
    expect(await (await open()).next()).toMatchObject({ type: 'ERROR', object: { code: 410 } });
  });

  it('deliver events twice', async () => {
    const test = new TestServer();
    const watch = await test.watch(`${CONFIG_MAPS}?watch=true`);
    test.server.faults.on({ verb: 'watch' }, { do: 'duplicate' });
    await test.configMap('a');
    await test.configMap('b');
    expect(await watch.summary(4)).toEqual(['ADDED a', 'ADDED a', 'ADDED b', 'ADDED b']);
  });

  it('deliver events late', async () => {
    const test = new TestServer();
    const watch = await test.watch(`${CONFIG_MAPS}?watch=true`);
    test.server.faults.on({ verb: 'watch' }, { do: 'delay', ms: 1_000 });
    await test.configMap('a');
    const made = test.clock.now();
    const event = watch.next();
    await test.clock.advance(1_000);
    expect(await event).toMatchObject({ type: 'ADDED' });
    expect(test.clock.now() - made).toBe(1_000);
  });

  it('serve reads from the past', async () => {
    const test = new TestServer();
    await test.configMap('a');
    const past = test.server.revision;
    await test.must('DELETE', `${CONFIG_MAPS}/a`);
    test.server.faults.on({ verb: 'get', count: 1 }, { do: 'stale', revision: past });
    expect((await test.call('GET', `${CONFIG_MAPS}/a`)).status).toBe(200);
    expect((await test.call('GET', `${CONFIG_MAPS}/a`)).status).toBe(404);
    test.server.faults.on({ verb: 'list', count: 1 }, { do: 'stale', revision: past });
    expect((await test.must('GET', CONFIG_MAPS)).items).toHaveLength(1);
    expect((await test.must('GET', CONFIG_MAPS)).items).toHaveLength(0);
  });
});
