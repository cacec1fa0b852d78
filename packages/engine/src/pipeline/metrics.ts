import type { Clock } from '../clock.ts';
import type { Message } from '../message.ts';
import type { Transformation } from './chain.ts';
import { type Connector, ERRORS, type Failed, MAIN, type Outlet, type PipelineEvents, routeOutlet } from './events.ts';
import { type Counter, type Gauge, type Histogram, type Labels, metricsIn, type Registry } from './metric-names.ts';

export interface MetricsOptions {
  readonly registry: Registry;
  /** On every series. */
  readonly labels: { readonly namespace: string; readonly name: string };
  readonly sourceType: string;
  readonly sinkType: string;
  /** The types of the sinks of routes, by condition. */
  readonly routeTypes: ReadonlyMap<string, string>;
  readonly errorsType?: string | undefined;
  readonly transformations: readonly Pick<Transformation, 'type'>[];
  readonly clock: Clock;
}

/** What is asked of a pipeline when somebody looks. */
export interface Gauged {
  readonly inFlight: number;
  readonly queues: ReadonlyMap<Outlet, number>;
}

/** The rate is that of at least this long. */
const RATE_MS = 10_000;

/**
 * Turns what a pipeline tells into the series that dashboards know. Each counts what its name says also at the edges: a
 * dropped message is neither sent nor an error, one that was split is received once and sent as often as it was written, one
 * that is tried again is an error of the connector each time and of the task only if it is given up.
 *
 * Sizes between transformations are not told: to know them, every message would have to be printed after each one.
 */
export class PipelineMetrics {
  readonly events: PipelineEvents;
  readonly #options: MetricsOptions;
  readonly #metrics: ReturnType<typeof metricsIn>;
  #written = 0;
  #lost = 0;
  #rate: { readonly at: number; readonly written: number };

  constructor(options: MetricsOptions) {
    this.#options = options;
    this.#metrics = metricsIn(options.registry);
    this.#rate = { at: options.clock.monotonic(), written: 0 };
    this.events = this.#events();
  }

  /** Before the series are printed: those that are looked at and not counted. */
  look({ inFlight, queues }: Gauged): void {
    const { clock } = this.#options;
    const m = this.#metrics;
    this.#with(m.activeMessages).set(inFlight);
    for (const [outlet, size] of queues) this.#with(m.queueSize, { queue_type: outlet.name }).set(size);
    const done = this.#written + this.#lost;
    this.#with(m.successRate).set(done === 0 ? 1 : this.#written / done);
    const sinceMs = clock.monotonic() - this.#rate.at;
    if (sinceMs < RATE_MS) return;
    this.#with(m.throughput).set(((this.#written - this.#rate.written) * 1_000) / sinceMs);
    this.#rate = { at: clock.monotonic(), written: this.#written };
  }

  #events(): PipelineEvents {
    return {
      ...this.#readEvents(),
      ...this.#transformEvents(),
      ...this.#writeEvents(),
      connected: (connector) => this.#with(this.#metrics.connectionStatus, this.#connector(connector)).set(1),
      disconnected: (connector) => this.#with(this.#metrics.connectionStatus, this.#connector(connector)).set(0),
      failed: (failed) => this.#failed(failed),
    };
  }

  #readEvents(): PipelineEvents {
    const m = this.#metrics;
    const received = this.#with(m.received, { source_type: this.#options.sourceType });
    const read = this.#with(m.connectorRead, this.#connector({ role: 'source' }));
    const duration = this.#with(m.stageDuration, { stage: 'read' });
    const size = this.#with(m.messageSize, { stage: 'input' });
    for (const counter of [received, read]) counter.inc(0);
    return {
      read(inputs, waitedMs) {
        received.inc(inputs.length);
        read.inc(inputs.length);
        duration.observe(waitedMs / 1_000);
        for (const { payload } of inputs) size.observe(payload?.size ?? 0);
      },
    };
  }

  #transformEvents(): PipelineEvents {
    const { clock, transformations } = this.#options;
    const m = this.#metrics;
    const duration = this.#with(m.stageDuration, { stage: 'transformation' });
    const processing = this.#with(m.processingDuration);
    const latency = this.#with(m.stageLatency, { from_stage: 'read', to_stage: 'transformation' });
    const transformed = this.#with(m.operations, { operation: 'transform', status: 'success' });
    const steps = transformations.map(({ type }, index) => {
      const labels = { transformer_type: type, transformer_index: String(index) };
      const step = {
        executions: this.#with(m.transformerExecutions, labels),
        in: this.#with(m.transformerIn, labels),
        out: this.#with(m.transformerOut, labels),
        duration: this.#with(m.transformerDuration, labels),
        stage: this.#with(m.stageDuration, { stage: `transformer_${index}` }),
      };
      for (const counter of [step.executions, step.in, step.out]) counter.inc(0);
      return step;
    });
    return {
      applied(index, outputs, tookMs) {
        const step = steps[index];
        if (!step) return;
        step.executions.inc();
        step.in.inc();
        step.out.inc(outputs);
        step.duration.observe(tookMs / 1_000);
        step.stage.observe(tookMs / 1_000);
      },
      transformed({ origin }, { failures }, tookMs) {
        if (failures === 0) transformed.inc();
        processing.observe(tookMs / 1_000);
        duration.observe(tookMs / 1_000);
        latency.observe(Math.max(0, clock.now() - tookMs - origin.readAt) / 1_000);
      },
    };
  }

  #writeEvents(): PipelineEvents {
    const m = this.#metrics;
    const { routeTypes, errorsType } = this.#options;
    const main = this.#outlet(MAIN);
    const errors = errorsType === undefined ? undefined : this.#outlet(ERRORS);
    const routes = new Map(
      [...routeTypes.keys()].map((condition) => [condition, this.#outlet(routeOutlet(condition))]),
    );
    const outletOf = ({ role, name }: Outlet) => ({ main, errors, route: routes.get(name) })[role];
    return {
      taken: (outlet, _, waitedMs) => {
        this.#with(m.queueWait, { queue_type: outlet.name }).observe(waitedMs / 1_000);
        const to_stage = operationOf(outlet);
        this.#with(m.stageLatency, { from_stage: 'transformation', to_stage }).observe(waitedMs / 1_000);
      },
      written: (outlet, messages, tookMs) => {
        if (outlet.role !== 'errors') this.#written += messages.length;
        outletOf(outlet)?.(messages, tookMs);
      },
      gaveUp: (_, messages) => {
        this.#lost += messages;
      },
    };
  }

  #outlet(outlet: Outlet): (messages: readonly Message[], tookMs: number) => void {
    const { clock } = this.#options;
    const m = this.#metrics;
    const operation = operationOf(outlet);
    const sent = this.#with(m.sent, { sink_type: this.#sinkType(outlet), route: outlet.name });
    const written = this.#with(m.connectorWritten, {
      ...this.#connector({ role: 'sink', outlet }),
      route: outlet.name,
    });
    const counters = [sent, written].concat(
      ['write', operation].map((operation) => this.#with(m.operations, { operation, status: 'success' })),
    );
    const durations = ['write', operation].map((stage) => this.#with(m.stageDuration, { stage }));
    const latency = this.#with(m.endToEndLatency);
    const size = this.#with(m.messageSize, { stage: 'output' });
    for (const counter of counters) counter.inc(0);
    return (messages, tookMs) => {
      for (const counter of counters) counter.inc(messages.length);
      for (const duration of durations) duration.observe(tookMs / 1_000);
      const now = clock.now();
      for (const { origin, payload } of messages) {
        latency.observe(Math.max(0, now - origin.readAt) / 1_000);
        size.observe(payload?.size ?? 0);
      }
    };
  }

  #failed(failed: Failed): void {
    const m = this.#metrics;
    const { stage, type: error_type, messages } = failed;
    if (stage === 'transform' || stage === 'decode') this.#lost += messages;
    if (stage === 'transform') {
      const labels = {
        transformer_type: this.#options.transformations[failed.transformation]?.type ?? '',
        transformer_index: String(failed.transformation),
      };
      this.#with(m.transformerErrors, { ...labels, error_type }).inc(messages);
      this.#with(m.stageErrors, { stage: 'transformation', error_type }).inc(messages);
      this.#with(m.operations, { operation: 'transform', status: 'error' }).inc(messages);
      return;
    }
    const outlet = 'outlet' in failed ? failed.outlet : undefined;
    const connector: Connector = outlet === undefined ? { role: 'source' } : { role: 'sink', outlet };
    const operation = stage === 'decode' ? 'read' : stage;
    this.#with(m.connectorErrors, { ...this.#connector(connector), operation, error_type }).inc();
    const named = outlet === undefined ? operation : operationOf(outlet);
    this.#with(m.stageErrors, { stage: named, error_type }).inc(Math.max(1, messages));
    if (outlet === undefined) return;
    for (const operation of ['write', named]) this.#with(m.operations, { operation, status: 'error' }).inc(messages);
  }

  #connector(connector: Connector): Labels {
    if (connector.role === 'source') return { connector_type: this.#options.sourceType, connector_name: 'source' };
    const { outlet } = connector;
    // One name each, or the status of a route would overwrite that of the main sink.
    const name = outlet.role === 'main' ? 'sink' : outlet.name;
    return { connector_type: this.#sinkType(outlet), connector_name: name };
  }

  #sinkType({ role, name }: Outlet): string {
    const { sinkType, routeTypes, errorsType } = this.#options;
    return { main: sinkType, route: routeTypes.get(name), errors: errorsType }[role] ?? '';
  }

  #with(metric: Counter, labels?: Labels): ReturnType<Counter['labels']>;
  #with(metric: Gauge, labels?: Labels): ReturnType<Gauge['labels']>;
  #with(metric: Histogram, labels?: Labels): ReturnType<Histogram['labels']>;
  #with(metric: Counter | Gauge | Histogram, labels: Labels = {}): unknown {
    return metric.labels({ ...this.#options.labels, ...labels });
  }
}

const operationOf = ({ role }: Outlet) => (role === 'errors' ? 'error_sink_write' : 'sink_write');
