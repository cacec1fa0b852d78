import type { References } from './references/index.ts';
import type { Ending, Health, RunningContainer, StartFailure } from './runner.ts';

/** What is known of one container of a pod, from its first start on. Lives in memory; what must outlive us is in the status. */
export interface ContainerRun {
  readonly restartCount: number;
  readonly state: ContainerState;
  /** How the run before this one ended, if there was one. */
  readonly last?: Ended | undefined;
  /** How long the next restart is put off. Zero the first time. */
  readonly backoffMs: number;
}

export type ContainerState = Waiting | Starting | Running | Ended;

/** Not started yet, or a start failed. */
export interface Waiting {
  readonly is: 'waiting';
  readonly problem?: StartProblem;
  /** How its last run ended, if it was to be started again. */
  readonly after?: Ended | undefined;
}

/** Why a container could not be started, and when that is tried again. */
export interface StartProblem {
  readonly reason: StartFailure['reason'];
  readonly message: string;
  readonly at: number;
  readonly retryAt: number;
  /** What it was to be started with: once that has changed there is no need to wait. */
  readonly references: References;
}

/** Its runner has been told; how it was before is what users see meanwhile. */
export interface Starting {
  readonly is: 'starting';
  readonly before: Waiting | Ended;
}

export interface Running {
  readonly is: 'running';
  readonly startedAt: number;
  readonly container: RunningContainer;
  readonly health: Health;
  /** Set once it has been asked to end: when it is killed. */
  readonly stopBy?: number;
}

export interface Ended {
  readonly is: 'ended';
  readonly startedAt: number;
  readonly ending: Ending;
}

/** After the first restart, which is at once: 10 s, 20 s, … 5 min; from anew after a run of ten minutes. */
const FIRST_BACKOFF_MS = 10_000;
const LONGEST_BACKOFF_MS = 300_000;
const UNTROUBLED_MS = 600_000;

export const NEW_RUN: ContainerRun = { restartCount: 0, state: { is: 'waiting' }, backoffMs: 0 };

/** How its last run ended, if it does not run now and ever did. */
export function lastEnd(run: ContainerRun): Ended | undefined {
  const { state } = settled(run);
  if (state.is === 'waiting') return state.after;
  return state.is === 'ended' ? state : undefined;
}

/** How long the restart of a container that ended is put off. */
export const backoffOf = ({ backoffMs }: ContainerRun, end: Ended) => (isTroubled(end) ? backoffMs : 0);

export function starting(run: ContainerRun): ContainerRun {
  const { state } = run;
  if (state.is === 'starting' || state.is === 'running') throw new Error(`a container that is ${state.is} was started`);
  return { ...run, state: { is: 'starting', before: state } };
}

export type SettledRun = ContainerRun & { readonly state: Exclude<ContainerState, Starting> };

/** As it was before it was started, if it is about to. */
export function settled(run: ContainerRun): SettledRun {
  const { state } = run;
  return { ...run, state: state.is === 'starting' ? state.before : state };
}

/** Whether something of it runs, or may. */
export const isBusy = ({ state }: ContainerRun) => state.is === 'starting' || state.is === 'running';

/** Which run of the container is the next. */
export const nextCount = (run: ContainerRun) => run.restartCount + (lastEnd(run) === undefined ? 0 : 1);

export function started(run: ContainerRun, container: RunningContainer, health: Health): ContainerRun {
  return { ...again(run), state: { is: 'running', startedAt: container.startedAt, container, health } };
}

export function ended(run: ContainerRun, startedAt: number, ending: Ending): ContainerRun {
  return { ...run, state: { is: 'ended', startedAt, ending } };
}

/** A program that could not even be started counts as a run that ended at once. */
export const stillborn = (run: ContainerRun, ending: Ending): ContainerRun => ended(again(run), ending.at, ending);

function again(run: ContainerRun): ContainerRun {
  const end = lastEnd(run);
  if (end === undefined) return run;
  const backoffMs = isTroubled(end) ? longer(run.backoffMs) : FIRST_BACKOFF_MS;
  return { ...run, restartCount: nextCount(run), last: end, backoffMs };
}

/** It did not come as far as to be run. Tried again later and later, however often it had been restarted before. */
export function startFailed(
  run: ContainerRun,
  { reason, message }: StartFailure,
  references: References,
  at: number,
): ContainerRun {
  const { state } = settled(run);
  const before = state.is === 'waiting' ? state.problem : undefined;
  const retryAt = at + longer(before ? before.retryAt - before.at : 0);
  const problem = { reason, message, at, retryAt, references };
  return { ...run, state: { is: 'waiting', problem, after: lastEnd(run) } };
}

const isTroubled = ({ startedAt, ending }: Ended) => ending.at - startedAt < UNTROUBLED_MS;
const longer = (backoffMs: number) => Math.min(Math.max(FIRST_BACKOFF_MS, backoffMs * 2), LONGEST_BACKOFF_MS);
