import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  Client,
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
} from '../client/index.ts';
import { type Clock, sleep, VirtualClock } from '../clock/index.ts';
import type { Lease } from '../kinds/index.ts';
import { silentLogger } from '../log.ts';
import { LeaderElector } from './leader-elector.ts';
import type { Leadership } from './leadership.ts';

/**
 * All that the protocol relies on: one object, its versions, and conflicts. The embedded server keeps these promises too,
 * and a hundred more; the fifteen thousand renewals of this test would take it ten seconds.
 */
class OneLease {
  #stored: Lease | undefined;
  #version = 0;

  /** The answer, and the whole of its effect, in one synchronous step. */
  handle({ method, body }: TransportRequest): TransportResponse {
    const present = this.#stored;
    if (method === 'GET') return present ? answer(200, present) : answer(404, { reason: 'NotFound' });
    const lease: Lease = JSON.parse(body ?? '');
    const { resourceVersion } = lease.metadata;
    if (method === 'POST' && present) return answer(409, { reason: 'AlreadyExists' });
    if (resourceVersion !== present?.metadata.resourceVersion) return answer(409, { reason: 'Conflict' });
    this.#stored = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(++this.#version) } };
    return answer(200, this.#stored);
  }
}

function answer(status: number, body: object): TransportResponse {
  const text = JSON.stringify(body);
  const chunks = () => {
    throw new Error('nobody watches here');
  };
  return { status, headers: {}, text: async () => text, chunks, discard: async () => {} };
}

/** A process on a machine of its own: its event loop can be blocked, its way to the server cut, slow or lossy. */
class Machine {
  readonly clock: Clock;
  readonly transport: Transport;
  readonly stop = new AbortController();
  leadership: Leadership | undefined;
  isBlocked = false;
  network: 'up' | 'down' | 'loses-answers' = 'up';
  delayMs = 0;
  /** What happens to this process once it runs again. */
  readonly #backlog: (() => void)[] = [];

  constructor(time: VirtualClock, server: OneLease, seen: () => void) {
    this.clock = {
      now: () => time.now(),
      monotonic: () => time.monotonic(),
      after: (ms, callback) => {
        let isCancelled = false;
        const timer = time.after(ms, () => this.#run(() => isCancelled || callback()));
        const cancel = () => {
          isCancelled = true;
          timer.cancel();
        };
        return { cancel };
      },
    };
    this.transport = {
      request: (request) =>
        new Promise((resolve, reject) => {
          request.signal?.addEventListener('abort', () => reject(request.signal?.reason));
          const { network, delayMs } = this;
          void (async () => {
            // A request under way arrives, whatever becomes of the one who sent it.
            await sleep(time, delayMs);
            if (network === 'down') return this.#run(() => reject(new TransportError('cut off', { sent: false })));
            const answer = server.handle(request);
            seen();
            await sleep(time, delayMs);
            if (network === 'up') this.#run(() => resolve(answer));
            else this.#run(() => reject(new TransportError('answer lost', { sent: true })));
          })();
        }),
      close: () => Promise.resolve(),
    };
  }

  block(): void {
    this.isBlocked = true;
  }

  unblock(): void {
    this.isBlocked = false;
    for (const task of this.#backlog.splice(0)) task();
  }

  #run(task: () => void): void {
    if (this.isBlocked) this.#backlog.push(task);
    else task();
  }
}

const machine = fc.nat({ max: 2 });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 12_000 }) }) },
  fc.record({
    do: fc.constant('network' as const),
    machine,
    network: fc.constantFrom('up' as const, 'up' as const, 'down' as const, 'loses-answers' as const),
    delayMs: fc.constantFrom(0, 0, 50, 1_500, 6_000, 20_000),
  }),
  fc.record({ do: fc.constantFrom('block' as const, 'unblock' as const, 'unblock' as const), machine }),
  fc.record({ do: fc.constant('release' as const), machine }),
);

test('whatever happens to machines and network, no two lead at the same moment', async () => {
  let terms = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 60 }),
      fc.infiniteStream(fc.double({ min: 0, max: 0.99, noNaN: true })),
      async (steps, randoms) => {
        const time = new VirtualClock();
        const random = () => randoms.next().value;
        const server = new OneLease();
        const isLeading = () => machines.filter(({ leadership }) => leadership?.isHeld() ?? false).length;
        const check = () => expect(isLeading()).toBeLessThanOrEqual(1);
        const machines = Array.from({ length: 3 }, () => new Machine(time, server, check));
        const running = machines.map(async (one, index) => {
          const { clock, transport, stop } = one;
          const client = new Client({ transport, userAgent: 'test', clock });
          const lease = { namespace: 'default', name: 'one' };
          const elector = new LeaderElector({ client, clock, random, log: silentLogger, lease, identity: `m${index}` });
          while (!stop.signal.aborted) {
            one.leadership = await elector.acquire(stop.signal).catch(() => undefined);
            if (!one.leadership) return;
            terms++;
            check();
            await new Promise((resolve) => one.leadership?.signal.addEventListener('abort', resolve));
          }
        });
        const advance = async (ms: number) => {
          // In small steps, to look in between.
          for (let left = ms; left > 0; left -= 500) {
            await time.advance(Math.min(left, 500));
            check();
          }
        };
        for (const one of steps) {
          const subject = machines['machine' in one ? one.machine : 0];
          if (one.do === 'advance') await advance(one.ms);
          else if (one.do === 'network') Object.assign(subject ?? {}, { network: one.network, delayMs: one.delayMs });
          else if (one.do === 'block') subject?.block();
          else if (one.do === 'unblock') subject?.unblock();
          else if (!subject?.isBlocked) void subject?.leadership?.release();
          check();
        }
        // Left alone, somebody leads again.
        for (const one of machines) {
          Object.assign(one, { network: 'up', delayMs: 0 });
          one.unblock();
        }
        await advance(45_000);
        expect(isLeading()).toBe(1);
        for (const { stop } of machines) stop.abort();
        for (const { leadership } of machines) void leadership?.release();
        await advance(60_000);
        await Promise.all(running);
        expect(time.pending).toBe(0);
      },
    ),
    { numRuns: 150 },
  );
  expect(terms).toBeGreaterThan(100);
}, 60_000);
