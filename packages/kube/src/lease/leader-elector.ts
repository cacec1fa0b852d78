import { type Client, isAlreadyExists, isConflict, isNotFound } from '../client/index.ts';
import { type Clock, sleep, withTimeout } from '../clock/index.ts';
import type { EventRecorder } from '../events/index.ts';
import { keyOf, Lease } from '../kinds/index.ts';
import { type Logger, messageOf } from '../log.ts';
import { type Leadership, Term } from './leadership.ts';
import { checkTimings, DEFAULT_TIMINGS, heldBy, isFree, JITTER, type Sighting, sight, type Timings } from './record.ts';

export interface LeaderElectorOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** 0 <= r < 1. Keeps candidates from looking in the same moment. */
  readonly random: () => number;
  readonly log: Logger;
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Who we are, unlike anybody else that ever ran: host name and something random. */
  readonly identity: string;
  readonly timings?: Timings | undefined;
  readonly events?: Pick<EventRecorder, 'record'> | undefined;
  /** Told when leadership begins and ends, for metrics. */
  readonly on?: ElectionEvents | undefined;
}

export interface ElectionEvents {
  gained?(): void;
  lost?(): void;
}

/**
 * One leader among many candidates, by a Lease.
 *
 * - **How?** The leader writes the lease every 2 s. A candidate that sees the record unchanged for the 15 s written in it
 *   takes it over; every write names the version it replaces, so of two that try at once one fails.
 * - **Whose clock?** Each its own, and only to measure: a candidate counts from when *it* saw the last change, a leader from
 *   when *it* sent the last renewal that was confirmed. The times inside the record are for people.
 * - **What keeps two leaders apart?** A renewal is seen by others no sooner than it was sent. The leader stops 10 s after
 *   sending it, the others begin 15 s after seeing it: clocks may run apart by a third before the two meet.
 * - **What if the leader can't run?** A blocked event loop fires no timer. `Leadership.isHeld()` compares the clock itself and
 *   is right even then; the signal follows in the first task that gets to run.
 * - **What does it not promise?** A write sent while leading may arrive after. There is no fencing in the API: writes must be
 *   safe by themselves (versions, server-side apply, UIDs). And a candidate that starts after somebody *deleted* the lease
 *   of a living leader can't know of that leader; those that run already wait as if it were still there.
 */
export class LeaderElector {
  readonly #options: LeaderElectorOptions;
  readonly #timings: Timings;
  #last: Sighting | undefined;
  #term: Term | undefined;

  constructor(options: LeaderElectorOptions) {
    this.#options = options;
    this.#timings = options.timings ?? DEFAULT_TIMINGS;
    checkTimings(this.#timings);
  }

  /** Waits until we lead; rejects only when the signal aborts. Call it again after the leadership has ended. */
  async acquire(signal: AbortSignal): Promise<Leadership> {
    const { clock, random } = this.#options;
    const { retryMs, renewDeadlineMs } = this.#timings;
    // A release still under way would take a new term, under the same name, for the old one and give it back.
    await this.#term?.settled();
    for (;;) {
      const startedAt = clock.monotonic();
      const lease = await this.#try(signal);
      // What took longer than this to be confirmed might already be somebody else's.
      if (lease && clock.monotonic() < startedAt + renewDeadlineMs) {
        this.#term = new Term({ ...this.#options, timings: this.#timings, held: lease, confirmedAt: startedAt });
        return this.#term;
      }
      await sleep(clock, retryMs * (1 + JITTER * random()), signal);
    }
  }

  async #try(signal: AbortSignal): Promise<Lease | undefined> {
    try {
      return await this.#take(signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const { log, lease } = this.#options;
      if (isConflict(error) || isAlreadyExists(error)) {
        log.debug({ lease: keyOf(lease) }, 'another candidate took the lease first');
      } else log.warn({ lease: keyOf(lease), error: messageOf(error) }, 'lease not reached, trying again');
      return undefined;
    }
  }

  /** Our lease if we could take it, undefined if it is somebody's. */
  async #take(signal: AbortSignal): Promise<Lease | undefined> {
    const { client, clock, identity, lease: ref } = this.#options;
    const { leaseMs } = this.#timings;
    const found = await this.#call(signal, (signal) => client.get(Lease, ref, { signal }).catch(undefinedIfNotFound));
    if (found) this.#last = sight(this.#last, found, clock.monotonic());
    if (this.#last && !isFree(this.#last, identity, clock.monotonic())) return undefined;
    const spec = heldBy(identity, found?.spec, leaseMs, clock.now());
    return await this.#call(signal, (signal) =>
      found
        ? client.update(Lease, { ...found, spec }, { signal })
        : client.create(Lease, { metadata: ref, spec }, { signal }),
    );
  }

  #call<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return withTimeout(this.#options.clock, this.#timings.renewDeadlineMs / 2, signal, 'the lease request', work);
  }
}

function undefinedIfNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
