import { expect, test } from 'vitest';
import { MemorySink, MemorySource, MemoryTopic, Rig, refuse, to, VirtualClock } from '../testing/index.ts';

const never = () => new Promise<never>(() => {});

const down = () => Promise.reject(new Error('connect ECONNREFUSED'));

/** Every tenth message goes to the route `eu`, the others to the main sink. */
const mixed = (count: number) => Array.from({ length: count }, (_, i) => (i % 10 === 0 ? `route eu ${i}` : `${i}`));

const errorsTo = (sink: MemorySink) => ({ ...to(sink), ackPolicy: 'afterWrite' as const });

test('a message goes the way its condition says, to a sink that is connected when the first one comes', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: ['route eu 1', '2', 'route us 3', 'route unknown 4'] });
  const [main, eu, us, unused] = [new MemorySink(), new MemorySink(), new MemorySink(), new MemorySink()];
  const routes = new Map([
    ['eu', to(eu)],
    ['us', to(us)],
    ['unused', to(unused)],
  ]);
  await new Rig({ clock, source: new MemorySource({ topic, clock }), sink: to(main), routes }).toEnd();
  expect([main.texts, eu.texts, us.texts]).toEqual([['2', 'route unknown 4'], ['route eu 1'], ['route us 3']]);
  expect(main.attempts).toEqual([2]);
  expect([eu.isConnected, unused.isConnected, eu.isClosed, topic.isCommitted]).toEqual([true, false, true, true]);
});

test('a route may be called like one of ours', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: ['route error 1', 'route default 2', '3', 'break'] });
  const [main, error, byDefault, errors] = [new MemorySink(), new MemorySink(), new MemorySink(), new MemorySink()];
  const routes = new Map([
    ['error', to(error)],
    ['default', to(byDefault)],
  ]);
  const source = new MemorySource({ topic, clock });
  await new Rig({ clock, source, sink: to(main), routes, errors: errorsTo(errors) }).toEnd();
  expect([main.texts, error.texts, byDefault.texts]).toEqual([['3'], ['route error 1'], ['route default 2']]);
  expect(errors.messages.length).toBe(1);
});

test('of a partition that is spread over routes, nothing is committed beyond what the slowest has written', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: ['0', '1', 'route eu 2', '3', '4'] });
  const main = new MemorySink();
  const eu = new MemorySink({ write: () => new Promise((resolve) => void clock.after(60_000, () => resolve([]))) });
  const source = new MemorySource({ topic, clock });
  const rig = new Rig({ clock, source, sink: to(main), routes: new Map([['eu', to(eu)]]) });
  await clock.advance(50_000);
  expect([main.texts, topic.committed.get('a')]).toEqual([['0', '1', '3', '4'], 2]);
  await rig.toEnd();
  expect(topic.isCommitted).toBe(true);
});

test.each([
  ['can not be connected to', { connect: down }],
  ['fails each write', { write: down }],
  ['does not answer', { write: never }],
  ['does not even connect', { connect: never }],
] as const)('a route that %s holds up the others for its retry budget, no longer', async (_, faults) => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: mixed(2_000) });
  const [main, errors] = [new MemorySink(), new MemorySink()];
  const rig = new Rig({
    clock,
    source: new MemorySource({ topic, clock }),
    sink: to(main),
    routes: new Map([['eu', to(new MemorySink(faults))]]),
    errors: errorsTo(errors),
    retry: { budgetMs: 60_000 },
    limits: { bufferedMessages: 20, uncommitted: 500 },
  });
  await clock.advance(50_000);
  // Held up, and no faster than its buffer filled.
  expect(main.messages.length).toBeLessThan(300);
  await clock.runUntil(() => main.messages.length === 1_800, 20_000);
  expect(main.messages.length).toBe(1_800);
  await rig.toEnd();
  expect([errors.messages.length, topic.isCommitted, clock.pending]).toEqual([200, true, 0]);
});

test('a route that is slow, or was idle for long, is not taken for dead', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: ['plain', ...Array.from({ length: 50 }, (_, i) => `route eu ${i}`)] });
  const eu = new MemorySink({ write: () => new Promise((resolve) => void clock.after(40_000, () => resolve([]))) });
  const errors = new MemorySink();
  const read = () => new Promise<void>((resolve) => void clock.after(3_600_000, resolve));
  await new Rig({
    clock,
    source: new MemorySource({ topic, clock, batchSize: 51, faults: { read } }),
    sink: to(new MemorySink()),
    routes: new Map([['eu', to(eu)]]),
    errors: errorsTo(errors),
    retry: { budgetMs: 60_000 },
    limits: { bufferedMessages: 10 },
  }).toEnd();
  expect([eu.messages.length, errors.messages.length]).toEqual([50, 0]);
});

test('a route that comes back is used again', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: mixed(3_000) });
  const connect = () => (clock.monotonic() < 70_000 ? down() : undefined);
  const [main, eu, errors] = [new MemorySink(), new MemorySink({ connect }), new MemorySink()];
  const read = () => new Promise<void>((resolve) => void clock.after(500, resolve));
  await new Rig({
    clock,
    source: new MemorySource({ topic, clock, faults: { read } }),
    sink: to(main),
    routes: new Map([['eu', to(eu)]]),
    errors: errorsTo(errors),
    retry: { budgetMs: 30_000, longestMs: 5_000 },
  }).toEnd();
  expect(errors.messages.length).toBeGreaterThan(0);
  expect(eu.messages.length).toBeGreaterThan(100);
  expect(eu.messages.length + errors.messages.length).toBe(300);
  expect(topic.isCommitted).toBe(true);
});

test('a dead route is asked now and then, not for each batch', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: Array.from({ length: 5_000 }, (_, i) => `route eu ${i}`) });
  let attempts = 0;
  const connect = () => {
    attempts++;
    return down();
  };
  await new Rig({
    clock,
    source: new MemorySource({ topic, clock }),
    sink: to(new MemorySink()),
    routes: new Map([['eu', to(new MemorySink({ connect }))]]),
    errors: errorsTo(new MemorySink()),
    retry: { budgetMs: 60_000 },
  }).toEnd();
  expect(topic.isCommitted).toBe(true);
  expect(attempts).toBeLessThan(15);
});

test('a dead route without an error sink holds everything up in the end, and loses nothing', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: mixed(2_000) });
  let isDown = true;
  const [main, eu] = [new MemorySink(), new MemorySink({ connect: () => (isDown ? down() : undefined) })];
  const source = new MemorySource({ topic, clock });
  const limits = { bufferedMessages: 20, uncommitted: 500 };
  const rig = new Rig({ clock, source, sink: to(main), routes: new Map([['eu', to(eu)]]), limits });
  await clock.advance(3_600_000);
  expect(source.handedOut).toBeLessThan(300);
  isDown = false;
  await rig.toEnd();
  expect([main.messages.length, eu.messages.length, topic.isCommitted]).toEqual([1_800, 200, true]);
});

test('what a route refuses goes to the error sink, the rest of it does not', async () => {
  const clock = new VirtualClock();
  const topic = new MemoryTopic({ a: ['route eu 1', 'route eu 2', 'route eu 3'] });
  const eu = new MemorySink({ write: (batch) => refuse(batch, (text) => text.endsWith('2')) });
  const errors = new MemorySink();
  const routes = new Map([['eu', to(eu)]]);
  const source = new MemorySource({ topic, clock });
  await new Rig({ clock, source, sink: to(new MemorySink()), routes, errors: errorsTo(errors) }).toEnd();
  expect([eu.texts, errors.messages.length]).toEqual([['route eu 1', 'route eu 3'], 1]);
});
