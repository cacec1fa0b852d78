import {
  type Happening,
  type IntOrString,
  type Plan,
  type Pod,
  type PodDisruptionBudget,
  type PodDisruptionBudgetStatus,
  sameStatus,
} from '@polder/kube';
import { isReady, isTerminating } from '../pods/index.ts';
import type { Observed } from './observe.ts';

export interface BudgetStep {
  readonly do: 'write-status';
  readonly because: string;
  readonly budget: PodDisruptionBudget;
  readonly status: PodDisruptionBudgetStatus;
  readonly events: readonly Happening[];
}

/** An evicted pod that is still there after this long will not go, and counts again. */
const DISRUPTION_MS = 120_000;

/** Nothing tells when a controller that could not be asked can be. */
const ASK_AGAIN_MS = 60_000;

type BudgetPlan = Plan<BudgetStep, PodDisruptionBudgetStatus>;

/**
 * The status is a step, and not the runtime's to write: the API server spends from it with every eviction, so it may only be
 * replaced in the version that it was computed from.
 */
export function planBudget(budget: PodDisruptionBudget, observed: Observed, now: Date): BudgetPlan {
  const { scale } = observed;
  if (scale?.known === false) {
    const plan = write(budget, statusOfFailure(budget, scale.because, now), [failure(scale.because)]);
    return { ...plan, lookAgain: { afterMs: ASK_AGAIN_MS, because: scale.because } };
  }
  const { expectedPods, desiredHealthy } = demand(budget, observed.pods.length, scale?.value.count ?? 0);
  const disrupted = stillDisrupted(budget, observed.pods, now);
  const currentHealthy = observed.pods.filter(
    (pod) => !isTerminating(pod) && !disrupted.has(pod.metadata.name) && isReady(pod),
  ).length;
  const disruptionsAllowed = expectedPods > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
  const observedGeneration = budget.metadata.generation ?? 0;
  const isAllowed = disruptionsAllowed > 0;
  const reason = isAllowed ? 'SufficientPods' : 'InsufficientPods';
  const condition = { status: isAllowed ? 'True' : 'False', reason, message: '', observedGeneration };
  const status: PodDisruptionBudgetStatus = {
    currentHealthy,
    desiredHealthy,
    expectedPods,
    disruptionsAllowed,
    ...(disrupted.size > 0 && { disruptedPods: Object.fromEntries(disrupted) }),
    observedGeneration,
    conditions: conditionsAfter(budget, condition, now),
  };
  const plan = write(budget, status, eventsOf(budget, observed));
  const waits = [...disrupted.values()].map((time) => Date.parse(time) + DISRUPTION_MS - now.getTime());
  if (waits.length === 0) return plan;
  return { ...plan, lookAgain: { afterMs: Math.min(...waits), because: 'an evicted pod should be gone by then' } };
}

/** How many pods there should be, and how many of them healthy. Parts of pods are whole ones. */
function demand({ spec = {} }: PodDisruptionBudget, pods: number, scale: number) {
  const { maxUnavailable, minAvailable } = spec;
  if (maxUnavailable !== undefined) {
    return { expectedPods: scale, desiredHealthy: Math.max(0, scale - amount(maxUnavailable, scale)) };
  }
  if (typeof minAvailable === 'string') return { expectedPods: scale, desiredHealthy: amount(minAvailable, scale) };
  if (minAvailable === undefined) return { expectedPods: 0, desiredHealthy: 0 };
  return { expectedPods: pods, desiredHealthy: minAvailable };
}

const amount = (value: IntOrString, total: number) =>
  typeof value === 'number' ? value : Math.ceil((Number.parseInt(value, 10) * total) / 100);

/** Evictions that the API server has let through, and of which nothing has been seen yet. */
function stillDisrupted({ status }: PodDisruptionBudget, pods: readonly Pod[], now: Date): ReadonlyMap<string, string> {
  const there = new Set(pods.filter((pod) => !isTerminating(pod)).map(({ metadata }) => metadata.name));
  const entries = Object.entries(status?.disruptedPods ?? {});
  return new Map(entries.filter(([name, time]) => there.has(name) && Date.parse(time) + DISRUPTION_MS > now.getTime()));
}

type Conditions = NonNullable<PodDisruptionBudgetStatus['conditions']>;

/** The time is that of the last change of status. */
function conditionsAfter(
  { status }: PodDisruptionBudget,
  next: Omit<Conditions[number], 'type' | 'lastTransitionTime'>,
  now: Date,
): Conditions {
  const type = 'DisruptionAllowed';
  const before = status?.conditions ?? [];
  const old = before.find((condition) => condition.type === type);
  const isOld = old !== undefined && old.status === next.status;
  const lastTransitionTime = isOld ? old.lastTransitionTime : now.toISOString().replace(/\.\d+/, '');
  return [...before.filter((condition) => condition !== old), { type, ...next, lastTransitionTime }];
}

/** Who does not know allows nothing. */
function statusOfFailure(budget: PodDisruptionBudget, message: string, now: Date): PodDisruptionBudgetStatus {
  const { status = {} } = budget;
  const { observedGeneration = 0 } = status;
  const condition = { status: 'False', reason: 'SyncFailed', message, observedGeneration };
  return { ...status, disruptionsAllowed: 0, conditions: conditionsAfter(budget, condition, now) };
}

function write(
  budget: PodDisruptionBudget,
  status: PodDisruptionBudgetStatus,
  events: readonly Happening[],
): BudgetPlan {
  const before = budget.status ?? {};
  const because = `${status.currentHealthy} of ${status.expectedPods} pods are healthy, ${status.desiredHealthy} have to be`;
  const step: BudgetStep = { do: 'write-status', because, budget, status, events };
  return { objects: [], steps: sameStatus(before, status) ? [] : [step], held: [], status: before };
}

const failure = (message: string): Happening => ({
  type: 'Warning',
  reason: 'CalculateExpectedPodCountFailed',
  action: 'Sync',
  note: `Failed to calculate the number of expected pods: ${message}`,
});

function eventsOf({ spec }: PodDisruptionBudget, { pods, scale }: Observed): readonly Happening[] {
  const events: Happening[] = [];
  if (pods.length === 0) {
    events.push({ type: 'Normal', reason: 'NoPods', action: 'Sync', note: 'No matching pods found' });
  }
  if (scale?.known && scale.value.unmanaged.length > 0) {
    const selector = JSON.stringify(spec?.selector ?? {});
    const note = `Pods selected by this PodDisruptionBudget (selector: ${selector}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`;
    events.push({ type: 'Warning', reason: 'UnmanagedPods', action: 'Sync', note });
  }
  return events;
}
