import { judge, type Plan, type StatusOf, timestamp } from '@polder/kube';
import type { DataFlow } from '../kinds/index.ts';
import { desired, type Workload } from '../objects/index.ts';
import type { Observed } from '../observe.ts';
import type { Settings } from '../settings.ts';
import { admit, type Runnable } from './admission.ts';
import { countsOf } from './counts.ts';
import { type Health, healthOf } from './health.ts';
import { type Maintenance, maintenanceAt } from './maintenance.ts';
import { newsOfChildren, newsOfHealth } from './news.ts';
import { rules } from './rules.ts';
import type { FlowStep } from './step.ts';
import { asksForReset, stopping, turning, wantedSteps } from './wanted.ts';

export { rules } from './rules.ts';
export type { Access, FlowStep } from './step.ts';
export { RESET_ANNOTATION } from './wanted.ts';

type FlowPlan = Plan<FlowStep, StatusOf<DataFlow>>;
type Status = FlowPlan['status'];

/** Pure: the same flow, the same observation and the same time give the same plan. */
export function planFlow(flow: DataFlow, observed: Observed, now: Date, settings: Settings): FlowPlan {
  if (flow.metadata.deletionTimestamp !== undefined) return planEnd(flow, observed);
  const admission = admit(flow, observed, settings);
  return admission.isAdmitted
    ? planRun(flow, observed, now, settings, admission.runnable)
    : planStandstill(flow, observed, now, settings, admission.health);
}

function planRun(flow: DataFlow, observed: Observed, now: Date, settings: Settings, runnable: Runnable): FlowPlan {
  const maintenance = maintenanceAt(runnable.spec.maintenance, now);
  const pause = pauseOf(flow, runnable, maintenance);
  const workload: Workload = { ...runnable, replicas: pause === undefined ? runnable.spec.replicas : 0 };
  const { objects, deployment } = desired(flow, workload);
  const turn = turning(observed.children.deployment, deployment);
  const wanted = [...turn, ...wantedSteps(flow, workload, observed.children)];
  const { steps, held } = judge(wanted, rules, observed);
  const health = healthOf(observed, deployment, pause);
  const isLeft = held.length > 0 || turn.length > 0;
  return {
    objects: turn.length === 0 ? objects : [],
    steps,
    held,
    status: {
      ...statusOf(flow, observed, now, settings, health),
      ...(runnable.spec.maintenance && { maintenanceStatus: maintenanceStatus(runnable, maintenance) }),
    },
    // All that runs is well, but something is left to do: then what that is says how the flow is doing.
    ...((health.summary.is !== 'ready' || !isLeft) && { summary: health.summary }),
    events: [...newsOfChildren(observed.children, workload.files.spec, deployment), ...newsOfHealth(flow, health)],
    ...lookAgain(observed, now, settings, maintenance),
  };
}

/** No object is made or changed: what runs, runs on as it did. */
function planStandstill(flow: DataFlow, observed: Observed, now: Date, settings: Settings, health: Health): FlowPlan {
  return {
    objects: [],
    steps: stopping(flow, observed.children.deployment),
    held: [],
    status: statusOf(flow, observed, now, settings, health),
    summary: health.summary,
    events: newsOfHealth(flow, health),
    ...lookAgain(observed, now, settings),
  };
}

/** Somebody else's finalizer keeps the flow: it ends all the same. Otherwise what it owns goes with it. */
function planEnd(flow: DataFlow, { children: { deployment, spec } }: Observed): FlowPlan {
  const because = 'the DataFlow is being deleted';
  const isLeft = deployment !== undefined || spec !== undefined;
  const note = 'Deleted Deployment and ConfigMap';
  return {
    objects: [],
    steps: isLeft ? [{ do: 'remove-processor', because, deployment, spec }] : [],
    held: [],
    status: { ...flow.status, phase: 'Stopped', message: because },
    summary: { is: 'reconciling', reason: 'Deleting', because },
    events: isLeft ? [{ type: 'Normal', reason: 'ResourcesDeleted', action: 'Delete', note }] : [],
  };
}

/** Why no processor should run now; undefined: one should. */
function pauseOf(flow: DataFlow, { spec, isCheckpointed }: Runnable, { isOpen }: Maintenance): string | undefined {
  if (spec.maintenance?.suspended) return 'Processor suspended manually';
  if (isOpen) return 'Processor paused for scheduled maintenance window';
  if (isCheckpointed && asksForReset(flow)) return 'Processor stopped until its checkpoint is reset';
  return spec.replicas === 0 ? 'Processor stopped: spec.replicas is 0' : undefined;
}

/** Counts alone are written only now and then; with other news they are brought up to date. */
function statusOf(flow: DataFlow, observed: Observed, now: Date, { intervals }: Settings, health: Health): Status {
  const { status, metadata } = flow;
  const { phase, message } = health;
  const { before, after, isDue } = countsOf(status, observed, now, intervals.countsMs);
  const isNews =
    phase !== status?.phase || message !== status.message || metadata.generation !== status.observedGeneration;
  return { phase, message, ...(isDue || isNews ? after : before) };
}

function maintenanceStatus({ spec }: Runnable, { isOpen, last, next }: Maintenance) {
  return {
    inMaintenance: isOpen,
    suspended: spec.maintenance?.suspended ?? false,
    ...(next && { nextMaintenanceTime: timestamp(next) }),
    ...(last && { lastMaintenanceTime: timestamp(last) }),
  };
}

/** No event tells that a window opens or closes, or what processors count. */
function lookAgain(
  observed: Observed,
  now: Date,
  { intervals }: Settings,
  { changesAt }: Partial<Maintenance> = {},
): Pick<FlowPlan, 'lookAgain'> {
  const looks = [
    ...(observed.pods.length === 0 ? [] : [nextCount(observed, now, intervals)]),
    ...(changesAt ? [{ afterMs: changesAt.getTime() - now.getTime(), because: 'a maintenance window changes' }] : []),
  ];
  const [next] = looks.toSorted((a, b) => a.afterMs - b.afterMs);
  return next ? { lookAgain: next } : {};
}

/** Counts that stand still are asked for as often as they could be written: most flows, most of the time, have nothing to do. */
function nextCount({ pods, readings }: Observed, now: Date, { metricsMs, countsMs }: Settings['intervals']) {
  const still = readings.filter(({ isOver, movedAt }) => !isOver && now.getTime() - movedAt >= countsMs);
  const isMoving = pods.some(({ metadata }) => still.every(({ uid }) => uid !== metadata.uid));
  return { afterMs: isMoving ? metricsMs : Math.max(metricsMs, countsMs), because: 'its processors count' };
}
