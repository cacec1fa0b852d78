import { describe, expect, it } from 'vitest';
import { CONFIG_MAPS, seeded, TestServer } from './test-server.ts';

const POD = { spec: { containers: [{ name: 'main', image: 'example.com/main:1' }] } };
const PODS = '/api/v1/namespaces/default/pods';

describe('a server', () => {
  it('answers the same bytes to the same requests', async () => {
    const trace = async () => {
      const test = new TestServer({ random: seeded(7) });
      const answers: unknown[] = [];
      for (const name of ['a', 'b']) answers.push(await test.call('POST', CONFIG_MAPS, { metadata: { name } }));
      answers.push(await test.call('POST', PODS, { metadata: { generateName: 'p-' }, ...POD }));
      answers.push(await test.call('GET', `${CONFIG_MAPS}?limit=1`), await test.call('DELETE', `${CONFIG_MAPS}/a`));
      return answers;
    };
    expect(await trace()).toEqual(await trace());
  });

  it('has the namespaces of every cluster', async () => {
    const { items = [] } = await new TestServer().must('GET', '/api/v1/namespaces');
    expect(items.map(({ metadata }) => metadata.name)).toEqual([
      'default',
      'kube-node-lease',
      'kube-public',
      'kube-system',
    ]);
  });

  it('lists 10,000 pods without making their text again', async () => {
    const test = new TestServer();
    for (let number = 0; number < 10_000; number++) {
      await test.must('POST', PODS, { metadata: { name: `p${number}` }, ...POD });
    }
    const started = performance.now();
    const { text } = await test.call('GET', '/api/v1/pods');
    const took = performance.now() - started;
    expect(text.length).toBeGreaterThan(5_000_000);
    // Serialising them would take many times as long; the bound only has to tell the two apart.
    expect(took).toBeLessThan(250);
  }, 60_000);

  it('keeps a pod on a node until whoever runs it lets it go', async () => {
    const test = new TestServer();
    await test.must('POST', PODS, { metadata: { name: 'a' }, spec: { ...POD.spec, nodeName: 'n' } });
    const marked = await test.must('DELETE', `${PODS}/a`);
    expect(marked.metadata).toMatchObject({ deletionGracePeriodSeconds: 30, generation: 2 });
    await test.must('DELETE', `${PODS}/a?gracePeriodSeconds=0`);
    expect((await test.call('GET', `${PODS}/a`)).status).toBe(404);
  });

  it('leaves nothing behind when it is closed: watches break, timers are gone', async () => {
    const test = new TestServer();
    const transport = test.server.transport();
    const watch = await transport.request({ method: 'GET', path: '/api/v1/pods?watch=true', headers: {} });
    const next = watch.chunks()[Symbol.asyncIterator]().next();
    test.server.close();
    await expect(next).rejects.toThrow('aborted');
    await expect(transport.request({ method: 'GET', path: '/version', headers: {} })).rejects.toThrow('closed');
    expect(test.clock.pending).toBe(0);
  });

  it('hands out what containers wrote', async () => {
    const test = new TestServer({ podLogs: async ({ container }) => `${container} says hello\n` });
    await test.must('POST', PODS, { metadata: { name: 'a' }, spec: { ...POD.spec, nodeName: 'n' } });
    const log = await test.call('GET', `${PODS}/a/log`);
    expect(log.text).toBe('main says hello\n');
    expect(log.headers['content-type']).toBe('text/plain; charset=utf-8');
  });
});
