import { batchingOf, type Surroundings, sinkOf, sourceOf } from './connectors/index.ts';
import { type Destination, Pipeline, PipelineMetrics, type Registry } from './pipeline/index.ts';
import { durationOf, type FlowSpec, type SinkSpec } from './spec/index.ts';
import { compileTransforms } from './transforms/index.ts';

export interface FlowOptions extends Surroundings {
  readonly spec: FlowSpec;
  /** On every series. */
  readonly labels: { readonly namespace: string; readonly name: string };
  readonly registry: Registry;
}

/** A flow as it runs: its pipeline, and what is told of it. */
export interface Flow {
  readonly pipeline: Pipeline;
  readonly metrics: PipelineMetrics;
}

/** Makes of a spec what it says. Nothing is connected yet. */
export async function flowOf(options: FlowOptions): Promise<Flow> {
  const { spec, clock, random, log, labels, registry } = options;
  const destination = async (sink: SinkSpec): Promise<Destination> => ({
    type: sink.type,
    sink: await sinkOf(sink, options),
    batching: batchingOf(sink),
  });
  const routes = new Map<string, Destination>();
  for (const { condition, sink } of routesOf(spec)) routes.set(condition, await destination(sink));
  const transformations = compileTransforms(spec.transformations, clock);
  const errors = spec.errors && { ...(await destination(spec.errors)), ackPolicy: spec.errors.ackPolicy };
  const metrics = new PipelineMetrics({
    registry,
    labels,
    sourceType: spec.source.type,
    sinkType: spec.sink.type,
    routeTypes: new Map([...routes].map(([condition, { type }]) => [condition, type])),
    errorsType: errors?.type,
    transformations,
    clock,
  });
  const pipeline = new Pipeline({
    source: await sourceOf(spec.source, options),
    transformations,
    sink: await destination(spec.sink),
    routes,
    errors,
    ackGranularity: spec.ackGranularity,
    limits: { bufferedMessages: spec.channelBufferSize },
    ...commitsOf(spec),
    graceMs: graceOf(spec.terminationGracePeriodSeconds),
    clock,
    random,
    log,
    on: metrics.events,
  });
  return { pipeline, metrics };
}

const routesOf = ({ transformations }: FlowSpec) =>
  transformations.flatMap((one) => (one.type === 'router' ? one.config.routes : []));

/** Offsets of Kafka are cheap to commit; a checkpoint may be an object of a cluster, which should not be written each second. */
function commitsOf({ source, checkpointSaveInterval, checkpointSyncOnAck }: FlowSpec) {
  if (source.type === 'kafka') return {};
  return { commitIntervalMs: durationOf(checkpointSaveInterval), commitsPromptly: checkpointSyncOnAck };
}

/** The pod is killed when its grace period is over, and what runs before the signal counts, too: be done before. */
const graceOf = (seconds: number) => (seconds - Math.min(10, seconds / 5)) * 1_000;
