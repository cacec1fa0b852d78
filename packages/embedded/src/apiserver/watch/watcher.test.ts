import { describe, expect, it } from 'vitest';
import { CONFIG_MAPS, TestServer } from '../test-server.ts';

const label = (app: string) => ({ metadata: { labels: { app } } });
const merge = { 'content-type': 'application/merge-patch+json' };

describe('a watch', () => {
  it('shows everything that is there, and then what happens, in order', async () => {
    const test = new TestServer();
    await test.configMap('a');
    const watch = await test.watch(`${CONFIG_MAPS}?watch=true`);
    await test.configMap('b');
    await test.must('PATCH', `${CONFIG_MAPS}/a`, { data: { x: '1' } }, merge);
    await test.must('DELETE', `${CONFIG_MAPS}/b`);
    expect(await watch.summary(4)).toEqual(['ADDED a', 'ADDED b', 'MODIFIED a', 'DELETED b']);
  });

  it('shows a deletion under a version of its own', async () => {
    const test = new TestServer();
    const made = await test.configMap('a');
    const watch = await test.watch(`${CONFIG_MAPS}?watch=true&resourceVersion=${made.metadata.resourceVersion}`);
    await test.must('DELETE', `${CONFIG_MAPS}/a`);
    const event = await watch.next();
    expect(Number(event?.object.metadata.resourceVersion)).toBeGreaterThan(Number(made.metadata.resourceVersion));
  });

  it('takes what enters its selection as added and what leaves it as deleted', async () => {
    const test = new TestServer();
    await test.configMap('a', {}, label('web').metadata);
    const watch = await test.watch(`${CONFIG_MAPS}?watch=true&labelSelector=app%3Dweb`);
    await test.configMap('b', {}, label('db').metadata);
    await test.must('PATCH', `${CONFIG_MAPS}/a`, label('db'), merge);
    await test.must('PATCH', `${CONFIG_MAPS}/b`, label('web'), merge);
    expect(await watch.summary(3)).toEqual(['ADDED a', 'DELETED a', 'ADDED b']);
  });

  it('sends a bookmark every minute and shortly before its end, if asked to', async () => {
    const test = new TestServer();
    const watch = await test.watch(`${CONFIG_MAPS}?watch=true&allowWatchBookmarks=true&timeoutSeconds=150`);
    const started = test.clock.now();
    const at: number[] = [];
    const reading = (async () => {
      for (let event = await watch.next(); event !== undefined; event = await watch.next()) {
        expect(event.type).toBe('BOOKMARK');
        at.push(test.clock.now() - started);
      }
    })();
    await test.clock.advance(151_000);
    await reading;
    expect(at).toEqual([60_000, 120_000, 148_000]);
    expect(test.clock.pending).toBe(0);
  });

  it('tells where the initial list ends', async () => {
    const test = new TestServer();
    await test.configMap('a');
    const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const watch = await test.watch(`${CONFIG_MAPS}?${query}`);
    expect(await watch.summary(1)).toEqual(['ADDED a']);
    expect((await watch.next())?.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
  });

  it('from a version that is forgotten gets an error event', async () => {
    const test = new TestServer();
    await test.configMap('a');
    test.server.compact();
    const watch = await test.watch(`${CONFIG_MAPS}?watch=true&resourceVersion=2`);
    const event = await watch.next();
    expect(event).toMatchObject({ type: 'ERROR', object: { reason: 'Expired', code: 410 } });
    expect(event?.object.message).toMatch(/^too old resource version: 2 \(\d+\)$/);
    expect(await watch.next()).toBeUndefined();
    expect(test.clock.pending).toBe(0);
  });

  it('that nobody reads is cut off instead of filling the memory', async () => {
    const test = new TestServer();
    await test.configMap('a');
    const watch = await test.watch(`${CONFIG_MAPS}?watch=true&resourceVersion=${test.server.revision}`);
    for (let turn = 0; turn <= 10_000; turn++) {
      await test.must('PATCH', `${CONFIG_MAPS}/a`, { data: { turn: String(turn) } }, merge);
    }
    expect(await watch.next()).toBeUndefined();
  }, 60_000);

  it('leaves no timer behind when its reader leaves', async () => {
    const test = new TestServer();
    await test.configMap('a');
    const watch = await test.watch(`${CONFIG_MAPS}?watch=true&allowWatchBookmarks=true`);
    await watch.next();
    await watch.leave();
    expect(test.clock.pending).toBe(0);
  });

  it('breaks when its request is aborted', async () => {
    const test = new TestServer();
    const abort = new AbortController();
    const watch = await test.watch(`${CONFIG_MAPS}?watch=true`, abort.signal);
    const next = watch.next();
    abort.abort();
    await expect(next).rejects.toThrow('the watch was aborted');
    expect(test.clock.pending).toBe(0);
  });
});
