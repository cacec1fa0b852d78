import { setMaxListeners } from 'node:events';
import { type Cache, OwnWrites } from '../cache/index.ts';
import { Client, type ClientOptions, fenced, type Transport } from '../client/index.ts';
import type { Clock } from '../clock/index.ts';
import { LastApplied } from '../controller/index.ts';
import { EventRecorder } from '../events/index.ts';
import type { Kind } from '../kinds/index.ts';
import type { Leadership } from '../lease/index.ts';
import type { Logger } from '../log.ts';
import type { ProductEvents } from './events.ts';
import type { Product } from './product.ts';

export interface TermOptions {
  readonly cache: Cache;
  readonly transport: Transport;
  readonly clientOptions: Omit<ClientOptions, 'transport'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly identity: string;
  readonly on: Pick<ProductEvents, 'running' | 'waited' | 'drifted'>;
}

/**
 * One time of leading: the controllers of a product at work, from gaining the lease to losing it or stopping. Everything
 * that a pass could remember begins empty here, so that a term never decides on what an earlier one knew.
 */
export async function lead(
  product: Product,
  leadership: Pick<Leadership, 'signal' | 'isHeld'>,
  stop: AbortSignal,
  options: TermOptions,
): Promise<void> {
  const { cache, clock, random, log, on } = options;
  const client = new Client({ ...options.clientOptions, transport: fenced(options.transport, leadership.isHeld) });
  const recorders = new Map<string, EventRecorder>();
  const recorderFor = (name: string) => {
    const reporter = { controller: name, instance: options.identity };
    const recorder = recorders.get(name) ?? new EventRecorder({ client, clock, random, log, reporter });
    recorders.set(name, recorder);
    return recorder;
  };
  const parts = {
    client,
    cache,
    ownWrites: new OwnWrites(),
    lastApplied: new LastApplied(),
    fieldManager: product.fieldManager,
    clock,
    onWait: on.waited,
    onDrift: on.drifted,
    kinds: product.controllers.flatMap((controller): readonly Kind[] => controller.kinds),
  };
  const runners = product.controllers.map((controller) =>
    controller.run({
      parts,
      clock,
      random,
      log,
      pace: product.pace,
      events: recorderFor(controller.reportsAs ?? product.fieldManager),
      on: on.running?.(controller.kind, controller.workers),
    }),
  );
  // Losing the lease ends passes at once; a stop lets them finish what they have in hand.
  setMaxListeners(0, leadership.signal);
  for (const runner of runners) {
    runner.listen();
    runner.start(leadership.signal);
  }
  await aborted(AbortSignal.any([leadership.signal, stop]));
  await Promise.all(runners.map((runner) => runner.stop()));
  for (const recorder of recorders.values()) {
    if (leadership.isHeld()) await recorder.flush(FLUSH_MS);
    await recorder.stop();
  }
}

/** How long the last events may take to be written. */
export const FLUSH_MS = 2_000;

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
