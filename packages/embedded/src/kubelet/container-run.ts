import type { Ending, Health, RunningContainer } from './runner.ts';

/** What is known of one container of a pod, from its first start on. Lives in memory; what must outlive us is in the status. */
export interface ContainerRun {
  readonly restartCount: number;
  readonly state: ContainerState;
  /** How its last run ended, if there was one before this. */
  readonly last?: Ended | undefined;
  /** How long the next restart is put off. Zero the first time. */
  readonly backoffMs: number;
}

export type ContainerState = Waiting | Starting | Running | Ended;

/** Not started yet, or a start failed: then why, and when to try again. */
export interface Waiting {
  readonly is: 'waiting';
  readonly failure?: { readonly reason: string; readonly message: string; readonly retryAt: number };
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
  /** Set once it has been asked to end. */
  readonly isStopping: boolean;
}

export interface Ended {
  readonly is: 'ended';
  readonly startedAt: number;
  readonly ending: Ending;
}

/** After the first restart, which is at once: 10 s, 20 s, … 5 min; from anew after ten minutes without trouble. */
const FIRST_BACKOFF_MS = 10_000;
const LONGEST_BACKOFF_MS = 300_000;
const UNTROUBLED_MS = 600_000;

export const NEW_RUN: ContainerRun = { restartCount: 0, state: { is: 'waiting' }, backoffMs: 0 };

/** When it may be started again after it ended. */
export function restartAt({ state, backoffMs }: ContainerRun): number {
  return state.is === 'ended' ? state.ending.at + backoffMs : 0;
}

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

export function started(run: ContainerRun, container: RunningContainer, health: Health): ContainerRun {
  const { startedAt } = container;
  return { ...again(run), state: { is: 'running', startedAt, container, health, isStopping: false } };
}

export function ended(run: ContainerRun, startedAt: number, ending: Ending): ContainerRun {
  return { ...run, state: { is: 'ended', startedAt, ending } };
}

/** A program that could not even be started counts as a run that ended at once. */
export const stillborn = (run: ContainerRun, ending: Ending): ContainerRun => ended(again(run), ending.at, ending);

function again(run: ContainerRun): ContainerRun {
  const { state } = settled(run);
  if (state.is !== 'ended') return run;
  const isTroubled = state.ending.at - state.startedAt < UNTROUBLED_MS;
  return {
    ...run,
    restartCount: run.restartCount + 1,
    last: state,
    backoffMs: isTroubled ? Math.min(Math.max(FIRST_BACKOFF_MS, run.backoffMs * 2), LONGEST_BACKOFF_MS) : 0,
  };
}

export function startFailed(run: ContainerRun, reason: string, message: string, now: number): ContainerRun {
  const backoffMs = Math.min(Math.max(FIRST_BACKOFF_MS, run.backoffMs * 2), LONGEST_BACKOFF_MS);
  return { ...run, backoffMs, state: { is: 'waiting', failure: { reason, message, retryAt: now + backoffMs } } };
}
