import { type Plan, type Pod, type PodCondition, type PodStatus, timestamp } from '@polder/kube';
import { SELECTED_NODE } from '../controllers/persistent-volume/index.ts';
import { podCondition } from '../controllers/pods/index.ts';
import { place } from './place.ts';
import type { Surroundings } from './refusal.ts';
import type { ClaimChoice } from './volumes.ts';

export type Observed =
  | { readonly is: 'aside' }
  | { readonly is: 'outranked' }
  | { readonly is: 'waiting'; readonly surroundings: Surroundings };

export type SchedulerStep =
  | { readonly do: 'bind-pod'; readonly because: string; readonly pod: Pod; readonly node: string }
  | { readonly do: 'reserve-volume'; readonly because: string; readonly claim: Claim; readonly volume: Volume }
  | { readonly do: 'select-node'; readonly because: string; readonly claim: Claim; readonly node: string }
  | { readonly do: 'report-waiting'; readonly because: string; readonly pod: Pod; readonly condition: PodCondition };

type Claim = ClaimChoice['claim'];
type Volume = NonNullable<ClaimChoice['volume']>;
type SchedulerPlan = Plan<SchedulerStep, PodStatus>;

export const UNSCHEDULABLE = 'Unschedulable';
const OUTRANKED_MS = 10;

export function planPod(pod: Pod, observed: Observed, now: Date): SchedulerPlan {
  // A pod's status is its kubelet's; of it a scheduler writes one condition, in a step.
  const idle: SchedulerPlan = { objects: [], steps: [], held: [], status: pod.status ?? {} };
  if (observed.is === 'aside') return idle;
  if (observed.is === 'outranked') {
    return { ...idle, lookAgain: { afterMs: OUTRANKED_MS, because: 'a pod of higher priority comes first' } };
  }
  const placement = place(pod, observed.surroundings);
  if (placement.is === 'on-node') return { ...idle, steps: go(pod, placement.node, placement.claims) };
  const { generation } = pod.metadata;
  const told = { reason: UNSCHEDULABLE, message: placement.because };
  const steps = report(pod, { ...told, ...(generation !== undefined && { observedGeneration: generation }) }, now);
  return { ...idle, steps };
}

/** A pod goes to its node when all its claims are bound; before, whoever binds them has to know the node. */
function go(pod: Pod, node: string, claims: readonly ClaimChoice[]): readonly SchedulerStep[] {
  if (claims.length === 0) return [{ do: 'bind-pod', because: `${node} suits it best`, pod, node }];
  const because = `pod ${pod.metadata.name} goes to ${node}`;
  return claims.flatMap(({ claim, volume }): readonly SchedulerStep[] => {
    if (volume) return volume.spec?.claimRef ? [] : [{ do: 'reserve-volume', because, claim, volume }];
    const isSelected = claim.metadata.annotations?.[SELECTED_NODE] === node;
    return isSelected ? [] : [{ do: 'select-node', because, claim, node }];
  });
}

/** Only what is news: a condition that says the same is left as it is. */
function report(
  pod: Pod,
  told: Pick<PodCondition, 'reason' | 'message' | 'observedGeneration'>,
  now: Date,
): readonly SchedulerStep[] {
  const old = podCondition(pod, 'PodScheduled');
  if (old?.status === 'False' && old.reason === told.reason && old.message === told.message) return [];
  const since = old?.status === 'False' ? old.lastTransitionTime : undefined;
  const lastTransitionTime = since ?? timestamp(now);
  const condition = { type: 'PodScheduled', status: 'False', lastTransitionTime, ...told };
  return [{ do: 'report-waiting', because: told.message ?? '', pod, condition }];
}
