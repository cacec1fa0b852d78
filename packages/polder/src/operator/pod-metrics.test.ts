import { createApiServer } from '@polder/embedded';
import { Client, Pod, silentLogger, systemClock } from '@polder/kube';
import { beforeEach, describe, expect, test } from 'vitest';
import { pageOf } from './exposition.ts';
import type { GetPage } from './page.ts';
import { type PodMetricsOptions, podMetrics } from './pod-metrics.ts';

const PODS = { labelSelector: 'app=dataflow-processor', port: 9090, prefix: 'dataflow_' };
const page = (count: number) =>
  `# TYPE dataflow_messages_total counter\ndataflow_messages_total{name="orders"} ${count}\nprocess_cpu_seconds_total 1\n`;

let client: Client;
beforeEach(() => {
  client = new Client({ transport: createApiServer().transport(), userAgent: 'test' });
});

async function pod(name: string, podIP: string, { phase = 'Running', app = 'dataflow-processor' } = {}): Promise<void> {
  const ref = { namespace: 'default', name };
  const spec = { containers: [{ name: 'processor', image: 'x' }] };
  await client.create(Pod, { metadata: { ...ref, labels: { app } }, spec });
  await client.patch(
    Pod,
    ref,
    { type: 'merge', body: { status: { phase, podIP, podIPs: [{ ip: podIP }] } } },
    { subresource: 'status' },
  );
}

const scraped = async (fetchPage: GetPage, more: Partial<PodMetricsOptions> = {}) => {
  const families = await podMetrics(PODS, {
    client,
    clock: systemClock,
    log: silentLogger,
    resolve: (address) => address,
    podTimeoutMs: 50,
    allTimeoutMs: 1_000,
    fetchPage,
    ...more,
  });
  return pageOf(families).split('\n');
};

describe('the metrics of processors', () => {
  test('are those of every pod that runs, each under its own name, and of nothing else', async () => {
    await pod('one', '10.0.0.1');
    await pod('two', '10.0.0.2');
    await pod('done', '10.0.0.3', { phase: 'Succeeded' });
    await pod('stranger', '10.0.0.4', { app: 'web' });
    const asked: string[] = [];
    const lines = await scraped(async (url) => {
      asked.push(url);
      return page(asked.length);
    });
    expect(asked.toSorted()).toEqual(['http://10.0.0.1:9090/metrics', 'http://10.0.0.2:9090/metrics']);
    expect(lines).toEqual([
      '# HELP dataflow_processor_up 1 if the processor told its metrics in time, else 0',
      '# TYPE dataflow_processor_up gauge',
      'dataflow_processor_up{namespace="default",pod="one"} 1',
      'dataflow_processor_up{namespace="default",pod="two"} 1',
      '',
      '# TYPE dataflow_messages_total counter',
      'dataflow_messages_total{pod="one",name="orders"} 1',
      'dataflow_messages_total{pod="two",name="orders"} 2',
      '',
    ]);
  });

  test('are there without those of a pod that is dead, silent or talks nonsense', async () => {
    for (const [index, name] of ['good', 'dead', 'silent', 'nonsense'].entries()) await pod(name, `10.0.0.${index}`);
    const fetchPage: GetPage = async (url, signal) => {
      if (url.includes('10.0.0.1')) throw new Error('connection refused');
      if (url.includes('10.0.0.2')) await new Promise((_, reject) => signal.addEventListener('abort', reject));
      return url.includes('10.0.0.3') ? '<html>\ndataflow_x{' : page(1);
    };
    const lines = await scraped(fetchPage);
    expect(lines).toContain('dataflow_messages_total{pod="good",name="orders"} 1');
    expect(lines.filter((line) => line.endsWith('} 0')).length).toBe(2);
    expect(lines.join('\n')).not.toContain('dataflow_x');
  });

  test('are asked for where the configuration says that a pod is', async () => {
    await pod('one', 'fd00::1');
    const asked: string[] = [];
    const fetchPage: GetPage = async (url) => {
      asked.push(url);
      return '';
    };
    await scraped(fetchPage, { resolve: (address) => (address === '[fd00::1]:9090' ? '127.0.0.1:19090' : address) });
    expect(asked).toEqual(['http://127.0.0.1:19090/metrics']);
  });

  test('are asked for by a few connections at once, and given up when the page is due', async () => {
    for (let index = 0; index < 40; index++) await pod(`pod-${index}`, `10.0.1.${index}`);
    let [now, most] = [0, 0];
    const fetchPage: GetPage = async (_, signal) => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      now--;
      throw signal.reason;
    };
    const lines = await scraped(fetchPage, { podTimeoutMs: 10_000, allTimeoutMs: 100 });
    expect(most).toBe(32);
    expect(lines.filter((line) => line.endsWith('} 0')).length).toBe(40);
  });

  test('are none when the API server is away: the page is there all the same', async () => {
    const transport = { request: () => Promise.reject(new Error('away')), close: async () => {} };
    const lines = await scraped(async () => page(1), { client: new Client({ transport, userAgent: 'test' }) });
    expect(lines).toEqual(['']);
  });
});
