import type { Clock } from '@polder/kube';
import { sleep, TransportError } from '@polder/kube';
import { expired, internalError, StatusError } from '../status.ts';
import type { Fault, Verb } from './faults.ts';

export interface Interception {
  /** Before anything is done. Throws what the client shall see instead. */
  before(): Promise<void>;
  /** After everything is done. */
  after(): void;
  /** What reads shall pretend. */
  readonly staleRevision: number | undefined;
}

/** The faults of one request, in the order in which they take effect. Those of a running watch are `Faults.register`. */
export function interception(
  faults: readonly Fault[],
  verb: Verb,
  clock: Clock,
  signal: AbortSignal | undefined,
): Interception {
  const isWatch = verb === 'watch';
  return {
    async before() {
      for (const fault of faults) await strike(fault, isWatch, clock, signal);
    },
    after() {
      if (faults.some((fault) => fault.do === 'fail' && fault.when === 'after'))
        throw internalError('a fault on demand');
    },
    staleRevision: faults.find((fault) => fault.do === 'stale')?.revision,
  };
}

async function strike(fault: Fault, isWatch: boolean, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  switch (fault.do) {
    case 'slow':
      return sleep(clock, fault.ms, signal);
    case 'throttle':
      throw new StatusError(
        429,
        'TooManyRequests',
        'the server has received too many requests and has asked us to try again later',
        { retryAfterSeconds: fault.retryAfterSeconds },
      );
    case 'fail':
      if (fault.when === 'before') throw internalError('a fault on demand');
      return;
    case 'expire':
      if (!isWatch) throw expired('the requested version is gone: a fault on demand');
      return;
    case 'close':
    case 'reset':
      if (!isWatch)
        throw new TransportError(`the connection was ${fault.do === 'close' ? 'closed' : 'reset'}`, { sent: true });
      return;
    case 'silence':
      if (!isWatch) await forever(signal);
      return;
    case 'delay':
    case 'duplicate':
    case 'stale':
      return;
  }
}

function forever(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const give = () => reject(new TransportError('no answer came', { sent: true, cause: signal?.reason }));
    if (signal?.aborted) give();
    signal?.addEventListener('abort', give, { once: true });
  });
}
