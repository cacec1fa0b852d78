import { type Pod, type PodSpec, sameStatus } from '@polder/kube';
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
  readonly #runs = new Map<string, ContainerRun>();

  constructor(spec: Partial<PodSpec>) {
    this.pod = placed(spec);
  }

  runOf = (name: string): ContainerRun => this.#runs.get(name) ?? NEW_RUN;

  /** Passes until there is nothing left to do now. */
  settle(): void {
    for (let passes = 0; !this.isRemoved; passes++) {
      expect(passes).toBeLessThan(50);
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
    expect(this.isRemoved).toBe(false);
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
      expect([...this.#runs.values()].filter(isBusy)).toEqual([]);
      this.isRemoved = true;
    }
  }

  /** Nothing starts in a pod that is at its end, nor before what has to be done first. */
  #isItsTurn(name: string): void {
    expect(this.pod.metadata.deletionTimestamp).toBeUndefined();
    expect(['Succeeded', 'Failed']).not.toContain(this.pod.status?.phase);
    const all = containersOf(this.pod);
    const before =
      this.pod.spec?.initContainers?.slice(
        0,
        all.findIndex((one) => one.name === name),
      ) ?? [];
    const hasBegun = (this.pod.spec?.containers ?? []).some((one) => this.runOf(one.name).state.is === 'running');
    for (const one of before) {
      const { state } = this.runOf(one.name);
      if (isInit(this.pod, one)) expect(state).toMatchObject({ is: 'ended', ending: { exitCode: 0 } });
      else if (isSidecar(one) && !hasBegun) expect(state.is).toBe('running');
    }
  }

  #isOrderly(status: NonNullable<Pod['status']>): void {
    const { phase } = this.pod.status ?? {};
    if (phase === 'Succeeded' || phase === 'Failed') expect(status.phase).toBe(phase);
    else if (status.phase === 'Succeeded' || status.phase === 'Failed') {
      expect([...this.#runs.values()].filter(isBusy)).toEqual([]);
    }
    const countsIn = ({ initContainerStatuses = [], containerStatuses = [] }: NonNullable<Pod['status']>) =>
      new Map([...initContainerStatuses, ...containerStatuses].map(({ name, restartCount }) => [name, restartCount]));
    for (const [name, count] of countsIn(this.pod.status ?? {})) {
      expect(countsIn(status).get(name)).toBeGreaterThanOrEqual(count);
    }
    const isReady = status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
    if (isReady) {
      const mains = this.pod.spec?.containers ?? [];
      expect(mains.map(({ name }) => this.runOf(name).state.is)).toEqual(mains.map(() => 'running'));
    }
  }
}

test('whatever happens: containers start in their turn and once at a time, ends are final, counts only grow', () => {
  fc.assert(
    fc.property(anyPod, fc.array(anyHappening, { maxLength: 40 }), (spec, happenings) => {
      const node = new MiniNode(spec);
      node.settle();
      for (const happening of happenings) {
        node.happens(happening);
        node.settle();
      }
    }),
    { numRuns: 500 },
  );
});

test('whatever happened before: a pod that is deleted goes as soon as its containers end', () => {
  fc.assert(
    fc.property(anyPod, fc.array(anyHappening, { maxLength: 20 }), (spec, happenings) => {
      const node = new MiniNode(spec);
      node.settle();
      for (const happening of happenings) {
        node.happens(happening);
        node.settle();
      }
      node.happens({ which: 0, what: 'the pod is deleted', exitCode: 0, seconds: 1 });
      node.settle();
      for (let turn = 0; turn < 10 && !node.isRemoved; turn++) {
        node.obey();
        node.settle();
      }
      expect(node.isRemoved).toBe(true);
    }),
    { numRuns: 300 },
  );
});
