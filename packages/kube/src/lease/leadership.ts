import { setMaxListeners } from 'node:events';
import { isConflict, isNotFound } from '../client/index.ts';
import { sleep, type Timer, withTimeout } from '../clock/index.ts';
import { keyOf, Lease } from '../kinds/index.ts';
import { messageOf } from '../log.ts';
import type { LeaderElectorOptions } from './leader-elector.ts';
import { heldBy, released, type Timings } from './record.ts';

/** A time of being the leader. It begins held and ends once. */
export interface Leadership {
  /** Aborts the moment leadership ends, with the reason why. */
  readonly signal: AbortSignal;
  /** Whether we lead at this very moment, by the clock and not by a timer: ask before a write that only a leader may do. */
  isHeld(): boolean;
  /** Lets the next leader begin at once. Only after all work has returned: from here on somebody else may do it. */
  release(): Promise<void>;
}

export class LeadershipEnded extends Error {
  override readonly name = 'LeadershipEnded';
}

export interface TermOptions extends LeaderElectorOptions {
  readonly timings: Timings;
  readonly held: Lease;
  /** When the request that made us leader was sent. */
  readonly confirmedAt: number;
}

const RELEASE_TRIES = 5;

export class Term implements Leadership {
  readonly #options: TermOptions;
  readonly #end = new AbortController();
  readonly #renewing: Promise<void>;
  #lease: Lease;
  #confirmedAt: number;
  #deadline: Timer | undefined;
  #releasing: Promise<void> = Promise.resolve();

  constructor(options: TermOptions) {
    this.#options = options;
    this.#lease = options.held;
    this.#confirmedAt = options.confirmedAt;
    // Every worker listens.
    setMaxListeners(0, this.#end.signal);
    options.on?.gained?.();
    options.log.info({ lease: keyOf(options.lease), identity: options.identity }, 'became leader');
    this.#tell('Acquire', 'became leader');
    this.#awaitDeadline();
    this.#renewing = this.#renewWhileHeld();
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  isHeld(): boolean {
    if (this.#end.signal.aborted) return false;
    const { clock, timings } = this.#options;
    const silentMs = clock.monotonic() - this.#confirmedAt;
    if (silentMs < timings.renewDeadlineMs) return true;
    this.#lose(`the lease was not renewed for ${Math.round(silentMs)} ms (deadline ${timings.renewDeadlineMs} ms)`);
    return false;
  }

  release(): Promise<void> {
    if (this.isHeld()) {
      this.#finish('the lease was released');
      this.#releasing = this.#giveBack();
    }
    return this.settled();
  }

  /** Resolves once this term writes nothing any more, if it is over. */
  async settled(): Promise<void> {
    await Promise.all([this.#renewing, this.#releasing]);
  }

  async #giveBack(): Promise<void> {
    const { log, lease } = this.#options;
    await this.#renewing;
    try {
      await this.#writeReleased();
    } catch (error) {
      log.warn({ lease: keyOf(lease), error: messageOf(error) }, 'lease not released, it will run out by itself');
    }
  }

  async #writeReleased(): Promise<void> {
    const { client, clock, identity, lease: ref } = this.#options;
    for (let tries = 1; ; tries++) {
      const lease = { ...this.#lease, spec: released(this.#lease.spec, clock.now()) };
      try {
        await this.#call((signal) => client.update(Lease, lease, { signal }));
        return;
      } catch (error) {
        // Our last renewal may have arrived after we stopped waiting for it.
        if (!isConflict(error) || tries >= RELEASE_TRIES) throw error;
      }
      this.#lease = await this.#call((signal) => client.get(Lease, ref, { signal }));
      if (this.#lease.spec?.holderIdentity !== identity) return;
    }
  }

  async #renewWhileHeld(): Promise<void> {
    const { clock, log, timings } = this.#options;
    while (this.isHeld()) {
      const dueAt = clock.monotonic() + timings.retryMs;
      await sleep(clock, timings.retryMs, this.signal).catch(() => {});
      const lateMs = clock.monotonic() - dueAt;
      if (!this.isHeld()) return;
      if (lateMs > timings.retryMs) {
        log.error({ lateMs: Math.round(lateMs) }, 'the event loop was blocked; longer, and leadership is lost');
      }
      await this.#renew();
    }
  }

  /** Without looking first: as long as we lead, the last version we wrote is the newest. */
  async #renew(): Promise<void> {
    const { log, lease } = this.#options;
    try {
      await this.#write();
    } catch (error) {
      if (this.signal.aborted) return;
      if (!isConflict(error) && !isNotFound(error)) {
        log.warn({ lease: keyOf(lease), error: messageOf(error) }, 'lease not renewed, trying again');
      }
      await this.#lookAndWrite();
    }
  }

  /** The version we know may be old (somebody annotated the lease, an answer was lost), or the lease somebody else's. */
  async #lookAndWrite(): Promise<void> {
    const { client, identity, lease: ref } = this.#options;
    try {
      const found = await this.#call((signal) => client.get(Lease, ref, { signal }), this.signal);
      const holder = found.spec?.holderIdentity ?? '';
      if (holder !== identity)
        return this.#lose(holder === '' ? 'the lease was taken from us' : `${holder} took the lease`);
      this.#lease = found;
      await this.#write();
    } catch (error) {
      // Whoever deletes the lease asks for a new election.
      if (isNotFound(error)) this.#lose('the lease was deleted');
    }
  }

  async #write(): Promise<void> {
    const { client, clock, identity, timings } = this.#options;
    const startedAt = clock.monotonic();
    const lease = { ...this.#lease, spec: heldBy(identity, this.#lease.spec, timings.leaseMs, clock.now()) };
    const written = await this.#call((signal) => client.update(Lease, lease, { signal }), this.signal);
    this.#lease = written;
    // An answer that comes after the deadline proves nothing about now.
    if (this.isHeld()) this.#confirmedAt = startedAt;
  }

  #call<T>(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { clock, timings } = this.#options;
    return withTimeout(clock, timings.renewDeadlineMs / 2, signal, 'the lease request', work);
  }

  #awaitDeadline(): void {
    const { clock, timings } = this.#options;
    this.#deadline = clock.after(this.#confirmedAt + timings.renewDeadlineMs - clock.monotonic(), () => {
      if (this.isHeld()) this.#awaitDeadline();
    });
  }

  #lose(because: string): void {
    const { log, lease, identity } = this.#options;
    log.error({ lease: keyOf(lease), identity, because }, 'lost leadership');
    this.#finish(because);
  }

  #finish(because: string): void {
    if (this.signal.aborted) return;
    this.#deadline?.cancel();
    this.#end.abort(new LeadershipEnded(because));
    this.#options.on?.lost?.();
    this.#tell('Release', 'stopped leading');
  }

  #tell(action: string, what: string): void {
    const { events, identity } = this.#options;
    events?.record(this.#lease, { type: 'Normal', reason: 'LeaderElection', action, note: `${identity} ${what}` });
  }
}
