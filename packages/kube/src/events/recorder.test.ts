import { createApiServer } from '@polder/embedded';
import { beforeEach, describe, expect, test } from 'vitest';
import { ObservedTransport } from '../../test/observed-transport.ts';
import { Client, TransportError } from '../client/index.ts';
import { VirtualClock } from '../clock/index.ts';
import { EventsV1Event, type KubernetesObject } from '../kinds/index.ts';
import { silentLogger } from '../log.ts';
import type { Happening } from './event.ts';
import { EventRecorder } from './recorder.ts';

const scaled: Happening = { type: 'Normal', reason: 'Scaled', action: 'Scale', note: 'from 1 to 3 nodes' };
const cluster = (name = 'one'): KubernetesObject => ({
  apiVersion: 'qdrant.operator/v1alpha1',
  kind: 'QdrantCluster',
  metadata: { namespace: 'default', name, uid: `uid-${name}`, resourceVersion: '7' },
});

const MINUTE = 60_000;

let clock: VirtualClock;
let transport: ObservedTransport;
let user: Client;
let recorder: EventRecorder;
beforeEach(() => {
  clock = new VirtualClock();
  const server = createApiServer({ clock });
  user = new Client({ transport: server.transport(), userAgent: 'user', clock });
  transport = new ObservedTransport(server.transport());
  const client = new Client({ transport, userAgent: 'test', clock });
  const reporter = { controller: 'polder.io/qdrant', instance: 'host-1' };
  let seed = 0;
  const random = () => (seed = (seed + 0.618) % 1);
  recorder = new EventRecorder({ client, clock, random, log: silentLogger, reporter });
});

/** In the order of their making. */
const written = async (): Promise<EventsV1Event[]> => {
  const { items } = await user.list(EventsV1Event);
  return items.toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
};
const sent = (method: string) => transport.requests.filter((request) => request.startsWith(method)).length;

describe('what happened', () => {
  test('is written as an event about the object, with six digits in its time', async () => {
    recorder.record(cluster(), scaled);
    await clock.advance(0);
    expect(await written()).toMatchObject([
      {
        metadata: { namespace: 'default', name: expect.stringMatching(/^one\.[0-9a-f]+$/) },
        eventTime: '2026-01-01T00:00:00.000000Z',
        type: 'Normal',
        reason: 'Scaled',
        action: 'Scale',
        note: 'from 1 to 3 nodes',
        regarding: { kind: 'QdrantCluster', namespace: 'default', name: 'one', uid: 'uid-one', resourceVersion: '7' },
        reportingController: 'polder.io/qdrant',
        reportingInstance: 'host-1',
      },
    ]);
  });

  test('to an object without a namespace is told in `default`', async () => {
    recorder.record({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }, scaled);
    await clock.advance(0);
    expect((await written())[0]?.metadata.namespace).toBe('default');
  });

  test('in too many words is cut to a kilobyte, between characters', async () => {
    recorder.record(cluster(), { ...scaled, note: 'ü'.repeat(1000) });
    await clock.advance(0);
    const note = (await written())[0]?.note ?? '';
    expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1024);
    expect(note).toMatch(/^ü{510}\.\.\.$/);
  });

  test.each([{ action: '' }, { reason: 'not one word' }, { reason: `R${'x'.repeat(200)}` }])(
    'is not sent if the server would refuse it: %o',
    async (wrong) => {
      recorder.record(cluster(), { ...scaled, ...wrong });
      await clock.advance(0);
      expect(transport.requests).toEqual([]);
    },
  );
});

describe('what happens again and again', () => {
  test('is one event: the second time makes it a series, the others are counted and told at its end', async () => {
    for (let i = 0; i < 5; i++) {
      recorder.record(cluster(), { ...scaled, note: `attempt ${i}` });
      await clock.advance(1000);
    }
    expect([sent('POST'), sent('PATCH')]).toEqual([1, 1]);
    expect((await written())[0]?.series?.count).toBe(2);
    await clock.advance(8 * MINUTE);
    expect(await written()).toMatchObject([
      { note: 'attempt 0', series: { count: 5, lastObservedTime: '2026-01-01T00:00:04.000000Z' } },
    ]);
    expect(clock.pending).toBe(0);
  });

  test('after a silence is a new event', async () => {
    recorder.record(cluster(), scaled);
    await clock.advance(8 * MINUTE);
    recorder.record(cluster(), scaled);
    await clock.advance(0);
    expect(await written()).toHaveLength(2);
  });

  test('for an hour is written again every half hour, and made anew if the server forgot it', async () => {
    for (let minute = 0; minute < 70; minute++) {
      recorder.record(cluster(), scaled);
      if (minute === 40) for (const { metadata } of await written()) await user.delete(EventsV1Event, metadata);
      await clock.advance(MINUTE);
    }
    expect(sent('PATCH')).toBe(3);
    expect((await written())[0]?.series?.count).toBeGreaterThan(50);
  });

  test('while the first is still being written is not lost', async () => {
    const hold = Promise.withResolvers<void>();
    transport.before = () => hold.promise;
    recorder.record(cluster(), scaled);
    await clock.advance(0);
    recorder.record(cluster(), scaled);
    recorder.record(cluster(), scaled);
    hold.resolve();
    await clock.advance(0);
    expect(await written()).toMatchObject([{ series: { count: 3 } }]);
  });

  test('to one object in ever new ways is told 25 times, then once in five minutes', async () => {
    for (let i = 0; i < 100; i++) recorder.record(cluster(), { ...scaled, reason: `Reason${i}` });
    await clock.advance(0);
    expect(await written()).toHaveLength(25);
    await clock.advance(5 * MINUTE);
    for (let i = 100; i < 110; i++) recorder.record(cluster(), { ...scaled, reason: `Reason${i}` });
    await clock.advance(0);
    expect(await written()).toHaveLength(26);
    recorder.record(cluster('other'), scaled);
    await clock.advance(0);
    expect(await written()).toHaveLength(27);
  });

  test('with ever new relatives is combined after ten', async () => {
    for (let i = 0; i < 20; i++) recorder.record(cluster(), { ...scaled, related: cluster(`pod-${i}`) });
    await recorder.flush(1000);
    expect(await written()).toHaveLength(11);
    expect((await written()).at(-1)).toMatchObject({
      note: '(combined from similar events): from 1 to 3 nodes',
      series: { count: 10 },
    });
  });
});

describe('a server', () => {
  test('that is away gets the event later', async () => {
    transport.before = () => {
      throw new TransportError('connection reset', { sent: true });
    };
    recorder.record(cluster(), scaled);
    await clock.advance(25_000);
    expect(await written()).toEqual([]);
    transport.before = () => {};
    await clock.advance(15_000);
    expect(await written()).toHaveLength(1);
  });

  test('that never comes back is tried twelve times', async () => {
    let tries = 0;
    transport.before = () => {
      tries++;
      throw new TransportError('connection reset', { sent: true });
    };
    recorder.record(cluster(), scaled);
    await clock.advance(10 * MINUTE);
    expect(tries).toBe(12);
  });

  test('that refuses is not asked again', async () => {
    const { metadata, ...rest } = cluster();
    recorder.record({ ...rest, metadata: { ...metadata, namespace: 'not-there' } }, scaled);
    await clock.advance(10 * MINUTE);
    expect(transport.requests).toHaveLength(1);
    expect(await written()).toEqual([]);
  });

  test('that hangs costs eight requests and a thousand events, no more', async () => {
    let underWay = 0;
    transport.before = ({ signal }) => {
      underWay++;
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    };
    for (let i = 0; i < 1500; i++) recorder.record(cluster(`c${i}`), scaled);
    await clock.advance(0);
    expect(underWay).toBe(8);
    await recorder.stop();
    expect(clock.pending).toBe(0);
  });
});

test('flushing waits for what was told, but not for ever', async () => {
  const hold = Promise.withResolvers<void>();
  transport.before = () => hold.promise;
  recorder.record(cluster(), scaled);
  let isFlushed = false;
  const flushed = recorder.flush(3000).then(() => (isFlushed = true));
  await clock.advance(2000);
  expect(isFlushed).toBe(false);
  await clock.advance(1000);
  expect(isFlushed).toBe(true);
  hold.resolve();
  await flushed;
  await recorder.flush(3000);
  expect(await written()).toHaveLength(1);
  await recorder.stop();
  expect(clock.pending).toBe(0);
});

test('flushing also waits for what was counted while it waited', async () => {
  const hold = Promise.withResolvers<void>();
  transport.before = () => hold.promise;
  recorder.record(cluster(), scaled);
  await clock.advance(0);
  const flushed = recorder.flush(3000);
  for (let i = 0; i < 4; i++) recorder.record(cluster(), scaled);
  hold.resolve();
  await flushed;
  expect(await written()).toMatchObject([{ series: { count: 5 } }]);
  await recorder.stop();
});
