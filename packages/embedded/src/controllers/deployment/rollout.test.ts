/**
 * Rollouts in a model of a cluster, in every order that things can happen in: the deployment's controller may stop after any
 * write, its sets may be slow, pods become ready when they like. What is promised holds after each single event.
 */
import type { Deployment, ReplicaSet } from '@polder/kube';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maxSurge, minAvailable, sizeOf } from './limits.ts';
import { nameOfNewSet } from './plan/current-set.ts';
import { type DeploymentStep, planDeployment } from './plan/index.ts';
import { isComplete } from './progress.ts';
import { sameTemplate } from './template.ts';

interface ModelPod {
  isAvailable: boolean;
  isGoing: boolean;
}

type Strategy = NonNullable<NonNullable<Deployment['spec']>['strategy']>;

/** What can happen. `n` chooses among those to whom it can happen. */
type Happening =
  | { readonly is: 'pass'; readonly crashAfter: number }
  | { readonly is: 'set-pass'; readonly n: number }
  | { readonly is: 'pod-ready'; readonly n: number }
  | { readonly is: 'pod-gone'; readonly n: number }
  | { readonly is: 'update'; readonly version: number }
  | { readonly is: 'scale'; readonly replicas: number }
  | { readonly is: 'pause'; readonly paused: boolean };

class Model {
  deployment: Deployment;
  sets: ReplicaSet[] = [];
  readonly pods = new Map<string, ModelPod[]>();
  #time = Date.UTC(2026, 0, 1);
  #uids = 0;

  constructor(replicas: number, strategy: Strategy) {
    this.deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'default', uid: 'web', generation: 1 },
      spec: { replicas, strategy, revisionHistoryLimit: 1, progressDeadlineSeconds: 600, ...specOf(1) },
    };
  }

  get available(): number {
    return this.#all().filter((pod) => pod.isAvailable && !pod.isGoing).length;
  }

  happen(event: Happening): void {
    this.#time += 1000;
    if (event.is === 'pass') this.pass(event.crashAfter);
    else if (event.is === 'set-pass') this.setPass(chosen(this.sets, event.n));
    else if (event.is === 'pod-ready') this.#becomeReady(event.n);
    else if (event.is === 'pod-gone') this.#go(event.n);
    else if (event.is === 'update') this.#change(specOf(event.version));
    else if (event.is === 'scale') this.#change({ replicas: event.replicas });
    else this.#change({ paused: event.paused });
  }

  /** One of each, for everyone. */
  round(): void {
    this.happen({ is: 'pass', crashAfter: Number.POSITIVE_INFINITY });
    for (const n of this.sets.keys()) this.happen({ is: 'set-pass', n });
    for (const pod of this.#all()) pod.isAvailable = true;
    for (const [name, pods] of this.pods)
      this.pods.set(
        name,
        pods.filter((pod) => !pod.isGoing),
      );
  }

  pass(crashAfter: number): readonly DeploymentStep[] {
    const namesake = this.sets.find(({ metadata }) => metadata.name === nameOfNewSet(this.deployment));
    const plan = planDeployment(this.deployment, { owned: this.sets, unowned: [], namesake }, new Date(this.#time));
    for (const step of plan.steps.slice(0, crashAfter)) this.#act(step);
    if (crashAfter >= plan.steps.length) this.deployment = { ...this.deployment, status: plan.status };
    return plan.steps;
  }

  /** A set counts first and acts then, as its controller does: what it says is always a little old. */
  setPass(set: ReplicaSet | undefined): void {
    if (!set) return;
    const pods = this.podsOf(set);
    const active = pods.filter((pod) => !pod.isGoing);
    const available = active.filter((pod) => pod.isAvailable).length;
    const status = {
      replicas: active.length,
      readyReplicas: available,
      availableReplicas: available,
      terminatingReplicas: pods.length - active.length,
      observedGeneration: set.metadata.generation ?? 0,
    };
    this.sets = this.sets.map((one) => (one === set ? { ...one, status } : one));
    const surplus = active.toSorted((a, b) => Number(a.isAvailable) - Number(b.isAvailable));
    for (const pod of surplus.slice(0, Math.max(0, active.length - sizeOf(set)))) pod.isGoing = true;
    const missing = Math.max(0, sizeOf(set) - active.length);
    if (missing > 0) this.onCreate(set);
    pods.push(...Array.from({ length: missing }, () => ({ isAvailable: false, isGoing: false })));
  }

  onCreate = (_set: ReplicaSet): void => {};

  podsOf({ metadata }: ReplicaSet): ModelPod[] {
    const pods = this.pods.get(metadata.name) ?? [];
    this.pods.set(metadata.name, pods);
    return pods;
  }

  #all(): readonly ModelPod[] {
    return [...this.pods.values()].flat();
  }

  #becomeReady(n: number): void {
    const pod = chosen(
      this.#all().filter((one) => !one.isAvailable && !one.isGoing),
      n,
    );
    if (pod) pod.isAvailable = true;
  }

  #go(n: number): void {
    const going = chosen(
      this.#all().filter((pod) => pod.isGoing),
      n,
    );
    for (const [name, pods] of this.pods)
      this.pods.set(
        name,
        pods.filter((pod) => pod !== going),
      );
  }

  #change(spec: object): void {
    const { metadata } = this.deployment;
    const generation = (metadata.generation ?? 0) + 1;
    const before = this.deployment.spec ?? specOf(1);
    this.deployment = { ...this.deployment, metadata: { ...metadata, generation }, spec: { ...before, ...spec } };
  }

  #act(step: DeploymentStep): void {
    if (step.do === 'create-replica-set') {
      const created = {
        uid: `uid-${++this.#uids}`,
        generation: 1,
        creationTimestamp: new Date(this.#time).toISOString(),
      };
      const metadata = { name: '', ...step.set.metadata, ...created };
      this.sets.push({ ...step.set, apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, status: { replicas: 0 } });
    } else if (step.do === 'scale-replica-set' || step.do === 'annotate-replica-set') {
      this.sets = this.sets.map((set) => (set.metadata.uid === step.set.metadata.uid ? written(set, step.set) : set));
    } else if (step.do === 'delete-replica-set') {
      if (this.podsOf(step.set).some((pod) => !pod.isGoing))
        throw new Error(`${step.set.metadata.name} still has pods`);
      this.sets = this.sets.filter((set) => set.metadata.uid !== step.set.metadata.uid);
    } else if (step.do === 'record-revision') {
      const { metadata } = this.deployment;
      const annotations = { ...metadata.annotations, 'deployment.kubernetes.io/revision': step.revision };
      this.deployment = { ...this.deployment, metadata: { ...metadata, annotations } };
    } else throw new Error(`nothing to ${step.do} here`);
  }
}

function written(set: ReplicaSet, { metadata, spec }: ReplicaSet): ReplicaSet {
  const generation = (set.metadata.generation ?? 0) + (sizeOf(set) === sizeOf({ ...(spec && { spec }) }) ? 0 : 1);
  return {
    ...set,
    metadata: { ...set.metadata, generation, ...(metadata.annotations && { annotations: metadata.annotations }) },
    ...(spec && { spec }),
  };
}

function specOf(version: number) {
  const containers = [{ name: 'main', image: `main:${version}` }];
  return {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers } },
  };
}

const chosen = <T>(from: readonly T[], n: number): T | undefined => from[n % Math.max(1, from.length)];

const n = fc.nat(9);
const pass = fc.record({ is: fc.constant('pass' as const), crashAfter: fc.oneof(fc.constant(99), fc.nat(3)) });
const slow = fc.oneof(
  fc.record({ is: fc.constant('set-pass' as const), n }),
  fc.record({ is: fc.constant('pod-ready' as const), n }),
  fc.record({ is: fc.constant('pod-gone' as const), n }),
);
const update = fc.record({ is: fc.constant('update' as const), version: fc.integer({ min: 1, max: 3 }) });
const scale = fc.record({ is: fc.constant('scale' as const), replicas: fc.nat(8) });
const pause = fc.record({ is: fc.constant('pause' as const), paused: fc.boolean() });
const often = { weight: 6, arbitrary: slow };
const aPass = { weight: 4, arbitrary: pass };
const rollouts = fc.array(fc.oneof(often, aPass, { weight: 1, arbitrary: update }), { maxLength: 80, size: 'max' });
const anything = fc.array(
  fc.oneof(often, aPass, ...[update, scale, pause].map((arbitrary) => ({ weight: 1, arbitrary }))),
  { maxLength: 80, size: 'max' },
);

const limit = fc.oneof(
  fc.nat(3),
  fc.nat(100).map((percent) => `${percent}%`),
);
const rolling = fc
  .record({ maxSurge: limit, maxUnavailable: limit })
  .filter(
    ({ maxSurge, maxUnavailable }) => Number.parseInt(`${maxSurge}`, 10) + Number.parseInt(`${maxUnavailable}`, 10) > 0,
  )
  .map((rollingUpdate): Strategy => ({ type: 'RollingUpdate', rollingUpdate }));
const recreate = fc.constant<Strategy>({ type: 'Recreate' });

function settled(replicas: number, strategy: Strategy): Model {
  const model = new Model(replicas, strategy);
  for (let i = 0; i < 10; i++) model.round();
  return model;
}

test('a rollout never has more pods than the surge allows, whatever happens when', () => {
  fc.assert(
    fc.property(fc.nat(8), rolling, rollouts, (replicas, strategy, events) => {
      const model = settled(replicas, strategy);
      for (const event of events) {
        model.happen(event);
        const sizes = model.sets.map(sizeOf);
        expect(Math.max(0, ...sizes)).toBeLessThanOrEqual(replicas);
        expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(replicas + maxSurge(model.deployment));
      }
    }),
  );
});

test('a rollout never takes away a pod that is needed, whatever happens when', () => {
  fc.assert(
    fc.property(fc.nat(8), rolling, rollouts, (replicas, strategy, events) => {
      const model = settled(replicas, strategy);
      for (const event of events) {
        model.happen(event);
        expect(model.available).toBeGreaterThanOrEqual(minAvailable(model.deployment));
      }
    }),
  );
});

test('with Recreate pods of two versions never run beside each other, whatever happens when', () => {
  fc.assert(
    fc.property(fc.nat(4), recreate, rollouts, (replicas, strategy, events) => {
      const model = settled(replicas, strategy);
      model.onCreate = (set) => {
        for (const other of model.sets.filter((one) => one.metadata.name !== set.metadata.name)) {
          expect(model.podsOf(other)).toEqual([]);
        }
      };
      for (const event of events) model.happen(event);
    }),
  );
});

test('however a rollout was disturbed, it ends with the last version asked for, and then nothing more is done', () => {
  fc.assert(
    fc.property(fc.nat(8), fc.oneof(rolling, recreate), anything, (replicas, strategy, events) => {
      const model = new Model(replicas, strategy);
      for (const event of events) model.happen(event);
      model.happen({ is: 'pause', paused: false });
      for (let i = 0; i < 60; i++) model.round();
      const { deployment, sets } = model;
      const busy = sets.filter((set) => sizeOf(set) > 0);
      for (const set of busy) expect(sameTemplate(set.spec?.template, deployment.spec?.template)).toBe(true);
      expect(busy.map(sizeOf)).toEqual(sizeOf(deployment) > 0 ? [sizeOf(deployment)] : []);
      expect(isComplete(deployment, deployment.status ?? {})).toBe(true);
      expect(sets.length).toBeLessThanOrEqual(2);
      expect(model.pass(99)).toEqual([]);
    }),
  );
});
