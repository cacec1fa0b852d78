import type { ClientOptions } from '../client/index.ts';
import type { RunnerEvents } from '../controller/index.ts';
import type { Kind } from '../kinds/index.ts';
import type { ElectionEvents } from '../lease/index.ts';
import type { QueueEvents } from '../queue/index.ts';
import type { ReflectorEvents } from '../reflector/index.ts';

/** Told of what happens to a product, for metrics. What it watches together with others happens to each of them. */
export interface ProductEvents {
  reflecting?(kind: Kind): ReflectorEvents;
  /** A kind is cached here. */
  caching?(kind: Kind, store: { readonly size: number }): void;
  /** A read of this kind waited for our own write to arrive in the cache. */
  waited?(kind: Kind, ms: number): void;
  /** An object of this kind was not as the product had left it, and is so again. */
  drifted?(kind: Kind): void;
  /** The controller of a kind is at work, for this term. */
  running?(kind: Kind, workers: number): RunnerEvents;
  leading?(product: string): ElectionEvents;
}

/** Told of what happens to all products, for metrics. */
export interface ManagerEvents extends ProductEvents {
  readonly answered?: ClientOptions['onAnswer'];
}

/** Whoever of these wants to hear of something, does. */
export function together(all: readonly ManagerEvents[]): ManagerEvents {
  return {
    answered: (answer) => all.forEach((one) => one.answered?.(answer)),
    reflecting: (kind) => reflectors(all.flatMap((one) => one.reflecting?.(kind) ?? [])),
    caching: (kind, store) => all.forEach((one) => one.caching?.(kind, store)),
    waited: (kind, ms) => all.forEach((one) => one.waited?.(kind, ms)),
    drifted: (kind) => all.forEach((one) => one.drifted?.(kind)),
    running: (kind, workers) => runners(all.flatMap((one) => one.running?.(kind, workers) ?? [])),
    leading: (product) => elections(all.flatMap((one) => one.leading?.(product) ?? [])),
  };
}

const reflectors = (all: readonly ReflectorEvents[]): ReflectorEvents => ({
  fetching: (cause) => all.forEach((one) => one.fetching?.(cause)),
  opened: () => all.forEach((one) => one.opened?.()),
  heard: () => all.forEach((one) => one.heard?.()),
  ended: (ending, during) => all.forEach((one) => one.ended?.(ending, during)),
});

const runners = (all: readonly RunnerEvents[]): RunnerEvents => ({
  queue: (queue) => queues(all.flatMap((one) => one.queue?.(queue) ?? [])),
  passStarted: () => all.forEach((one) => one.passStarted?.()),
  passEnded: (result, tookMs, isCleanup) => all.forEach((one) => one.passEnded?.(result, tookMs, isCleanup)),
  forgotten: (ref) => all.forEach((one) => one.forgotten?.(ref)),
  reported: (resource, plan) => all.forEach((one) => one.reported?.(resource, plan)),
  conflicted: () => all.forEach((one) => one.conflicted?.()),
  finalizerFailed: (doing) => all.forEach((one) => one.finalizerFailed?.(doing)),
  cleanedUp: (resource, plan, tookMs) => all.forEach((one) => one.cleanedUp?.(resource, plan, tookMs)),
});

const queues = (all: readonly QueueEvents[]): QueueEvents => ({
  added: (key, priority) => all.forEach((one) => one.added?.(key, priority)),
  retried: (key) => all.forEach((one) => one.retried?.(key)),
  started: (key, waitedMs) => all.forEach((one) => one.started?.(key, waitedMs)),
  finished: (key, workedMs) => all.forEach((one) => one.finished?.(key, workedMs)),
});

const elections = (all: readonly ElectionEvents[]): ElectionEvents => ({
  gained: () => all.forEach((one) => one.gained?.()),
  lost: () => all.forEach((one) => one.lost?.()),
});
