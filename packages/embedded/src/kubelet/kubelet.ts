import { isDeepStrictEqual } from 'node:util';
import {
  Bell,
  type Clock,
  type Container,
  type Happening,
  keyOf,
  type LifecycleHandler,
  type Logger,
  messageOf,
  type ObjectRef,
  type Pod,
  sleep,
} from '@polder/kube';
import type { MovedPorts } from '../network/index.ts';
import type { Addresses } from './addresses.ts';
import {
  type ContainerRun,
  ended,
  isBusy,
  NEW_RUN,
  nextCount,
  started,
  startFailed,
  starting,
  stillborn,
} from './container-run.ts';
import { type ImageRule, runnerOf } from './images.ts';
import type { Observed } from './observe.ts';
import { containersOf, isSidecar } from './pod-spec.ts';
import { firstHealth, type ProbeKind, probing } from './probing.ts';
import { environmentOf, type Facts, type References } from './references/index.ts';
import { endedRuns, reportedRun } from './reported-run.ts';
import { type Health, type Launch, type Runner, type RunningContainer, StartFailure, type Volume } from './runner.ts';

export interface KubeletOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly images: readonly ImageRule[];
  /** Loopback ones for pods that can be reached, and others for those that can't. */
  readonly addresses: { readonly reachable: Addresses; readonly unreachable: Addresses };
  /** Told where ports of pods are, if elsewhere than at their addresses. */
  readonly ports: MovedPorts;
}

/** A pod that runs here, or that ran and has not been taken away yet. */
interface PodRun {
  readonly uid: string;
  pod: Pod;
  readonly runner: Runner;
  readonly runs: Map<string, ContainerRun>;
  prepared: readonly Volume[] | undefined;
  news: readonly Happening[];
  readonly starts: Set<Promise<void>>;
  /** The pod is gone from the cluster, or another one has its name. */
  isLeft: boolean;
}

/** What a container's variables and arguments are made of. */
export interface Surroundings {
  readonly references: References;
  readonly facts: Facts;
}

/**
 * Everything that runs, as it is at this moment: the state behind the kubelet's controller. It starts and stops what it is
 * told to and rings the bell when something happens by itself; what is to be done is decided in `plan.ts`.
 */
export class Kubelet {
  readonly bell = new Bell();
  readonly #options: KubeletOptions;
  readonly #pods = new Map<string, PodRun>();
  /** Runs of pods that were replaced by others of the same name before they had ended. */
  readonly #predecessors = new Map<string, PodRun[]>();
  #knowsAddresses = false;

  constructor(options: KubeletOptions) {
    this.#options = options;
  }

  /** What is known of a pod now. */
  look(pod: Pod): Pick<Observed, 'runs' | 'runner' | 'address' | 'isPredecessorRunning' | 'news'> & {
    readonly prepared: readonly Volume[] | undefined;
  } {
    const run = this.#of(pod);
    run.pod = pod;
    for (const { state } of run.runs.values()) if (state.is === 'running') state.container.heed?.(pod);
    const predecessors = this.#predecessors.get(keyOf(pod.metadata)) ?? [];
    return {
      runs: new Map([...run.runs].map(([name, one]) => [name, withOwnHealth(one)])),
      runner: run.runner.name,
      prepared: run.prepared,
      address: this.#addressesFor(run.runner).of(run.uid),
      isPredecessorRunning: predecessors.some(isRunning),
      news: run.news,
    };
  }

  /** Whether it has been told what addresses pods have from before this program started. */
  get knowsAddresses(): boolean {
    return this.#knowsAddresses;
  }

  /** Addresses that pods have from before, so that they keep them and nobody else gets them. */
  keepAddresses(pods: readonly Pod[]): void {
    this.#knowsAddresses = true;
    for (const pod of pods) {
      const { podIP } = pod.status ?? {};
      if (podIP) this.#addressesFor(runnerOf(pod, this.#options.images)).keep(pod.metadata.uid ?? '', podIP);
    }
  }

  told(pod: Pod, happening: Happening): void {
    const run = this.#of(pod);
    run.news = run.news.filter((one) => one !== happening);
  }

  async prepare(pod: Pod, volumes: readonly Volume[]): Promise<void> {
    const run = this.#of(pod);
    await run.runner.prepare(pod, volumes);
    run.prepared = volumes;
    this.bell.ring(pod.metadata);
  }

  /** Does not wait: the bell rings when it runs, or when it is clear that it can't. */
  start(pod: Pod, spec: Container, how: Surroundings): void {
    const run = this.#of(pod);
    run.runs.set(spec.name, starting(run.runs.get(spec.name) ?? reportedRun(pod, spec.name)));
    const start = this.#start(run, spec, how);
    run.starts.add(start);
    this.#aside(start.finally(() => run.starts.delete(start)));
  }

  async #start(run: PodRun, spec: Container, how: Surroundings): Promise<void> {
    const before = run.runs.get(spec.name) ?? NEW_RUN;
    try {
      const container = await run.runner.start(this.#launch(run, spec, nextCount(before), how));
      this.#began(run, spec, started(before, container, container.health?.() ?? firstHealth(spec)));
      this.#news(run, { type: 'Normal', reason: 'Started', action: 'Start', note: `Container started: ${spec.name}` });
      // Its pod was taken away meanwhile.
      if (run.isLeft) container.kill();
      else if (spec.lifecycle?.postStart) this.#aside(this.#postStart(run, spec, container));
    } catch (error) {
      const failure =
        error instanceof StartFailure ? error : new StartFailure('CreateContainerError', messageOf(error));
      run.runs.set(spec.name, this.#notBegun(before, failure, how.references));
      this.#news(run, { type: 'Warning', reason: 'Failed', action: 'Start', note: `Error: ${failure.message}` });
    }
  }

  /** A container whose hook fails is not wanted. */
  async #postStart(run: PodRun, { name, lifecycle }: Container, container: RunningContainer): Promise<void> {
    try {
      await this.#hook(lifecycle?.postStart ?? {}, container, new AbortController().signal);
    } catch (error) {
      const note = `PostStartHook failed for container ${name}: ${messageOf(error)}`;
      this.#news(run, { type: 'Warning', reason: 'FailedPostStartHook', action: 'Start', note });
      container.kill();
    }
  }

  #news(run: PodRun, happening: Happening): void {
    run.news = [...run.news, happening];
    this.bell.ring(run.pod.metadata);
  }

  async resume(pod: Pod, spec: Container, startedAt: number, how: Surroundings): Promise<void> {
    const run = this.#of(pod);
    const before = reportedRun(pod, spec.name);
    const container = await run.runner.resume(this.#launch(run, spec, before.restartCount, how), startedAt);
    if (container === undefined) {
      const ending = { exitCode: 255, reason: 'Unknown', at: this.#options.clock.now() };
      run.runs.set(spec.name, ended(before, startedAt, ending));
    } else {
      const first = container.health?.() ?? firstHealth(spec);
      this.#began(run, spec, started(before, container, first));
    }
    this.bell.ring(pod.metadata);
  }

  /** Asks it to end, and ends it after the grace period. Called again, it shortens that. Does not wait. */
  stop(pod: Pod, spec: Container, graceMs: number): void {
    const run = this.#of(pod);
    const before = run.runs.get(spec.name);
    if (before?.state.is !== 'running') return;
    const { container, stopBy } = before.state;
    run.runs.set(spec.name, { ...before, state: { ...before.state, stopBy: this.#options.clock.now() + graceMs } });
    this.#aside(stopBy === undefined ? this.#end(spec, container, graceMs) : this.#killAfter(graceMs, container));
  }

  async #killAfter(graceMs: number, container: RunningContainer): Promise<void> {
    const timer = this.#options.clock.after(graceMs, () => container.kill());
    await container.ended;
    timer.cancel();
  }

  /** The predecessors of a pod get no more time: their names are needed. */
  endPredecessors(pod: Pod): void {
    for (const run of this.#predecessors.get(keyOf(pod.metadata)) ?? []) killAll(run);
  }

  /** Takes away what is left of a pod whose containers have all ended. */
  async clean(pod: Pod): Promise<void> {
    await this.#of(pod).runner.clean(pod);
  }

  /** The pod is gone from the cluster. */
  forget(ref: ObjectRef): void {
    const run = this.#pods.get(keyOf(ref));
    this.#pods.delete(keyOf(ref));
    if (run) this.#leave(keyOf(ref), run);
  }

  /** Ends everything: containers with their grace, at most `graceMs`, then what still runs. */
  async stopAll(graceMs: number): Promise<void> {
    const all = [...this.#pods.values(), ...[...this.#predecessors.values()].flat()];
    // What is just starting gets its grace as well; what starts for longer than that does not matter.
    await this.#started(all, graceMs);
    const endAll = (isWanted: (spec: Container) => boolean) =>
      Promise.all(
        all.flatMap((run) =>
          containersOf(run.pod)
            .filter(isWanted)
            .map(async (spec) => {
              const state = run.runs.get(spec.name)?.state;
              const grace = Math.min(graceMs, (run.pod.spec?.terminationGracePeriodSeconds ?? 30) * 1000);
              if (state?.is === 'running') await this.#end(spec, state.container, grace);
            }),
        ),
      );
    await endAll((spec) => !isSidecar(spec));
    await endAll(isSidecar);
  }

  async #started(runs: readonly PodRun[], patienceMs: number): Promise<void> {
    const starts = Promise.all(runs.flatMap((run) => [...run.starts]));
    const over = Promise.withResolvers<void>();
    const timer = this.#options.clock.after(patienceMs, over.resolve);
    await Promise.race([starts, over.promise]);
    timer.cancel();
  }

  #of(pod: Pod): PodRun {
    const key = keyOf(pod.metadata);
    const known = this.#pods.get(key);
    if (known && known.uid === pod.metadata.uid) return known;
    if (known) this.#leave(key, known);
    const runner = runnerOf(pod, this.#options.images);
    const run: PodRun = {
      uid: pod.metadata.uid ?? '',
      pod,
      runner,
      runs: endedRuns(pod),
      prepared: undefined,
      news: [],
      starts: new Set(),
      isLeft: false,
    };
    this.#pods.set(key, run);
    return run;
  }

  /** A pod that was deleted without grace, or replaced: nobody waits for it, so it ends now. */
  #leave(key: string, run: PodRun): void {
    run.isLeft = true;
    if (isRunning(run)) this.#predecessors.set(key, [...(this.#predecessors.get(key) ?? []), run]);
    this.#aside(this.#takeLeave(key, run));
    killAll(run);
  }

  async #takeLeave(key: string, run: PodRun): Promise<void> {
    await Promise.all(run.starts);
    for (const { state } of run.runs.values()) if (state.is === 'running') await state.container.ended;
    this.#addressesFor(run.runner).release(run.uid);
    await run.runner.clean(run.pod);
    const others = (this.#predecessors.get(key) ?? []).filter((one) => one !== run);
    if (others.length > 0) this.#predecessors.set(key, others);
    else this.#predecessors.delete(key);
    this.bell.ring(run.pod.metadata);
  }

  /** What nobody waits for must not fail unheard. */
  #aside(work: Promise<void>): void {
    work.catch((error: unknown) => this.#options.log.error({ error: messageOf(error) }, 'the kubelet failed'));
  }

  #addressesFor({ isReachable }: Runner): Addresses {
    const { reachable, unreachable } = this.#options.addresses;
    return isReachable ? reachable : unreachable;
  }

  #launch(run: PodRun, container: Container, restartCount: number, { references, facts }: Surroundings): Launch {
    const { pod } = run;
    const address = this.#addressesFor(run.runner).of(run.uid);
    const { env, command, args } = environmentOf(pod, container, references, facts);
    return { pod, container, restartCount, address, env, command, args, changed: () => this.bell.ring(pod.metadata) };
  }

  #began(run: PodRun, spec: Container, begun: ContainerRun): void {
    run.runs.set(spec.name, begun);
    if (begun.state.is !== 'running') return;
    const { container, startedAt } = begun.state;
    const address = this.#addressesFor(run.runner).of(run.uid);
    for (const [port, to] of container.moved ?? []) this.#options.ports.move({ host: address, port }, to);
    const stopProbes = new AbortController();
    const awaitEnd = async () => {
      const ending = await container.ended;
      stopProbes.abort(new Error('the container has ended'));
      for (const port of container.moved?.keys() ?? []) this.#options.ports.moveBack({ host: address, port });
      this.#change(run, spec.name, container, (one) => ended(one, startedAt, ending));
    };
    this.#aside(awaitEnd());
    if (container.health) return;
    const changed = (health: Health) =>
      this.#change(run, spec.name, container, (one) =>
        one.state.is === 'running' ? { ...one, state: { ...one.state, health } } : one,
      );
    const failed = (kind: ProbeKind, because: string) => {
      const note = `${kind[0]?.toUpperCase()}${kind.slice(1)} probe failed: ${because}`;
      this.#news(run, { type: 'Warning', reason: 'Unhealthy', action: 'Probe', note });
    };
    this.#aside(probing({ clock: this.#options.clock, container, spec, changed, failed }, stopProbes.signal));
  }

  /** Changes what is known of this very run of a container; a later one is left alone. */
  #change(run: PodRun, name: string, container: RunningContainer, change: (one: ContainerRun) => ContainerRun): void {
    const before = run.runs.get(name);
    if (before?.state.is !== 'running' || before.state.container !== container) return;
    run.runs.set(name, change(before));
    this.bell.ring(run.pod.metadata);
  }

  /** What the program could not even be started for counts as a run that ended, the rest as one that waits. */
  #notBegun(before: ContainerRun, failure: StartFailure, references: References): ContainerRun {
    const now = this.#options.clock.now();
    const { exitCode, message } = failure;
    if (exitCode === undefined) return startFailed(before, failure, references, now);
    return stillborn(before, { exitCode, reason: 'StartError', message, at: now });
  }

  async #end({ lifecycle }: Container, container: RunningContainer, graceMs: number): Promise<void> {
    const { clock } = this.#options;
    const timeUp = new AbortController();
    const timer = clock.after(graceMs, () => {
      timeUp.abort(new Error('the grace period is over'));
      container.kill();
    });
    if (graceMs > 0 && lifecycle?.preStop) {
      // A hook that fails, or takes too long, does not keep the container from being stopped.
      await this.#hook(lifecycle.preStop, container, timeUp.signal).catch(() => {});
    }
    container.terminate();
    await container.ended;
    timer.cancel();
  }

  /** Fails if the hook does. */
  async #hook(
    { exec, sleep: pause, httpGet, tcpSocket }: LifecycleHandler,
    container: RunningContainer,
    signal: AbortSignal,
  ): Promise<void> {
    if (exec?.command) {
      const { exitCode, output } = await container.exec(exec.command, signal);
      if (exitCode !== 0) throw new Error(`command '${exec.command.join(' ')}' exited with ${exitCode}: ${output}`);
    }
    if (pause) await sleep(this.#options.clock, pause.seconds * 1000, signal);
    if (!httpGet && !tcpSocket) return;
    const answer = await container.probe({ ...(httpGet && { httpGet }), ...(tcpSocket && { tcpSocket }) }, signal);
    if (answer.is === 'unhealthy') throw new Error(answer.because);
  }
}

/** Whether two lists of volumes have the same contents. */
export const sameVolumes = (a: readonly Volume[], b: readonly Volume[]) => isDeepStrictEqual(a, b);

function withOwnHealth(run: ContainerRun): ContainerRun {
  const { state } = run;
  const health = state.is === 'running' ? state.container.health?.() : undefined;
  return state.is === 'running' && health ? { ...run, state: { ...state, health } } : run;
}

const isRunning = ({ runs }: PodRun) => [...runs.values()].some(isBusy);

function killAll({ runs }: PodRun): void {
  for (const { state } of runs.values()) if (state.is === 'running') state.container.kill();
}
