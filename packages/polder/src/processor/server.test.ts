import { MetricsRegistry } from '@polder/engine';
import { VirtualClock } from '@polder/kube';
import { expect, test } from 'vitest';
import { serverOf } from './server.ts';

const clock = new VirtualClock();
const HOUR = 3_600_000;

function asking({ isReady = true, stuckMs = 0, progressTimeoutMs = HOUR }) {
  const pipeline = { isReady, lastProgressAt: clock.now() - stuckMs, inFlight: 0, queues: new Map() };
  const app = serverOf({ pipeline, metrics: { look() {} }, registry: new MetricsRegistry(), clock, progressTimeoutMs });
  return async (path: string) => {
    const answer = await app.request(path);
    return `${answer.status} ${await answer.text()}`;
  };
}

test('a processor is ready when it reads', async () => {
  expect(await asking({})('/readyz')).toBe('200 ok');
  expect(await asking({ isReady: false })('/readyz')).toBe('503 not ready: it does not read');
});

test('a processor that gets on with nothing for longer than it may asks to be restarted', async () => {
  expect(await asking({ stuckMs: HOUR })('/livez')).toBe('200 ok');
  expect(await asking({ stuckMs: HOUR + 1 })('/livez')).toBe('503 stale: no pipeline progress for 3600 s');
  expect(await asking({ stuckMs: HOUR + 1, progressTimeoutMs: 0 })('/livez')).toBe('200 ok');
  expect(await asking({ stuckMs: HOUR + 1 })('/healthz')).toBe('200 ok');
});

test('memory and CPU time of the process are among the metrics', async () => {
  expect(await asking({})('/metrics')).toMatch(/^process_resident_memory_bytes \d{7,}$/m);
});
