import { Job, type JobSpec, type JobStatus, type NewObject, type Plan, type Pod } from '@polder/kube';
import { type ClaimStep, claim, isReady, isTerminating } from '../../pods/index.ts';
import { indexedPod, jobPod } from '../job-pod.ts';
import { JOB_CONTROLLER } from '../names.ts';
import type { Observed } from '../observe.ts';
import { newsIn, statusOf } from '../status.ts';
import { type Facts, factsOf, isTracked } from './facts.ts';
import { type Scale, scale } from './scale.ts';
import { type Tracking, track } from './tracking.ts';
import { COMPLETIONS_REACHED, deadlineOf, FINAL, trueCondition, type Verdict, verdictOn } from './verdict.ts';

export type JobStep =
  | ClaimStep
  | {
      readonly do: 'create-pod';
      readonly because: string;
      readonly pod: NewObject<Pod>;
      /** What is true of the job even if the server refuses the pod. */
      readonly otherwise: JobStatus;
    }
  /** Its end will be counted, so it keeps the finalizer. */
  | { readonly do: 'delete-pod'; readonly because: string; readonly pod: Pod }
  /** It goes without being counted. */
  | { readonly do: 'discard-pod'; readonly because: string; readonly pod: Pod }
  | { readonly do: 'untrack-pod'; readonly because: string; readonly pod: Pod }
  | { readonly do: 'delete-job'; readonly because: string; readonly job: Job };

type JobPlan = Plan<JobStep, JobStatus>;

export function planJob(job: Job, observed: Observed, now: Date): JobPlan {
  const { spec } = job;
  if (!spec || isManagedElsewhere(spec)) return nothingToDo(job);
  if (trueCondition(job.status?.conditions, ...Object.values(FINAL))) return planFinished(job, spec, observed, now);
  const claimed = claim(Job, job, spec.selector ?? {}, observed);
  // Whose pods these are is settled first, so that none is counted before it is tracked.
  const steps = [...claimed.steps, ...lettingGo(claimed.pods, observed)];
  if (steps.length > 0) return { ...nothingToDo(job), steps };
  return planUnfinished(factsOf(job, spec, claimed.pods), now);
}

/** Pods that are deleted can't be released, and if the selector does not match them, nobody will count them. */
function lettingGo(claimed: readonly Pod[], { owned }: Observed): readonly JobStep[] {
  const ours = new Set(claimed);
  const others = owned.filter((pod) => !ours.has(pod) && isTracked(pod) && isTerminating(pod));
  return others.map((pod) => ({ do: 'untrack-pod', because: 'the selector no longer matches it', pod }));
}

const isManagedElsewhere = ({ managedBy = JOB_CONTROLLER }: JobSpec) => managedBy !== JOB_CONTROLLER;

function nothingToDo(job: Job): JobPlan {
  return { objects: [], steps: [], held: [], status: job.status ?? {} };
}

function planUnfinished(facts: Facts, now: Date): JobPlan {
  const { job, active } = facts;
  const early = verdictOn(facts, now.getTime());
  const isDeleted = job.metadata.deletionTimestamp !== undefined;
  const scaled = early || isDeleted ? NO_CHANGE : scale(facts, now);
  const left = active.length - scaled.discard.length + scaled.create.length;
  const verdict = early ?? (left === 0 && isComplete(facts) ? COMPLETIONS_REACHED : undefined);
  const tracking = track(facts, verdict);
  const gone = new Set(verdict ? active : scaled.discard);
  const pods = {
    active: active.length - gone.size,
    ready: active.filter((pod) => isReady(pod) && !gone.has(pod)).length,
    terminating: facts.terminating.length + gone.size,
  };
  const decided = { facts, verdict, tracking, now, ...pods };
  const otherwise = statusOf(decided);
  const status = statusOf({ ...decided, active: pods.active + scaled.create.length });
  const lookAgain = nextLook(facts, scaled, verdict, now);
  return {
    objects: [],
    steps: [...untracking(tracking, scaled), ...ending(facts, early), ...scaling(facts, scaled, otherwise)],
    held: [],
    status,
    events: newsIn(job, status),
    ...(lookAgain && { lookAgain }),
  };
}

const NO_CHANGE: Scale = { because: 'the job ends', create: [], discard: [] };

/** Without a number of completions, one success is enough: it is for the pods to know when their work is done. */
function isComplete({ spec, counts }: Facts): boolean {
  return counts.succeeded >= (spec.completions ?? 1);
}

/** Those that are discarded lose the finalizer by that. */
function untracking({ untrack }: Tracking, { discard }: Scale): readonly JobStep[] {
  const because = 'the status accounts for it, or it never counts';
  return untrack.filter((pod) => !discard.includes(pod)).map((pod) => ({ do: 'untrack-pod', because, pod }));
}

function ending({ active }: Facts, verdict: Verdict | undefined): readonly JobStep[] {
  if (!verdict) return [];
  return active.map((pod) => ({ do: 'delete-pod', because: verdict.message, pod }));
}

function scaling({ job, spec, lastFailed }: Facts, { because, create, discard }: Scale, otherwise: JobStatus) {
  const newPod = (index: number | undefined) =>
    index === undefined ? jobPod(job, spec) : indexedPod(job, spec, index, lastFailed.get(index));
  return [
    ...discard.map((pod): JobStep => ({ do: 'discard-pod', because, pod })),
    ...create.map((index): JobStep => ({ do: 'create-pod', because, pod: newPod(index), otherwise })),
  ];
}

/** No event tells that a backoff is over, or a deadline passed. */
function nextLook(facts: Facts, { retryAt }: Scale, verdict: Verdict | undefined, now: Date) {
  const deadline = deadlineOf(facts);
  const looks = [
    ...(retryAt === undefined ? [] : [{ at: retryAt, because: 'a pod may be created again' }]),
    ...(deadline === undefined || verdict ? [] : [{ at: deadline, because: 'its deadline passes' }]),
  ];
  const [next] = looks.toSorted((a, b) => a.at - b.at);
  return next && { afterMs: Math.max(0, next.at - now.getTime()), because: next.because };
}

/** All was counted before the job said that it is over; what still has our finalizer has nothing to wait for. */
function planFinished(job: Job, { ttlSecondsAfterFinished }: JobSpec, { owned }: Observed, now: Date): JobPlan {
  const tracked = owned.filter(isTracked);
  const untrack = tracked.map((pod): JobStep => ({ do: 'untrack-pod', because: 'the job is over', pod }));
  const plan = { ...nothingToDo(job), steps: untrack };
  const finished = trueCondition(job.status?.conditions, ...Object.values(FINAL));
  if (ttlSecondsAfterFinished === undefined || job.metadata.deletionTimestamp !== undefined) return plan;
  const afterMs = Date.parse(finished?.lastTransitionTime ?? '') + ttlSecondsAfterFinished * 1000 - now.getTime();
  if (afterMs > 0) return { ...plan, lookAgain: { afterMs, because: 'its time to live after the end is over then' } };
  const because = `it ended more than ${ttlSecondsAfterFinished} s ago`;
  return { ...plan, steps: [...untrack, { do: 'delete-job', because, job }] };
}
