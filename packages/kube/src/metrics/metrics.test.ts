import { beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '../clock/index.ts';
import type { Kind } from '../kinds/index.ts';
import { WorkQueue } from '../queue/index.ts';
import { Metrics } from './metrics.ts';

const pods: Kind = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };

let clock: VirtualClock;
let metrics: Metrics;
beforeEach(() => {
  clock = new VirtualClock();
  metrics = new Metrics({ clock });
});

const value = async (series: string) => {
  const line = (await metrics.text()).split('\n').find((line) => line.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
};

test('every series is there at zero before anything has happened', async () => {
  metrics.controller('c', 4);
  metrics.queue('c', () => ({ depths: new Map(), workingMs: [] }));
  metrics.client('api:6443');
  metrics.reflector(pods);
  metrics.store(pods, { size: 0 });
  metrics.election('polder/dataflow');
  metrics.admission(['/validate']);
  metrics.certificateFiles();
  for (const series of [
    'controller_runtime_reconcile_total{controller="c",result="success"}',
    'controller_runtime_reconcile_total{controller="c",result="error"}',
    'controller_runtime_reconcile_total{controller="c",result="requeue"}',
    'controller_runtime_reconcile_total{controller="c",result="requeue_after"}',
    'controller_runtime_reconcile_errors_total{controller="c"}',
    'controller_runtime_terminal_reconcile_errors_total{controller="c"}',
    'controller_runtime_reconcile_panics_total{controller="c"}',
    'controller_runtime_reconcile_timeouts_total{controller="c"}',
    'controller_runtime_reconcile_time_seconds_count{controller="c"}',
    'controller_runtime_active_workers{controller="c"}',
    'workqueue_depth{name="c",controller="c",priority="0"}',
    'workqueue_adds_total{name="c",controller="c"}',
    'workqueue_retries_total{name="c",controller="c"}',
    'workqueue_queue_duration_seconds_count{name="c",controller="c"}',
    'workqueue_work_duration_seconds_count{name="c",controller="c"}',
    'workqueue_unfinished_work_seconds{name="c",controller="c"}',
    'workqueue_longest_running_processor_seconds{name="c",controller="c"}',
    'rest_client_requests_total{code="200",method="GET",host="api:6443"}',
    'leader_election_master_status{name="polder/dataflow"}',
    'controller_runtime_webhook_requests_total{webhook="/validate",code="200"}',
    'controller_runtime_webhook_latency_seconds_count{webhook="/validate"}',
    'controller_runtime_webhook_requests_in_flight{webhook="/validate"}',
    'controller_runtime_webhook_panics_total',
    'controller_runtime_conversion_webhook_panics_total',
    'certwatcher_read_certificate_total',
    'certwatcher_read_certificate_errors_total',
    'reflector_silence_seconds{resource="pods"}',
    'reflector_fetches_total{resource="pods",cause="first"}',
    'cache_objects{resource="pods"}',
    'cache_staleness_wait_seconds_count{resource="pods"}',
  ]) {
    expect([series, await value(series)]).toEqual([series, 0]);
  }
  expect(await value('controller_runtime_max_concurrent_reconciles{controller="c"}')).toBe(4);
});

test('histograms have the buckets that dashboards were made for', async () => {
  metrics.controller('c', 1);
  metrics.queue('c', () => ({ depths: new Map(), workingMs: [] }));
  const text = await metrics.text();
  const buckets = (name: string) =>
    [...text.matchAll(new RegExp(`^${name}_bucket\\{le="([^"]+)"`, 'gm'))].map((m) => m[1]);
  const reconcile = buckets('controller_runtime_reconcile_time_seconds');
  expect([reconcile.length, reconcile[0], reconcile.at(-2)]).toEqual([41, '0.005', '60']);
  const queue = buckets('workqueue_queue_duration_seconds');
  expect([queue.length, queue[0], queue.at(-2)]).toEqual([13, '1e-8', '1000']);
});

test('a queue is measured as it works', async () => {
  const queue: WorkQueue = new WorkQueue({ clock, on: metrics.queue('c', () => queue) });
  const labels = '{name="c",controller="c"}';
  queue.add('a');
  queue.add('b');
  await clock.advance(2_000);
  await queue.take();
  await clock.advance(3_000);
  expect(await value('workqueue_depth{name="c",controller="c",priority="0"}')).toBe(1);
  expect(await value(`workqueue_unfinished_work_seconds${labels}`)).toBe(3);
  queue.retry('a');
  queue.done('a');
  expect(await value(`workqueue_adds_total${labels}`)).toBe(3);
  expect(await value(`workqueue_retries_total${labels}`)).toBe(1);
  expect(await value(`workqueue_queue_duration_seconds_sum${labels}`)).toBe(2);
  expect(await value(`workqueue_work_duration_seconds_sum${labels}`)).toBe(3);
  queue.close();
});

test('a watch that says nothing grows silent, and is loud again when it is heard', async () => {
  const watch = metrics.reflector(pods);
  await clock.advance(45_000);
  expect(await value('reflector_silence_seconds{resource="pods"}')).toBe(45);
  watch.heard?.();
  watch.fetching?.('Expired');
  expect(await value('reflector_silence_seconds{resource="pods"}')).toBe(0);
  expect(await value('reflector_fetches_total{resource="pods",cause="Expired"}')).toBe(1);
});

test('of the watches of several namespaces, the most silent one is told', async () => {
  const [one, two] = [metrics.reflector(pods), metrics.reflector(pods)];
  await clock.advance(10_000);
  two.heard?.();
  await clock.advance(5_000);
  expect(await value('reflector_silence_seconds{resource="pods"}')).toBe(15);
  one.heard?.();
  expect(await value('reflector_silence_seconds{resource="pods"}')).toBe(5);
});

test('a failed reconciliation counts as an error, and as a terminal one if nobody tries again', async () => {
  const controller = metrics.controller('c', 1);
  controller.passStarted?.();
  controller.passEnded?.('terminal', 30, false);
  expect(await value('controller_runtime_reconcile_total{controller="c",result="error"}')).toBe(1);
  expect(await value('controller_runtime_reconcile_errors_total{controller="c"}')).toBe(1);
  expect(await value('controller_runtime_terminal_reconcile_errors_total{controller="c"}')).toBe(1);
  expect(await value('controller_runtime_active_workers{controller="c"}')).toBe(0);
});

test('the process tells of its event loop and its memory', async () => {
  metrics.process();
  const text = await metrics.text();
  for (const name of ['nodejs_eventloop_lag_seconds', 'process_resident_memory_bytes', 'process_cpu_seconds_total']) {
    expect(text).toContain(`\n${name} `);
  }
  metrics.stop();
  expect(await metrics.text()).not.toContain('nodejs_');
});
