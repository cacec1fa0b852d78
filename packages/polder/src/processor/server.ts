import type { Gauged, MetricsRegistry } from '@polder/engine';
import type { Clock } from '@polder/kube/clock';
import { Hono } from 'hono';

export interface ServerOptions {
  readonly pipeline: Gauged & { readonly isReady: boolean; readonly lastProgressAt: number };
  readonly metrics: { look(pipeline: Gauged): void };
  readonly registry: MetricsRegistry;
  readonly clock: Clock;
  /** So long nothing may get on before `/livez` asks for a restart. 0: for ever. */
  readonly progressTimeoutMs: number;
}

/** What the world may ask of a processor. */
export function serverOf({ pipeline, metrics, registry, clock, progressTimeoutMs }: ServerOptions): Hono {
  const ofProcess = processMetrics(registry);
  const app = new Hono();
  app.get('/metrics', (context) => {
    metrics.look(pipeline);
    ofProcess.look();
    return context.text(registry.text(), 200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' });
  });
  app.get('/healthz', (context) => context.text('ok'));
  app.get('/readyz', (context) =>
    pipeline.isReady ? context.text('ok') : context.text('not ready: it does not read', 503),
  );
  app.get('/livez', (context) => {
    const stuckMs = clock.now() - pipeline.lastProgressAt;
    const isStale = progressTimeoutMs > 0 && stuckMs > progressTimeoutMs;
    return isStale
      ? context.text(`stale: no pipeline progress for ${Math.round(stuckMs / 1_000)} s`, 503)
      : context.text('ok');
  });
  return app;
}

/** The three that every dashboard of processes begins with. */
function processMetrics(registry: MetricsRegistry): { look(): void } {
  const gauge = (name: string, help: string) => registry.gauge({ name, help, labelNames: [] }).labels({});
  const cpu = registry
    .counter({ name: 'process_cpu_seconds_total', help: 'CPU time spent.', labelNames: [] })
    .labels({});
  const memory = gauge('process_resident_memory_bytes', 'Memory held.');
  gauge('process_start_time_seconds', 'When the process started, since the epoch.').set(
    Math.round(performance.timeOrigin) / 1_000,
  );
  let spent = 0;
  return {
    look() {
      const { user, system } = process.cpuUsage();
      cpu.inc((user + system) / 1e6 - spent);
      spent = (user + system) / 1e6;
      memory.set(process.memoryUsage.rss());
    },
  };
}
