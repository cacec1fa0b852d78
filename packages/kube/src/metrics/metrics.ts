import { collectDefaultMetrics, Registry } from 'prom-client';
import type { AdmissionEvents } from '../admission/index.ts';
import type { CertificateFileEvents } from '../certificates/index.ts';
import type { ClientOptions } from '../client/index.ts';
import type { Clock } from '../clock/index.ts';
import type { PassResult, RunnerEvents } from '../controller/index.ts';
import { type Kind, resourceNameOf } from '../kinds/index.ts';
import type { ElectionEvents } from '../lease/index.ts';
import type { ManagerEvents } from '../manager/index.ts';
import type { QueueEvents, WorkQueue } from '../queue/index.ts';
import type { ReflectorEvents } from '../reflector/index.ts';
import { type Meters, metersIn } from './meters.ts';
import { type RuntimeMetrics, runtimeMetrics } from './names.ts';

/** controller-runtime's names; we have no `requeue` (a wait has a time), but dashboards ask for it. */
const RESULTS = ['success', 'error', 'requeue', 'requeue_after'];

/** Beyond this, priorities would be series without end. */
const MOST_PRIORITIES = 25;

const isGood = (result: PassResult) => result === 'success' || result === 'requeue_after';

/**
 * What the runtime tells Prometheus. Each part of the runtime has hooks of its own and knows nothing of metrics; the methods
 * here make those hooks. Every series is there, at zero, from the moment its hooks are made: a rate needs a beginning.
 *
 * What is a state and not an event (depth, silence, objects) is read when it is scraped: exact, and without a timer.
 */
export class Metrics {
  readonly registry = new Registry();
  /** For series under names of a product's own, on the same page. */
  readonly meters: Meters = metersIn(this.registry);
  readonly #clock: Clock;
  readonly #metrics: RuntimeMetrics;
  /** By name, so that what is measured anew (the queue of the next term) takes the place of what was. */
  readonly #samples = new Map<string, () => void>();
  readonly #watches = new Map<string, Set<{ heardAt: number }>>();

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
    this.#metrics = runtimeMetrics(this.meters);
  }

  /** CPU, memory, file descriptors, event loop lag, heap and garbage collection of this process. */
  process(): void {
    // The lag is taken from a timer. One for every 10 ms, as it is by default, would be most of what an idle operator does.
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: 50 });
  }

  /** The text that Prometheus scrapes. */
  async text(): Promise<string> {
    for (const sample of this.#samples.values()) sample();
    return await this.registry.metrics();
  }

  controller(name: string, maxConcurrent: number): RunnerEvents {
    const metrics = this.#metrics;
    const labels = { controller: name };
    for (const result of RESULTS) metrics.reconciles.inc({ ...labels, result }, 0);
    for (const errors of [
      metrics.reconcileErrors,
      metrics.terminalErrors,
      metrics.reconcilePanics,
      metrics.reconcileTimeouts,
    ]) {
      errors.inc(labels, 0);
    }
    metrics.reconcileSeconds.zero(labels);
    metrics.maxConcurrentReconciles.set(labels, maxConcurrent);
    metrics.activeWorkers.set(labels, 0);
    return {
      queue: (queue) => this.queue(name, queue),
      passStarted: () => metrics.activeWorkers.inc(labels),
      passEnded: (result, ms) => {
        metrics.activeWorkers.dec(labels);
        metrics.reconciles.inc({ ...labels, result: isGood(result) ? result : 'error' });
        metrics.reconcileSeconds.observe(labels, ms / 1000);
        if (!isGood(result)) metrics.reconcileErrors.inc(labels);
        if (result === 'terminal') metrics.terminalErrors.inc(labels);
        if (result === 'timeout') metrics.reconcileTimeouts.inc(labels);
        if (result === 'panic') metrics.reconcilePanics.inc(labels);
      },
    };
  }

  /** The hooks of a controller's queue; `queue` is asked for its depth once it is made. */
  queue(controller: string, queue: () => Pick<WorkQueue, 'depths' | 'workingMs'>): QueueEvents {
    const metrics = this.#metrics;
    const labels = { name: controller, controller };
    metrics.queueAdds.inc(labels, 0);
    metrics.queueRetries.inc(labels, 0);
    metrics.queueSeconds.zero(labels);
    metrics.workSeconds.zero(labels);
    const priorities = new Set([0]);
    this.#samples.set(`queue ${controller}`, () => {
      const { depths, workingMs } = queue();
      for (const priority of depths.keys()) if (priorities.size < MOST_PRIORITIES) priorities.add(priority);
      for (const priority of priorities) {
        metrics.queueDepth.set({ ...labels, priority: String(priority) }, depths.get(priority) ?? 0);
      }
      metrics.unfinishedSeconds.set(labels, workingMs.reduce((sum, ms) => sum + ms, 0) / 1000);
      metrics.longestSeconds.set(labels, Math.max(0, ...workingMs) / 1000);
    });
    return {
      added: () => metrics.queueAdds.inc(labels),
      retried: () => metrics.queueRetries.inc(labels),
      started: (_, waitedMs) => metrics.queueSeconds.observe(labels, waitedMs / 1000),
      finished: (_, workedMs) => metrics.workSeconds.observe(labels, workedMs / 1000),
    };
  }

  client(host: string): NonNullable<ClientOptions['onAnswer']> {
    this.#metrics.requests.inc({ code: '200', method: 'GET', host }, 0);
    return ({ method, code }) => this.#metrics.requests.inc({ code: String(code), method, host });
  }

  /** The hooks of one of a kind's reflectors; of several (one for each namespace) the most silent one is told. */
  reflector(kind: Kind): ReflectorEvents {
    const { watchFetches, watchSilence } = this.#metrics;
    const resource = resourceNameOf(kind);
    const watch = { heardAt: this.#clock.monotonic() };
    const watches = this.#watches.get(resource) ?? new Set();
    this.#watches.set(resource, watches.add(watch));
    watchFetches.inc({ resource, cause: 'first' }, 0);
    this.#samples.set(`silence ${resource}`, () => {
      const heardAt = Math.min(...[...watches].map((one) => one.heardAt));
      watchSilence.set({ resource }, (this.#clock.monotonic() - heardAt) / 1000);
    });
    return {
      fetching: (cause) => watchFetches.inc({ resource, cause }),
      heard: () => {
        watch.heardAt = this.#clock.monotonic();
      },
    };
  }

  /** All hooks of a manager that talks to this host. */
  manager(host: string): ManagerEvents {
    return {
      answered: this.client(host),
      reflecting: (kind) => this.reflector(kind),
      caching: (kind, store) => this.store(kind, store),
      waited: (kind, ms) => this.#metrics.staleWaits.observe({ resource: resourceNameOf(kind) }, ms / 1000),
      running: (kind, workers) => this.controller(resourceNameOf(kind), workers),
      leading: (product) => this.election(product),
    };
  }

  /** Counts the objects of a kind's store. */
  store(kind: Kind, store: { readonly size: number }): void {
    const { cacheObjects, staleWaits } = this.#metrics;
    const resource = resourceNameOf(kind);
    staleWaits.zero({ resource });
    this.#samples.set(`objects ${resource}`, () => cacheObjects.set({ resource }, store.size));
  }

  election(name: string): ElectionEvents {
    const { isLeader } = this.#metrics;
    isLeader.set({ name }, 0);
    return { gained: () => isLeader.set({ name }, 1), lost: () => isLeader.set({ name }, 0) };
  }

  admission(paths: readonly string[]): AdmissionEvents {
    const { webhookRequests, webhookSeconds, webhooksInFlight, webhookPanics, conversionPanics } = this.#metrics;
    for (const webhook of paths) {
      for (const code of ['200', '500']) webhookRequests.inc({ webhook, code }, 0);
      webhookSeconds.zero({ webhook });
      webhooksInFlight.set({ webhook }, 0);
    }
    return {
      started: (webhook) => webhooksInFlight.inc({ webhook }),
      answered: (webhook, code, ms) => {
        webhooksInFlight.dec({ webhook });
        webhookRequests.inc({ webhook, code: String(code) });
        webhookSeconds.observe({ webhook }, ms / 1000);
      },
      failed: (_, review) => (review === 'ConversionReview' ? conversionPanics : webhookPanics).inc(),
    };
  }

  certificateFiles(): CertificateFileEvents {
    const { certificateReads, certificateErrors } = this.#metrics;
    return {
      read: () => certificateReads.inc(),
      failed: () => {
        certificateReads.inc();
        certificateErrors.inc();
      },
    };
  }

  /** Nothing is scraped any more, and nothing that was measured is held on to. */
  stop(): void {
    this.#samples.clear();
    this.#watches.clear();
    this.registry.clear();
  }
}
