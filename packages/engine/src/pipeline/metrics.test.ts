import { expect, test } from 'vitest';
import { MemorySink, MemorySource, MemoryTopic, Rig, refuse, to, VirtualClock, WORDS } from '../testing/index.ts';
import type { Labels, Registry } from './metric-names.ts';
import { PipelineMetrics } from './metrics.ts';

/** Prints a series as `name{a="1",b="2"}`, without the labels that all of them carry. */
class Series implements Registry {
  readonly values = new Map<string, number>();
  readonly buckets = new Map<string, readonly number[]>();
  readonly labelSets: Labels[] = [];

  #at(name: string, labels: Labels): string {
    this.labelSets.push(labels);
    const own = Object.entries(labels).filter(([label]) => label !== 'namespace' && label !== 'name');
    return own.length === 0 ? name : `${name}{${own.map(([label, value]) => `${label}="${value}"`).join(',')}}`;
  }

  #add(series: string, by: number): void {
    this.values.set(series, (this.values.get(series) ?? 0) + by);
  }

  counter({ name }: { name: string }) {
    return { labels: (labels: Labels) => ({ inc: (by = 1) => this.#add(this.#at(name, labels), by) }) };
  }

  gauge({ name }: { name: string }) {
    return { labels: (labels: Labels) => ({ set: (value: number) => this.values.set(this.#at(name, labels), value) }) };
  }

  histogram({ name, buckets }: { name: string; buckets: readonly number[] }) {
    this.buckets.set(name, buckets);
    return { labels: (labels: Labels) => ({ observe: () => this.#add(this.#at(`${name}_count`, labels), 1) }) };
  }
}

async function measured() {
  const clock = new VirtualClock();
  const series = new Series();
  const metrics = new PipelineMetrics({
    registry: series,
    labels: { namespace: 'shop', name: 'orders' },
    sourceType: 'kafka',
    sinkType: 'postgresql',
    routeTypes: new Map([['eu', 'trino']]),
    errorsType: 'nessie',
    transformations: WORDS,
    clock,
  });
  const topic = new MemoryTopic({
    a: ['plain', 'drop', 'split x y z', 'break', 'refused', 'route eu', { text: '?', isUndecodable: true }],
  });
  let attempts = 0;
  const write: ConstructorParameters<typeof MemorySink>[0] = {
    write: (batch) => {
      if (attempts++ === 0) throw new Error('connection reset');
      return refuse(batch, (text) => text === 'refused');
    },
  };
  const rig = new Rig({
    clock,
    source: new MemorySource({ topic, clock }),
    sink: to(new MemorySink(write), { size: 50 }),
    routes: new Map([['eu', to(new MemorySink())]]),
    errors: { ...to(new MemorySink()), ackPolicy: 'afterWrite' },
    on: metrics.events,
  });
  await rig.toEnd();
  await clock.advance(10_000 - clock.monotonic());
  metrics.look(rig.pipeline);
  return series;
}

test('dropped, split, failed, refused, retried: each is counted for what it is', async () => {
  const { values } = await measured();
  const expected = {
    'dataflow_messages_received_total{source_type="kafka"}': 7,
    'dataflow_messages_sent_total{sink_type="postgresql",route="default"}': 4,
    'dataflow_messages_sent_total{sink_type="trino",route="eu"}': 1,
    'dataflow_messages_sent_total{sink_type="nessie",route="error"}': 3,
    'dataflow_connector_messages_read_total{connector_type="kafka",connector_name="source"}': 7,
    'dataflow_connector_messages_written_total{connector_type="postgresql",connector_name="sink",route="default"}': 4,
    'dataflow_connector_connection_status{connector_type="kafka",connector_name="source"}': 0,
    'dataflow_transformer_executions_total{transformer_type="filter",transformer_index="0"}': 6,
    'dataflow_transformer_messages_out_total{transformer_type="filter",transformer_index="0"}': 5,
    'dataflow_transformer_messages_in_total{transformer_type="flatten",transformer_index="1"}': 5,
    'dataflow_transformer_messages_out_total{transformer_type="flatten",transformer_index="1"}': 7,
    'dataflow_transformer_errors_total{transformer_type="cast",transformer_index="2",error_type="transformation_error"}': 1,
    'dataflow_connector_errors_total{connector_type="postgresql",connector_name="sink",operation="write",error_type="unknown"}': 1,
    'dataflow_connector_errors_total{connector_type="postgresql",connector_name="sink",operation="write",error_type="invalid_data"}': 1,
    'dataflow_connector_errors_total{connector_type="kafka",connector_name="source",operation="read",error_type="invalid_data"}': 1,
    dataflow_processing_duration_seconds_count: 6,
    dataflow_task_end_to_end_latency_seconds_count: 8,
    'dataflow_task_message_size_bytes_count{stage="input"}': 7,
    'dataflow_task_message_size_bytes_count{stage="output"}': 8,
    'dataflow_task_stage_duration_seconds_count{stage="read"}': 1,
    'dataflow_task_stage_duration_seconds_count{stage="transformation"}': 6,
    'dataflow_task_stage_duration_seconds_count{stage="transformer_0"}': 6,
    'dataflow_task_stage_duration_seconds_count{stage="sink_write"}': 2,
    'dataflow_task_stage_duration_seconds_count{stage="error_sink_write"}': 1,
    'dataflow_task_operations_total{operation="sink_write",status="success"}': 5,
    'dataflow_task_operations_total{operation="transform",status="success"}': 5,
    'dataflow_task_operations_total{operation="transform",status="error"}': 1,
    'dataflow_task_stage_errors_total{stage="transformation",error_type="transformation_error"}': 1,
    'dataflow_task_queue_size{queue_type="default"}': 0,
    'dataflow_task_queue_wait_time_seconds_count{queue_type="default"}': 1,
    dataflow_task_active_messages: 0,
    dataflow_task_success_rate: 5 / 8,
    dataflow_task_throughput_messages_per_second: 0.5,
  };
  expect(Object.fromEntries(Object.keys(expected).map((name) => [name, values.get(name)]))).toEqual(expected);
});

test('every series carries the namespace and the name of its flow', async () => {
  const { labelSets } = await measured();
  expect(labelSets.every(({ namespace, name }) => namespace === 'shop' && name === 'orders')).toBe(true);
});

test('histograms have the buckets that dashboards were made for', async () => {
  const { buckets } = await measured();
  const summary = [...buckets].map(([name, b]) => [name.replace('dataflow_', ''), b[0], b[1], b.length]);
  expect(summary).toEqual([
    ['processing_duration_seconds', 0.001, 0.002, 10],
    ['transformer_duration_seconds', 0.0001, 0.0002, 12],
    ['task_stage_duration_seconds', 0.0001, 0.0002, 14],
    ['task_message_size_bytes', 64, 128, 16],
    ['task_stage_latency_seconds', 0.0001, 0.0002, 12],
    ['task_end_to_end_latency_seconds', 0.001, 0.002, 12],
    ['task_queue_wait_time_seconds', 0.0001, 0.0002, 12],
  ]);
});
