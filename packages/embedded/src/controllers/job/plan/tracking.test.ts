/**
 * A model of what the plan's writes do to a cluster, and of a controller that may crash after any of them. The pods end, are
 * deleted and disappear as they like; in the end each end of a tracked pod has been counted exactly once.
 */
import { type Job, type JobSpec, type JobStatus, type Pod, timestamp } from '@polder/kube';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TRACKING } from '../names.ts';
import { indexOf, isTracked, isValid } from './facts.ts';
import { type JobStep, planJob } from './index.ts';
import { hasIndex, parseIndexes, sizeOf } from './indexes.ts';

/** What happens next. `after` is how many writes of a pass are made before a crash; a pass has few. */
type Happening =
  | { readonly is: 'pass'; readonly after: number }
  | { readonly is: 'ends'; readonly pod: number; readonly phase: 'Succeeded' | 'Failed' }
  | { readonly is: 'deleted'; readonly pod: number }
  | { readonly is: 'suspended' | 'resumed' }
  | { readonly is: 'parallelism' | 'size'; readonly to: number };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ is: fc.constant('pass' as const), after: fc.nat(12) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      is: fc.constant('ends' as const),
      pod: fc.nat(5),
      phase: fc.constantFrom('Succeeded' as const, 'Succeeded' as const, 'Failed' as const),
    }),
  },
  fc.record({ is: fc.constant('deleted' as const), pod: fc.nat(5) }),
  fc.constantFrom({ is: 'suspended' as const }, { is: 'resumed' as const }, { is: 'resumed' as const }),
  fc.record({
    is: fc.constantFrom('parallelism' as const, 'size' as const, 'size' as const),
    to: fc.integer({ min: 1, max: 4 }),
  }),
);

const template: JobSpec['template'] = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
const specs = fc.record({
  template: fc.constant(template),
  selector: fc.constant({ matchLabels: { app: 'work' } }),
  completions: fc.integer({ min: 1, max: 6 }),
  parallelism: fc.integer({ min: 1, max: 4 }),
  backoffLimit: fc.nat(6),
  completionMode: fc.constantFrom('NonIndexed' as const, 'Indexed' as const),
  podReplacementPolicy: fc.constantFrom('Failed' as const, 'TerminatingOrFailed' as const),
});

interface End {
  readonly phase: 'Succeeded' | 'Failed';
  readonly index: number;
}

class Model {
  spec: JobSpec;
  status: JobStatus = {};
  pods: Pod[] = [];
  now = Date.UTC(2026, 0, 1);
  /** How each pod ended that the job had neither discarded nor deleted. */
  readonly ends = new Map<string, End>();
  #born = 0;

  constructor(spec: JobSpec) {
    this.spec = { ...spec, template: { ...spec.template, metadata: { labels: { app: 'work' } } } };
  }

  get job(): Job {
    const metadata = { name: 'work', namespace: 'default', uid: 'job' };
    return { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: this.spec, status: this.status };
  }

  /** Carries out what the plan says, up to a crash. The next pass knows nothing but what was written. */
  pass(writes = Number.POSITIVE_INFINITY): void {
    this.now += 600_000;
    const { steps, status } = planJob(this.job, { owned: this.pods, unowned: [] }, new Date(this.now));
    for (const step of steps.slice(0, writes)) this.#carryOut(step);
    if (steps.length < writes) this.status = status;
  }

  #carryOut(step: JobStep): void {
    switch (step.do) {
      case 'create-pod': {
        const uid = `pod-${this.#born++}`;
        const metadata = { ...step.pod.metadata, name: uid, uid, creationTimestamp: this.#time() };
        this.pods.push({ apiVersion: 'v1', kind: 'Pod', metadata, status: { phase: 'Running' } });
        return;
      }
      case 'delete-pod':
        return this.#change(step.pod, deleted(step.pod, this.#time()));
      case 'discard-pod':
        if (!this.pods.includes(step.pod)) throw new Error('conflict: it was changed by the same pass');
        return this.#change(step.pod, deleted(untracked(step.pod), this.#time()));
      case 'untrack-pod':
        return this.#change(step.pod, untracked(step.pod));
      case 'adopt-pod':
      case 'release-pod':
      case 'delete-job':
        throw new Error(`${step.do} has no place here`);
    }
  }

  /** What a user or a kubelet does. */
  happens(event: Happening): void {
    if (event.is === 'pass') return this.pass(event.after);
    if (event.is === 'size') return this.#resize(event.to);
    if (event.is === 'parallelism') this.spec = { ...this.spec, parallelism: event.to };
    if (event.is === 'suspended' || event.is === 'resumed')
      this.spec = { ...this.spec, suspend: event.is === 'suspended' };
    if (event.is !== 'ends' && event.is !== 'deleted') return;
    const pod = this.pods[event.pod];
    if (!pod || /Succeeded|Failed/.test(pod.status?.phase ?? '')) return;
    if (event.is === 'deleted') return this.#change(pod, deleted(pod, this.#time()));
    const { uid = '', deletionTimestamp } = pod.metadata;
    if (isTracked(pod) && !deletionTimestamp && isValid(this.spec, pod)) {
      this.ends.set(uid, { phase: event.phase, index: indexOf(pod) });
    }
    this.#change(pod, { ...pod, status: { phase: event.phase } });
  }

  /** An indexed job forgets what is beyond its end. */
  #resize(completions: number): void {
    if (this.spec.completionMode !== 'Indexed') return;
    this.spec = { ...this.spec, completions, parallelism: completions };
    for (const [uid, { index }] of this.ends) if (index >= completions) this.ends.delete(uid);
  }

  #change(pod: Pod, to: Pod): void {
    // A deleted pod without finalizers is gone as soon as its containers are.
    const isGone = to.metadata.deletionTimestamp !== undefined && !isTracked(to);
    this.pods = this.pods.flatMap((one) => (one.metadata.uid === pod.metadata.uid ? (isGone ? [] : [to]) : [one]));
  }

  readonly #time = () => timestamp(this.now);
}

const untracked = (pod: Pod): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, finalizers: (pod.metadata.finalizers ?? []).filter((one) => one !== TRACKING) },
});
const deleted = (pod: Pod, deletionTimestamp: string): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: 0 },
});

test('no end of a pod is lost or counted twice, wherever the controller crashes', () => {
  const runs = fc.property(specs, fc.array(happening, { maxLength: 60, size: 'max' }), (spec, story) => {
    const model = new Model(spec);
    const ledger = new Ledger();
    for (const event of story) {
      model.happens(event);
      expect(ledger.errors(model)).toEqual([]);
    }
    // Nobody interferes any more, and nothing crashes.
    for (let i = 0; i < 4; i++) {
      model.pass();
      expect(ledger.errors(model)).toEqual([]);
    }
    expect(model.status.uncountedTerminatedPods).toEqual({});
    expect(ledger.omissions(model)).toEqual([]);
  });
  fc.assert(runs, { numRuns: 1500 });
});

/** Keeps its own account: of every name that a stored status ever had. */
class Ledger {
  readonly #named = { Succeeded: new Set<string>(), Failed: new Set<string>() };

  /** What was named once is in the number or still named, and nothing else is. */
  errors({ status, spec }: Model): readonly string[] {
    const { uncountedTerminatedPods: names = {}, succeeded = 0, failed = 0 } = status;
    const { Succeeded, Failed } = this.#named;
    for (const uid of names.succeeded ?? []) Succeeded.add(uid);
    for (const uid of names.failed ?? []) Failed.add(uid);
    const accounts = [
      ['named as both', Succeeded.intersection(Failed).size, 0],
      ['failed', failed + (names.failed?.length ?? 0), Failed.size],
      spec.completionMode === 'Indexed'
        ? ['completed indexes', succeeded, sizeOf(completed(status))]
        : ['succeeded', succeeded + (names.succeeded?.length ?? 0), Succeeded.size],
    ] as const;
    return accounts
      .filter(([, is, shouldBe]) => is !== shouldBe)
      .map(([what, is, shouldBe]) => `${what}: ${is}, not ${shouldBe}`);
  }

  /** Pods that ended while they were the job's, and are not accounted for as what they were. */
  omissions({ status, spec, ends }: Model): readonly string[] {
    const isKnown = (uid: string, { phase, index }: End) =>
      phase === 'Succeeded' && spec.completionMode === 'Indexed'
        ? hasIndex(completed(status), index)
        : this.#named[phase].has(uid);
    return [...ends].filter(([uid, end]) => !isKnown(uid, end)).map(([uid, { phase }]) => `${uid}: ${phase}`);
  }
}

const completed = ({ completedIndexes = '' }: JobStatus) => parseIndexes(completedIndexes, 100);
