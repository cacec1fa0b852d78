import { type CheckpointStore, type Flow, flowOf, MetricsRegistry } from '@polder/engine';
import type { FlowSpec } from '@polder/engine/spec';
import { systemClock } from '@polder/kube/clock';
import { serve } from '@polder/kube/http-server';
import type { Logger } from 'pino';
import type { BindAddress } from '../bind-address.ts';
import { logOf } from '../log.ts';
import { CheckpointFile } from './checkpoint-file.ts';
import { serverOf } from './server.ts';
import { readSpec } from './spec-file.ts';

export interface ProcessorOptions {
  readonly specPath: string;
  readonly namespace: string;
  readonly name: string;
  readonly metricsBindAddress: BindAddress;
  /** A file. With neither this nor a ConfigMap, what a polled source has read is forgotten with the process. */
  readonly checkpoint?: string | undefined;
  /** The name of a ConfigMap in the namespace. */
  readonly checkpointConfigmap?: string | undefined;
}

const DEFAULT_PROGRESS_TIMEOUT_SECONDS = 3_600;

/** Runs one flow until it is stopped or its source is exhausted; everything that was read by then is written and committed. */
export async function processor(options: ProcessorOptions, env: NodeJS.ProcessEnv, stop: AbortSignal): Promise<void> {
  const { namespace, name } = options;
  const log = logOf(env, { namespace, name });
  const { spec, warnings } = await readSpec(options.specPath);
  for (const warning of warnings) log.warn({}, warning);
  const registry = new MetricsRegistry();
  const surroundings = {
    checkpoints: await checkpointsOf(spec, options, log),
    clock: systemClock,
    random: Math.random,
    log,
  };
  const flow = await flowOf({ spec, labels: { namespace, name }, registry, ...surroundings });
  const progressTimeoutMs = progressTimeoutIn(env) * 1_000;
  const app = serverOf({ ...flow, registry, clock: systemClock, progressTimeoutMs });
  const server = await serve(app, options.metricsBindAddress);
  try {
    log.info({ port: server.port }, `serving metrics and probes on port ${server.port}`);
    await run(flow, spec, stop, log);
  } finally {
    await server.close();
  }
}

async function run({ pipeline }: Flow, { source, sink }: FlowSpec, stop: AbortSignal, log: Logger): Promise<void> {
  log.info({ source: source.type, sink: sink.type }, 'starting');
  const { because, unfinished } = await pipeline.run(stop);
  if (unfinished > 0) log.warn({ unfinished }, 'the grace period was too short; what was not written is read again');
  log.info({}, because === 'stopped' ? 'stopped' : 'the source has no more; done');
}

async function checkpointsOf(spec: FlowSpec, options: ProcessorOptions, log: Logger): Promise<CheckpointStore> {
  const { checkpoint: file, checkpointConfigmap: name, namespace } = options;
  if (spec.source.type === 'kafka' || !spec.checkpointPersistence) return FORGETFUL;
  if (file === undefined && name === undefined) {
    log.warn({}, 'without --checkpoint the source is read from the beginning after a restart');
    return FORGETFUL;
  }
  const store = name === undefined ? new CheckpointFile(file ?? '') : await inConfigMap({ namespace, name });
  return spec.checkpointReset ? { load: async () => undefined, save: (key, value) => store.save(key, value) } : store;
}

/** The client of the cluster is loaded by those who need it: it is a third of what the rest of a processor takes. */
async function inConfigMap(ref: { readonly namespace: string; readonly name: string }): Promise<CheckpointStore> {
  const { CheckpointConfigMap } = await import('./checkpoint-config-map.ts');
  return CheckpointConfigMap.inCluster(ref);
}

const FORGETFUL: CheckpointStore = { load: async () => undefined, save: async () => {} };

function progressTimeoutIn({ PROCESSOR_PROGRESS_TIMEOUT_SECONDS: text }: NodeJS.ProcessEnv): number {
  if (text === undefined || text === '') return DEFAULT_PROGRESS_TIMEOUT_SECONDS;
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds;
  throw new Error(`PROCESSOR_PROGRESS_TIMEOUT_SECONDS is ${text}; it must be a number of seconds, 0 to switch it off`);
}
