import { isDeepStrictEqual } from 'node:util';
import { microTime } from '../events/index.ts';
import type { Lease, LeaseSpec } from '../kinds/index.ts';

/** How long things take in an election. Checked: lease > renew deadline > 1.2 x retry. */
export interface Timings {
  /** How long the others wait after the last sign of life before they take over. Default 15 s. */
  readonly leaseMs: number;
  /** How long a leader goes on leading without a renewal. Default 10 s. */
  readonly renewDeadlineMs: number;
  /** How often a leader renews and a candidate looks; candidates add up to 1.2 times as much at random. Default 2 s. */
  readonly retryMs: number;
}

export const DEFAULT_TIMINGS: Timings = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };

export const JITTER = 1.2;

/** The order of the three is what keeps two leaders apart: an old one stops before a new one may begin. */
export function checkTimings({ leaseMs, renewDeadlineMs, retryMs }: Timings): void {
  if (!(leaseMs > renewDeadlineMs)) {
    throw new RangeError(`the lease (${leaseMs} ms) must last longer than the renew deadline (${renewDeadlineMs} ms)`);
  }
  if (!(renewDeadlineMs > retryMs * JITTER)) {
    throw new RangeError(
      `the renew deadline (${renewDeadlineMs} ms) must be longer than ${JITTER} times the retry period (${retryMs} ms)`,
    );
  }
  if (!(retryMs > 0)) throw new RangeError(`the retry period (${retryMs} ms) must be longer than 0`);
  // The API counts in whole seconds, and a lease of none is refused.
  if (leaseMs % 1000 !== 0) throw new RangeError(`the lease (${leaseMs} ms) must be whole seconds`);
}

/** A lease, and when we first saw it say what it says: on our own clock, because nobody else's can be trusted. */
export interface Sighting {
  readonly lease: Lease;
  readonly at: number;
}

/** A change of labels or annotations is no sign of life; a new `spec` is. */
export function sight(last: Sighting | undefined, lease: Lease, now: number): Sighting {
  const isNews = !last || !isDeepStrictEqual(last.lease.spec, lease.spec);
  return { lease, at: isNews ? now : last.at };
}

/** Whether `identity` may take the lease it saw: it is its own, nobody's, or its holder was silent for too long. */
export function isFree({ lease, at }: Sighting, identity: string, now: number): boolean {
  const { holderIdentity = '', leaseDurationSeconds = 0 } = lease.spec ?? {};
  return holderIdentity === '' || holderIdentity === identity || now >= at + leaseDurationSeconds * 1000;
}

/** The record of the one who leads now: a renewal if the lease was theirs already, else a change of leaders. */
export function heldBy(identity: string, old: LeaseSpec | undefined, leaseMs: number, now: number): LeaseSpec {
  const isRenewal = old?.holderIdentity === identity;
  const time = microTime(now);
  return {
    holderIdentity: identity,
    leaseDurationSeconds: leaseMs / 1000,
    acquireTime: (isRenewal ? old.acquireTime : undefined) ?? time,
    renewTime: time,
    leaseTransitions: old ? (old.leaseTransitions ?? 0) + (isRenewal ? 0 : 1) : 0,
  };
}

/** The record of a leader who has stopped: nobody's, so that the next one need not wait. */
export function released(old: LeaseSpec | undefined, now: number): LeaseSpec {
  const time = microTime(now);
  return {
    // The shortest the API takes; older clients look at it even when nobody holds the lease.
    leaseDurationSeconds: 1,
    holderIdentity: '',
    acquireTime: time,
    renewTime: time,
    leaseTransitions: old?.leaseTransitions ?? 0,
  };
}
