import { type Container, Job, type JobSpec, type NewObject, type Pod } from '@polder/kube';
import { newPod } from '../pods/index.ts';
import { COMPLETION_INDEX, FAILURE_COUNT, IGNORED_FAILURE_COUNT, TRACKING } from './names.ts';
import { ignoredFailuresOf, pastFailuresOf } from './plan/facts.ts';
import { verdictOnPod } from './plan/failure-policy.ts';

const INDEX_VARIABLE = 'JOB_COMPLETION_INDEX';
const LONGEST_PREFIX = 63 - 5;

/** A pod of a job without indexes. */
export function jobPod(job: Job, { template }: JobSpec): NewObject<Pod> {
  const pod = newPod(Job, job, template);
  const finalizers = [...new Set([...(pod.metadata.finalizers ?? []), TRACKING])];
  return { ...pod, metadata: { ...pod.metadata, finalizers } };
}

/** The pod of one index. It knows its index by annotation, label, host name and variable; `last` is the one it follows. */
export function indexedPod(job: Job, spec: JobSpec, index: number, last: Pod | undefined): NewObject<Pod> {
  const pod = jobPod(job, spec);
  const { labels, annotations } = pod.metadata;
  const number = { [COMPLETION_INDEX]: String(index) };
  const suffix = `-${index}-`;
  const { containers = [], initContainers, ...rest } = pod.spec ?? {};
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      generateName: job.metadata.name.slice(0, LONGEST_PREFIX - suffix.length) + suffix,
      labels: { ...labels, ...number },
      annotations: {
        ...annotations,
        ...number,
        ...(spec.backoffLimitPerIndex !== undefined && failuresUpTo(spec, last)),
      },
    },
    spec: {
      ...rest,
      hostname: `${job.metadata.name}-${index}`,
      containers: containers.map(withIndexVariable),
      ...(initContainers && { initContainers: initContainers.map(withIndexVariable) }),
    },
  };
}

/** A successor takes over its index's failures: the status has no place for them. */
function failuresUpTo(spec: JobSpec, last: Pod | undefined): Record<string, string> {
  if (!last) return { [FAILURE_COUNT]: '0' };
  const isIgnored = verdictOnPod(spec, last).is === 'ignored';
  const ignored = ignoredFailuresOf(last) + (isIgnored ? 1 : 0);
  return {
    [FAILURE_COUNT]: String(pastFailuresOf(last) + (isIgnored ? 0 : 1)),
    ...(ignored > 0 && { [IGNORED_FAILURE_COUNT]: String(ignored) }),
  };
}

function withIndexVariable(container: Container): Container {
  const { env = [] } = container;
  if (env.some(({ name }) => name === INDEX_VARIABLE)) return container;
  const fieldPath = `metadata.labels['${COMPLETION_INDEX}']`;
  return { ...container, env: [...env, { name: INDEX_VARIABLE, valueFrom: { fieldRef: { fieldPath } } }] };
}
