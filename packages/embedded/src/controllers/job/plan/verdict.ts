import type { JobCondition, SuccessPolicyRule } from '@polder/kube';
import { type Facts, isFailed } from './facts.ts';
import { verdictOnPod } from './failure-policy.ts';
import { type Indexes, overlap, parseIndexes, sizeOf } from './indexes.ts';

/** How a job ends. It is stored as an interim condition before any of its evidence may go, and then stands. */
export interface Verdict {
  readonly is: 'succeeded' | 'failed';
  readonly reason: string;
  readonly message: string;
  readonly isStored: boolean;
}

/** The conditions by which a verdict is stored, and those that it ends in. */
export const INTERIM = { succeeded: 'SuccessCriteriaMet', failed: 'FailureTarget' } as const;
export const FINAL = { succeeded: 'Complete', failed: 'Failed' } as const;

/** Undefined while the job goes on. That enough pods succeeded is found elsewhere: it also takes that none is active. */
export function verdictOn(facts: Facts, now: number): Verdict | undefined {
  return storedVerdict(facts) ?? failureOf(facts, now) ?? successByPolicy(facts);
}

export const COMPLETIONS_REACHED: Verdict = {
  is: 'succeeded',
  reason: 'CompletionsReached',
  message: 'Reached expected number of succeeded pods',
  isStored: false,
};

function storedVerdict({ job }: Facts): Verdict | undefined {
  for (const is of ['succeeded', 'failed'] as const) {
    const found = trueCondition(job.status?.conditions, INTERIM[is]);
    if (found) return { is, reason: found.reason ?? '', message: found.message ?? '', isStored: true };
  }
  return undefined;
}

export function trueCondition(
  conditions: readonly JobCondition[] | undefined,
  ...types: readonly string[]
): JobCondition | undefined {
  return conditions?.find(({ type, status }) => types.includes(type) && status === 'True');
}

const failed = (reason: string, message: string): Verdict => ({ is: 'failed', reason, message, isStored: false });

function failureOf(facts: Facts, now: number): Verdict | undefined {
  const { spec, pods, counts, failedIndexes, completed } = facts;
  for (const pod of spec.podFailurePolicy ? pods : []) {
    const verdict = isFailed(spec, pod) ? verdictOnPod(spec, pod) : undefined;
    if (verdict?.is === 'job-failed') return failed('PodFailurePolicy', verdict.because);
  }
  if (counts.failed > (spec.backoffLimit ?? 6) || restartsExceedLimit(facts)) {
    return failed('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  }
  const deadline = deadlineOf(facts);
  if (deadline !== undefined && now >= deadline) {
    return failed('DeadlineExceeded', 'Job was active longer than specified deadline');
  }
  const failures = sizeOf(failedIndexes ?? []);
  if (failures > (spec.maxFailedIndexes ?? Number.POSITIVE_INFINITY)) {
    const message = 'Job has exceeded the specified maximal number of failed indexes';
    return failed('MaxFailedIndexesExceeded', message);
  }
  if (failures > 0 && failures + sizeOf(completed) >= (spec.completions ?? 0)) {
    return failed('FailedIndexes', 'Job has failed indexes');
  }
  return undefined;
}

/** When the job has been active for too long, in milliseconds since the epoch. A suspended job's time stands still. */
export function deadlineOf({ job, spec }: Facts): number | undefined {
  const { activeDeadlineSeconds, suspend } = spec;
  const { startTime } = job.status ?? {};
  if (activeDeadlineSeconds === undefined || startTime === undefined || suspend) return undefined;
  return Date.parse(startTime) + activeDeadlineSeconds * 1000;
}

/** Containers that are restarted in place never make a failed pod: their restarts are what counts. */
function restartsExceedLimit({ spec, pods }: Facts): boolean {
  if (spec.template.spec?.restartPolicy !== 'OnFailure') return false;
  const restarts = pods
    .filter(({ status }) => status?.phase === 'Running' || status?.phase === 'Pending')
    .flatMap(({ status }) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])])
    .reduce((sum, { restartCount }) => sum + restartCount, 0);
  const { backoffLimit = 6 } = spec;
  return backoffLimit === 0 ? restarts > 0 : restarts >= backoffLimit;
}

function successByPolicy({ spec, isIndexed, completed }: Facts): Verdict | undefined {
  const { successPolicy, completions = 0 } = spec;
  if (!isIndexed || !successPolicy || completed.length === 0) return undefined;
  const index = successPolicy.rules.findIndex((rule) => isMet(rule, completed, completions));
  if (index < 0) return undefined;
  return { is: 'succeeded', reason: 'SuccessPolicy', message: `Matched rules at index ${index}`, isStored: false };
}

function isMet({ succeededIndexes, succeededCount }: SuccessPolicyRule, completed: Indexes, completions: number) {
  const enough = succeededCount ?? Number.POSITIVE_INFINITY;
  if (succeededIndexes === undefined) return sizeOf(completed) >= enough;
  const required = parseIndexes(succeededIndexes, completions);
  const met = overlap(required, completed);
  return required.length > 0 && (met === sizeOf(required) || met >= enough);
}
