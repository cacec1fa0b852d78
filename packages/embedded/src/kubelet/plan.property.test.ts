import { type Pod, type PodSpec, type PodStatus, sameStatus } from '@polder/kube';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ContainerRun, ended, isBusy, NEW_RUN, started, startFailed, starting } from './container-run.ts';
import { type KubeletStep, planPod } from './plan.ts';
import { containersOf, isInit, isSidecar } from './pod-spec.ts';
import { holding } from './references/testdata.ts';
import { StartFailure } from './runner.ts';
import { deleted, NOW, placed, seconds, seen } from './testdata.ts';

const anyPolicy = fc.constantFrom('Always' as const, 'OnFailure' as const, 'Never' as const);
const anyPod: fc.Arbitrary<Partial<PodSpec>> = fc
  .record({
    sidecars: fc.array(fc.boolean(), { maxLength: 4 }),
    mains: fc.integer({ min: 1, max: 3 }),
    restartPolicy: anyPolicy,
    deadline: fc.option(fc.integer({ min: 1, max: 200 }), { nil: undefined }),
  })
  .map(({ sidecars, mains, restartPolicy, deadline }) => ({
    restartPolicy,
    initContainers: sidecars.map((stays, index) => ({
      name: `init-${index}`,
      ...(stays && { restartPolicy: 'Always' as const }),
    })),
    containers: Array.from({ length: mains }, (_, index) => ({ name: `main-${index}` })),
    ...(deadline !== undefined && { activeDeadlineSeconds: deadline }),
  }));

/** What can happen to the n-th container, or to the pod. */
const anyHappening = fc.record({
  which: fc.nat(6),
  what: fc.constantFrom(
    'it comes up' as const,
    'it can not be started' as const,
    'it ends' as const,
    'its probe fails' as const,
    'time passes' as const,
    'the pod is deleted' as const,
  ),
  exitCode: fc.constantFrom(0, 0, 1, 137),
  seconds: fc.constantFrom(1, 11, 301, 700),
});
type SomethingHappens = typeof anyHappening extends fc.Arbitrary<infer T> ? T : never;

/** A node in miniature: it does what the plan says, and tells what becomes of it. */
class MiniNode {
  pod: Pod;
  now = NOW;
  isRemoved = false;
  /** The promises that were broken. */
  readonly broken: string[] = [];
  readonly #runs = new Map<string, ContainerRun>();

  constructor(spec: Partial<PodSpec>) {
    this.pod = placed(spec);
  }

  runOf = (name: string): ContainerRun => this.#runs.get(name) ?? NEW_RUN;

  /** Passes until there is nothing left to do now. */
  settle(): void {
    for (let passes = 0; !this.isRemoved; passes++) {
      if (passes === 50) throw new Error('it never comes to rest');
      const { steps, status } = planPod(this.pod, seen(Object.fromEntries(this.#runs)), new Date(this.now));
      for (const step of steps) this.#act(step);
      const isSame = sameStatus(this.pod.status, status);
      this.#isOrderly(status);
      this.pod = { ...this.pod, status };
      if (steps.length === 0 && isSame) return;
    }
  }

  happens({ which, what, exitCode, seconds: passed }: SomethingHappens): void {
    const { name = '' } = containersOf(this.pod)[which % containersOf(this.pod).length] ?? {};
    const run = this.runOf(name);
    const { state } = run;
    if (what === 'time passes') this.now += seconds(passed);
    if (what === 'the pod is deleted' && this.pod.metadata.deletionTimestamp === undefined)
      this.pod = deleted(this.pod);
    if (what === 'it comes up' && state.is === 'starting') this.#begin(name);
    if (what === 'it can not be started' && state.is === 'starting') {
      this.#runs.set(name, startFailed(run, new StartFailure('CreateContainerError', 'no'), holding({}), this.now));
    }
    if (state.is !== 'running') return;
    if (what === 'it ends') this.#end(name, exitCode);
    if (what === 'its probe fails') {
      this.#runs.set(name, { ...run, state: { ...state, health: { ...state.health, unhealthy: 'liveness' } } });
    }
  }

  /** Everything that was started comes up, and everything that was asked to ends. */
  obey(): void {
    for (const [name, { state }] of this.#runs) {
      if (state.is === 'starting') this.#begin(name);
      else if (state.is === 'running' && state.stopBy !== undefined) this.#end(name, 143);
    }
  }

  #begin(name: string): void {
    const container = {
      startedAt: this.now,
      ended: new Promise<never>(() => {}),
      terminate: () => {},
      kill: () => {},
      probe: async () => ({ is: 'healthy' as const }),
      exec: async () => ({ exitCode: 0, output: '' }),
    };
    this.#runs.set(name, started(this.runOf(name), container, { isStarted: true, isReady: true }));
  }

  #end(name: string, exitCode: number): void {
    const run = this.runOf(name);
    if (run.state.is !== 'running') return;
    this.#runs.set(name, ended(run, run.state.startedAt, { exitCode, at: this.now }));
  }

  #act(step: KubeletStep): void {
    if (step.do === 'start-container') {
      const { name } = step.container;
      this.#isItsTurn(name);
      // Throws if a run of it has not ended.
      this.#runs.set(name, starting(this.runOf(name)));
    }
    if (step.do === 'stop-container') {
      const run = this.runOf(step.container.name);
      if (run.state.is !== 'running') throw new Error(`${step.container.name} is stopped and does not run`);
      this.#runs.set(step.container.name, { ...run, state: { ...run.state, stopBy: this.now + step.graceMs } });
    }
    if (step.do === 'remove-pod') {
      this.#promise('what is removed has ended', !this.#isBusy);
      this.isRemoved = true;
    }
  }

  get #isBusy(): boolean {
    return [...this.#runs.values()].some(isBusy);
  }

  #promise(what: string, isKept: boolean): void {
    if (!isKept) this.broken.push(what);
  }

  #isItsTurn(name: string): void {
    const { metadata, status, spec } = this.pod;
    const isOver = metadata.deletionTimestamp !== undefined || isEnd(status?.phase);
    this.#promise('nothing starts in a pod that is at its end', !isOver);
    const place = containersOf(this.pod).findIndex((one) => one.name === name);
    const hasBegun = (spec?.containers ?? []).some((one) => this.runOf(one.name).state.is === 'running');
    for (const one of spec?.initContainers?.slice(0, place) ?? []) {
      const { state } = this.runOf(one.name);
      const isDone = state.is === 'ended' && state.ending.exitCode === 0;
      this.#promise('init containers are done before the next', isDone || !isInit(this.pod, one));
      this.#promise('sidecars are up before the next', state.is === 'running' || !isSidecar(one) || hasBegun);
    }
  }

  #isOrderly(status: PodStatus): void {
    const { phase } = this.pod.status ?? {};
    this.#promise('an end is for ever', !isEnd(phase) || status.phase === phase);
    this.#promise('an end is told when nothing runs', isEnd(phase) || !isEnd(status.phase) || !this.#isBusy);
    const before = restartsIn(this.pod.status ?? {});
    this.#promise(
      'counts only grow',
      restartsIn(status).every((count, place) => count >= (before[place] ?? 0)),
    );
    const isReady = status.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false;
    const areUp = (this.pod.spec?.containers ?? []).every(({ name }) => this.runOf(name).state.is === 'running');
    this.#promise('what is ready runs', areUp || !isReady);
  }
}

const isEnd = (phase: PodStatus['phase']) => phase === 'Succeeded' || phase === 'Failed';
const restartsIn = ({ initContainerStatuses = [], containerStatuses = [] }: PodStatus) =>
  [...initContainerStatuses, ...containerStatuses].map(({ restartCount }) => restartCount);

/** A pod after all that has happened to it. */
function lifeOf(spec: Partial<PodSpec>, happenings: readonly SomethingHappens[]): MiniNode {
  const node = new MiniNode(spec);
  node.settle();
  for (const happening of happenings) {
    node.happens(happening);
    node.settle();
  }
  return node;
}

test('whatever happens: containers start in their turn and once at a time, ends are final, counts only grow', () => {
  fc.assert(
    fc.property(anyPod, fc.array(anyHappening, { maxLength: 40 }), (spec, happenings) => {
      expect(lifeOf(spec, happenings).broken).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test('whatever happened before: a pod that is deleted goes as soon as its containers end', () => {
  fc.assert(
    fc.property(anyPod, fc.array(anyHappening, { maxLength: 20 }), (spec, happenings) => {
      const deletion: SomethingHappens = { which: 0, what: 'the pod is deleted', exitCode: 0, seconds: 1 };
      const node = lifeOf(spec, [...happenings, deletion]);
      for (let turn = 0; turn < 10 && !node.isRemoved; turn++) {
        node.obey();
        node.settle();
      }
      expect(node.isRemoved).toBe(true);
    }),
    { numRuns: 300 },
  );
});
