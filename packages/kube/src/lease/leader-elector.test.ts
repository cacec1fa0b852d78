import { type ApiServer, createApiServer } from '@polder/embedded';
import { beforeEach, describe, expect, test } from 'vitest';
import { ObservedTransport } from '../../test/observed-transport.ts';
import { Client, TransportError } from '../client/index.ts';
import { VirtualClock } from '../clock/index.ts';
import { Lease, type LeaseSpec } from '../kinds/index.ts';
import { silentLogger } from '../log.ts';
import { LeaderElector, type LeaderElectorOptions } from './leader-elector.ts';
import type { Leadership } from './leadership.ts';
import { DEFAULT_TIMINGS } from './record.ts';

const lease = { namespace: 'default', name: 'dataflow' };

let clock: VirtualClock;
let server: ApiServer;
let transport: ObservedTransport;
/** Whoever else has to do with leases. */
let user: Client;
let stop: AbortController;
beforeEach(() => {
  clock = new VirtualClock();
  server = createApiServer({ clock });
  transport = new ObservedTransport(server.transport());
  user = new Client({ transport: server.transport(), userAgent: 'user', clock });
  stop = new AbortController();
});

const elector = (identity: string, options: Partial<LeaderElectorOptions> = {}) => {
  const own = options.clock ?? clock;
  const client = new Client({ transport, userAgent: 'test', clock: own });
  return new LeaderElector({ client, clock: own, random: () => 0, log: silentLogger, lease, identity, ...options });
};

const spec = async (): Promise<LeaseSpec> => (await user.get(Lease, lease)).spec ?? {};

/** A candidate that waits in the background. */
const candidate = (one: LeaderElector): { leadership?: Leadership } => {
  const state: { leadership?: Leadership } = {};
  one.acquire(stop.signal).then(
    (leadership) => (state.leadership = leadership),
    () => {},
  );
  return state;
};

const away = () => {
  throw new TransportError('connection refused', { sent: false });
};

describe('the first candidate', () => {
  test('leads at once, and the record says who, since when and with six digits', async () => {
    const leadership = await elector('a').acquire(stop.signal);
    expect(leadership.isHeld()).toBe(true);
    expect(await spec()).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
    await leadership.release();
  });

  test('renews every two seconds with one request each, and keeps the time it began', async () => {
    const leadership = await elector('a').acquire(stop.signal);
    transport.requests.length = 0;
    await clock.advance(60_000);
    expect(leadership.signal.aborted).toBe(false);
    expect(transport.requests).toEqual(
      Array(30).fill('PUT /apis/coordination.k8s.io/v1/namespaces/default/leases/dataflow'),
    );
    expect(await spec()).toMatchObject({
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:01:00.000000Z',
      leaseTransitions: 0,
    });
    await leadership.release();
  });
});

describe('the second candidate', () => {
  test('waits as long as the first one renews', async () => {
    const first = await elector('a').acquire(stop.signal);
    const second = candidate(elector('b'));
    await clock.advance(300_000);
    expect(second.leadership).toBeUndefined();
    await first.release();
  });

  test('takes over when the first one falls silent, fifteen seconds after it last saw a change', async () => {
    await elector('a').acquire(stop.signal);
    const second = candidate(elector('b', { client: new Client({ transport, userAgent: 'b', clock }) }));
    await clock.advance(0);
    // The first one is cut off; the second one is not.
    transport.before = (request) => (request.headers['user-agent'] === 'test' ? away() : undefined);
    await clock.advance(14_900);
    expect(second.leadership).toBeUndefined();
    await clock.advance(2_200);
    expect(second.leadership?.isHeld()).toBe(true);
    expect(await spec()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
    await second.leadership?.release();
  });

  test('pays no heed to the times in the record, only to their changing', async () => {
    const longAgo = '2001-01-01T00:00:00.000000Z';
    const record = { holderIdentity: 'x', leaseDurationSeconds: 15, acquireTime: longAgo, renewTime: longAgo };
    await user.create(Lease, { metadata: lease, spec: record });
    const second = candidate(elector('b'));
    await clock.advance(14_000);
    expect(second.leadership).toBeUndefined();
    await clock.advance(2_000);
    expect(second.leadership?.isHeld()).toBe(true);
    await second.leadership?.release();
  });

  test('gets in at its next look once the first one has released', async () => {
    const first = await elector('a').acquire(stop.signal);
    const second = candidate(elector('b'));
    await clock.advance(4_000);
    await first.release();
    expect(first.isHeld()).toBe(false);
    expect(await spec()).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
    await clock.advance(2_000);
    expect(second.leadership?.isHeld()).toBe(true);
    expect(await spec()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
    await second.leadership?.release();
  });

  test('waits for a leader whose lease was deleted under it', async () => {
    const first = await elector('a').acquire(stop.signal);
    const second = candidate(elector('b'));
    await clock.advance(1_000);
    await user.delete(Lease, lease);
    await clock.advance(3_000);
    expect(first.isHeld()).toBe(false);
    expect(second.leadership).toBeUndefined();
    await clock.advance(15_000);
    expect(second.leadership?.isHeld()).toBe(true);
    await second.leadership?.release();
  });
});

describe('a leader', () => {
  test('outlives an API server that is away for less than the deadline', async () => {
    const leadership = await elector('a').acquire(stop.signal);
    transport.before = away;
    await clock.advance(9_000);
    transport.before = () => {};
    await clock.advance(30_000);
    expect(leadership.isHeld()).toBe(true);
    await leadership.release();
  });

  test('stops ten seconds after its last renewal when the API server is away for longer', async () => {
    const leadership = await elector('a').acquire(stop.signal);
    transport.before = away;
    await clock.advance(9_999);
    expect(leadership.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(leadership.signal.aborted).toBe(true);
    expect(leadership.signal.reason).toMatchObject({ name: 'LeadershipEnded' });
    await leadership.release();
    expect(clock.pending).toBe(0);
  });

  test('stops when the API server answers nothing at all', async () => {
    const leadership = await elector('a').acquire(stop.signal);
    transport.before = ({ signal }) =>
      new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    await clock.advance(10_000);
    expect(leadership.signal.aborted).toBe(true);
  });

  test('stops at its next renewal when somebody else took the lease', async () => {
    const leadership = await elector('a').acquire(stop.signal);
    await user.patch(Lease, lease, { type: 'merge', body: { spec: { holderIdentity: 'thief' } } });
    await clock.advance(2_000);
    expect(leadership.signal.reason).toMatchObject({ message: 'thief took the lease' });
    await leadership.release();
    expect((await spec()).holderIdentity).toBe('thief');
  });

  test('goes on when somebody only annotated the lease', async () => {
    const leadership = await elector('a').acquire(stop.signal);
    const annotations = { note: 'hands off' };
    await user.patch(Lease, lease, { type: 'merge', body: { metadata: { annotations } } });
    await clock.advance(60_000);
    expect(leadership.isHeld()).toBe(true);
    await leadership.release();
    expect((await spec()).holderIdentity).toBe('');
  });

  test('whose event loop was blocked knows it has lost before any timer has run, and says so in the first that does', async () => {
    const first = await elector('a').acquire(stop.signal);
    const written = transport.requests.length;
    clock.block(11_000);
    // The first timer to run is that of the next renewal, two seconds after the last.
    expect(await clock.runUntil(() => first.signal.aborted, 1)).toBe(true);
    expect(transport.requests).toHaveLength(written);

    const second = await elector('a').acquire(stop.signal);
    clock.block(11_000);
    expect(second.signal.aborted).toBe(false);
    expect(second.isHeld()).toBe(false);
    expect(second.signal.aborted).toBe(true);
  });

  test('tells of its beginning and its end', async () => {
    const told: string[] = [];
    const events = { record: (_: object, { note }: { note: string }) => void told.push(note) };
    const on = { gained: () => void told.push('gained'), lost: () => void told.push('lost') };
    const leadership = await elector('a', { events, on }).acquire(stop.signal);
    await leadership.release();
    expect(told).toEqual(['gained', 'a became leader', 'lost', 'a stopped leading']);
  });

  test('leaves no timer behind', async () => {
    const leadership = await elector('a').acquire(stop.signal);
    const second = candidate(elector('b'));
    await clock.advance(5_000);
    stop.abort(new Error('stopped'));
    await leadership.release();
    await clock.advance(0);
    expect(second.leadership).toBeUndefined();
    expect(clock.pending).toBe(0);
  });
});

test('releases even if its last renewal arrived without an answer', async () => {
  const leadership = await elector('a').acquire(stop.signal);
  server.faults.on({ verb: 'update', count: 1 }, { do: 'fail', when: 'after' });
  // The look that follows breaks off, too: the leader is left with a version that is not the newest.
  server.faults.on({ verb: 'get', count: 1 }, { do: 'reset' });
  await clock.advance(2_000);
  expect(await spec()).toMatchObject({ renewTime: '2026-01-01T00:00:02.000000Z' });
  expect(leadership.isHeld()).toBe(true);
  await leadership.release();
  expect((await spec()).holderIdentity).toBe('');
});

test.each([
  [{ ...DEFAULT_TIMINGS, leaseMs: 10_000 }, /must last longer than the renew deadline/],
  [{ ...DEFAULT_TIMINGS, retryMs: 9_000 }, /must be longer than 1.2 times the retry period/],
  [{ ...DEFAULT_TIMINGS, leaseMs: 15_500 }, /must be whole seconds/],
])('timings that could let two lead are refused: %o', (timings, message) => {
  expect(() => elector('a', { timings })).toThrow(message);
});
