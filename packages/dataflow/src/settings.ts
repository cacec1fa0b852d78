import type { ObjectRef } from '@polder/kube';

/** What whoever runs the operator decides for all flows. */
export interface Settings {
  /** The image of processors. Left out: the one that the operator itself runs. */
  readonly processorImage?: string | undefined;
  /** The operator's own Deployment: a new image of it is the new image of every processor that has no other. */
  readonly operator?: Required<ObjectRef> | undefined;
  readonly processorLogLevel: string;
  /** So long a processor may get nowhere before it is restarted; left out: as the processor has it. */
  readonly progressTimeoutSeconds?: number | undefined;
  /** Put the values of secrets into the ConfigMap, as `spec.json` had them before there was a Secret beside it. */
  readonly inlineSecrets: boolean;
  /** Namespaces whose Secrets every flow may use. Others than its own are refused: else any author reads any Secret. */
  readonly secretNamespaces: readonly string[];
  readonly intervals: Intervals;
}

export interface Intervals {
  /** How often a processor is asked for its counters. What it counts after the last time it was asked dies with it. */
  readonly metricsMs: number;
  /** How often counts alone are worth a write of the status. Those that did not change for so long are asked for no more often. */
  readonly countsMs: number;
}

export const DEFAULTS: Settings = {
  processorLogLevel: 'info',
  inlineSecrets: false,
  secretNamespaces: [],
  intervals: { metricsMs: 15_000, countsMs: 60_000 },
};

/** What the environment of an operator says, under the names that its users know. */
export function settingsIn(env: Readonly<Record<string, string | undefined>>): Partial<Settings> {
  const {
    PROCESSOR_IMAGE: processorImage,
    PROCESSOR_LOG_LEVEL: processorLogLevel,
    PROCESSOR_PROGRESS_TIMEOUT_SECONDS: timeout,
    OPERATOR_DEPLOYMENT_NAME: name,
    OPERATOR_NAMESPACE: namespace,
  } = env;
  return {
    ...(processorImage && { processorImage }),
    ...(processorLogLevel && { processorLogLevel }),
    ...(timeout && { progressTimeoutSeconds: secondsIn(timeout) }),
    ...(name && namespace && { operator: { name, namespace } }),
  };
}

function secondsIn(text: string): number {
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds;
  throw new Error(`PROCESSOR_PROGRESS_TIMEOUT_SECONDS is ${text}; it must be a number of seconds, 0 to switch it off`);
}
