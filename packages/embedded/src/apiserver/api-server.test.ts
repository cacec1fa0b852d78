import { describe, expect, it, vi } from 'vitest';
import { Random } from '../simulation/random.ts';
import { CONFIG_MAPS, TestServer } from './test-server.ts';

const POD = { spec: { containers: [{ name: 'main', image: 'example.com/main:1' }] } };
const PODS = '/api/v1/namespaces/default/pods';

describe('a server', () => {
  it('answers the same bytes to the same requests', async () => {
    const trace = async () => {
      const test = new TestServer({ random: new Random(7).next });
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

  it('makes the text of an object when it is written, and never again to list it', async () => {
    const test = new TestServer();
    const create = (name: string) => test.must('POST', PODS, { metadata: { name }, ...POD });
    const printed = vi.spyOn(JSON, 'stringify');
    const textsOfList = async () => {
      printed.mockClear();
      await test.call('GET', '/api/v1/pods');
      return printed.mock.calls.length;
    };
    await create('p');
    const ofOne = await textsOfList();
    for (let number = 0; number < 20; number++) await create(`p${number}`);
    expect(await textsOfList()).toBe(ofOne);
    printed.mockRestore();
  });

  it('gives pods without a class the priority of the class for all others', async () => {
    const test = new TestServer();
    const path = '/apis/scheduling.k8s.io/v1/priorityclasses';
    await test.must('POST', path, { metadata: { name: 'usual' }, value: 3, globalDefault: true });
    const { spec } = await test.must('POST', PODS, { metadata: { name: 'a' }, ...POD });
    expect(spec).toMatchObject({ priority: 3, priorityClassName: 'usual' });
  });

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
