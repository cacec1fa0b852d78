import { type Pod, silentLogger, VirtualClock } from '@polder/kube';
import { beforeEach, expect, test } from 'vitest';
import { aFlow, kafkaSpec, liveDeployment, podIn } from '../../test/states.ts';
import type { DataFlow } from '../kinds/index.ts';
import { metricsOverHttp } from './metrics-over-http.ts';
import { ProcessorCounters } from './processor-counters.ts';

const INTERVAL = 15_000;
const flow = aFlow(kafkaSpec());
const running: Pod = podIn(liveDeployment(flow), { state: { running: {} } });
const { signal } = new AbortController();

let clock: VirtualClock;
let asked: string[];
let answer: (signal: AbortSignal) => Promise<string>;
let counters: ProcessorCounters;
beforeEach(() => {
  clock = new VirtualClock();
  asked = [];
  answer = async () => page(0);
  const readMetrics = (pod: Pod, signal: AbortSignal) => {
    asked.push(pod.metadata.name);
    return answer(signal);
  };
  counters = new ProcessorCounters({ readMetrics, clock, log: silentLogger, intervalMs: INTERVAL });
});

const page = (processed: number, started = 1) =>
  [
    `process_start_time_seconds ${started}`,
    `dataflow_task_operations_total{namespace="shop",name="orders",operation="sink_write",status="success"} ${processed}`,
  ].join('\n');

const read = (pods: readonly Pod[] = [running], of: DataFlow = flow) => counters.read(of, pods, signal);

test('a processor is asked at intervals, however often its flow is looked at', async () => {
  answer = async () => page(5);
  expect(await read()).toMatchObject([{ processed: 5, isOver: false }]);
  answer = async () => page(6);
  expect(await read()).toMatchObject([{ processed: 5 }]);
  await clock.advance(INTERVAL);
  expect(await read()).toMatchObject([{ processed: 6 }]);
  expect(asked).toHaveLength(2);
});

test('it is known since when nothing was processed', async () => {
  answer = async () => page(5);
  const [{ movedAt } = { movedAt: 0 }] = await read();
  await clock.advance(INTERVAL);
  expect(await read()).toMatchObject([{ movedAt }]);
  answer = async () => page(6);
  await clock.advance(INTERVAL);
  expect(await read()).toMatchObject([{ movedAt: movedAt + 2 * INTERVAL }]);
});

test('who does not answer, or has no address, is asked another time and holds nobody up', async () => {
  answer = (signal) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('given up'))));
  const reading = read();
  await clock.advance(3_000);
  expect(await reading).toEqual([]);
  expect(await read([podIn(liveDeployment(flow), { state: { waiting: {} } }, 'other')])).toEqual([]);
  expect(asked).toEqual(['dataflow-orders-1']);
});

test('what a run had counted when it ended is remembered until the status has it', async () => {
  answer = async () => page(5);
  await read();
  answer = async () => page(2, 2);
  await clock.advance(INTERVAL);
  const [first] = await read();
  expect(first).toMatchObject({ started: '1', processed: 5, isOver: true });
  expect(await read([])).toMatchObject([{ processed: 5 }, { processed: 2, isOver: true }]);
  const { uid = '', name: pod } = running.metadata;
  const processors = [{ uid, pod, started: '1', processed: 5, errors: 0 }];
  expect(await read([], { ...flow, status: { processors } })).toMatchObject([{ processed: 2, isOver: true }]);
  counters.forget(flow.metadata);
  expect(await read([])).toEqual([]);
});

test('processors are asked over HTTP at the address of their pod, of either version', async () => {
  const urls: string[] = [];
  const ask = metricsOverHttp(async (url) => {
    urls.push(url);
    return '';
  });
  await ask(running, signal);
  await ask({ ...running, status: { podIP: 'fd00::1' } }, signal);
  expect(urls).toEqual(['http://10.0.0.1:9090/metrics', 'http://[fd00::1]:9090/metrics']);
});
