import type { ControllerRevision, DaemonSet, Node, Pod } from '@polder/kube';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAvailable, isTerminating } from '../../pods/index.ts';
import { nodeOf, REVISION_LABEL } from '../daemon.ts';
import { claimOn } from '../eligibility.ts';
import { limitsOf } from '../limits.ts';
import { type DaemonSetStep, planDaemonSet } from './index.ts';

const START = Date.UTC(2026, 0, 1);
const NAMES = ['a', 'b', 'c', 'd', 'e'] as const;
const time = (ms: number) => new Date(ms).toISOString();

interface Config {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
  readonly isOnDelete: boolean;
  readonly minReadySeconds: number;
  /** What each node is like: one to run on, one that only keeps what it has, one to leave. */
  readonly nodes: readonly ('run' | 'stay' | 'leave')[];
}
const config: fc.Arbitrary<Config> = fc.record({
  maxSurge: fc.nat(2),
  maxUnavailable: fc.nat(3),
  isOnDelete: fc.boolean(),
  minReadySeconds: fc.constantFrom(0, 5),
  nodes: fc.array(fc.constantFrom('run', 'run', 'run', 'stay', 'leave'), { maxLength: NAMES.length }),
});

interface PodState {
  readonly node: (typeof NAMES)[number];
  readonly phase: 'Pending' | 'Running' | 'Failed' | 'Succeeded';
  readonly readyForMs: number | undefined;
  readonly isTerminating: boolean;
  readonly isNew: boolean;
}
const podStates: fc.Arbitrary<readonly PodState[]> = fc.array(
  fc.record({
    node: fc.constantFrom(...NAMES),
    phase: fc.constantFrom('Pending', 'Running', 'Running', 'Running', 'Failed', 'Succeeded'),
    readyForMs: fc.constantFrom(undefined, 1_000, 60_000, 60_000),
    isTerminating: fc.boolean(),
    isNew: fc.boolean(),
  }),
  { maxLength: 8 },
);
/** Which pods get on in a round, as bits by node. */
const rounds = fc.array(fc.nat(31), { maxLength: 10 });

/** A cluster in which nothing but the plan's steps and the pods' own progress happens. */
class Model {
  now = START;
  readonly pods = new Map<string, Pod>();
  readonly set: DaemonSet;
  readonly nodes: readonly Node[];
  revisions: readonly ControllerRevision[] = [];
  #made = 0;

  constructor({ maxSurge, maxUnavailable, isOnDelete, minReadySeconds, nodes }: Config, states: readonly PodState[]) {
    const rollingUpdate = { maxSurge, maxUnavailable };
    this.set = {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { namespace: 'default', name: 'agent', uid: 'set' },
      spec: {
        minReadySeconds,
        updateStrategy: isOnDelete ? { type: 'OnDelete' } : { type: 'RollingUpdate', rollingUpdate },
        selector: { matchLabels: { app: 'agent' } },
        template: { metadata: { labels: { app: 'agent' } }, spec: { containers: [], nodeSelector: { role: 'run' } } },
      },
    };
    this.nodes = nodes.map((claim, at) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: NAMES[at] ?? '', labels: { role: claim === 'leave' ? 'leave' : 'run' } },
      spec: { taints: claim === 'stay' ? [{ key: 'gpu', effect: 'NoSchedule' }] : [] },
    }));
    this.pass(); // records the template
    this.pods.clear();
    for (const state of states) this.#add(state);
  }

  pass(): readonly DaemonSetStep[] {
    const { steps } = planDaemonSet(this.set, this.#observed(), new Date(this.now));
    for (const broken of brokenPromises(this, steps)) throw new Error(broken);
    for (const step of steps) this.#carryOut(step);
    return steps;
  }

  /** Pods start, become ready and go. Those on nodes that are no more are cleaned up. */
  getOn(who: (node: number) => boolean): void {
    this.now += 10_000;
    const names = this.nodes.map(({ metadata }) => metadata.name);
    for (const [name, pod] of this.pods) {
      const at = names.indexOf(nodeOf(pod) ?? '');
      if (at === -1) this.pods.delete(name);
      else if (!who(at)) continue;
      else if (isTerminating(pod)) this.pods.delete(name);
      else if (['Pending', 'Running'].includes(pod.status?.phase ?? '')) this.pods.set(name, this.#ready(pod));
    }
  }

  #observed() {
    const owned = [...this.pods.values()];
    return {
      owned,
      unowned: [],
      nodes: this.nodes,
      waits: new Map(),
      revisions: { owned: this.revisions, unowned: [] },
    };
  }

  #ready(pod: Pod): Pod {
    if (pod.status?.conditions?.length) return pod;
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: time(this.now) }];
    return { ...pod, status: { phase: 'Running', conditions } };
  }

  #add({ node, phase, readyForMs, isTerminating: isGoing, isNew }: PodState): void {
    const name = `agent-${this.#made++}`;
    const hash = isNew ? (this.revisions[0]?.metadata.labels?.[REVISION_LABEL] ?? '') : 'old';
    const since = readyForMs !== undefined && phase === 'Running' ? time(this.now - readyForMs) : undefined;
    this.pods.set(name, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        namespace: 'default',
        name,
        labels: { app: 'agent', [REVISION_LABEL]: hash },
        creationTimestamp: time(START + this.#made),
        ...(isGoing && { deletionTimestamp: time(this.now) }),
      },
      spec: { containers: [], nodeName: node },
      status: { phase, ...(since && { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since }] }) },
    });
  }

  #carryOut(step: DaemonSetStep): void {
    switch (step.do) {
      case 'create-pod': {
        const name = `agent-${this.#made++}`;
        const metadata = { ...step.pod.metadata, name, creationTimestamp: time(START + this.#made) };
        this.pods.set(name, { ...step.pod, apiVersion: 'v1', kind: 'Pod', metadata, status: { phase: 'Pending' } });
        break;
      }
      case 'delete-pod':
      case 'replace-pod': {
        const { metadata } = step.pod;
        this.pods.set(metadata.name, { ...step.pod, metadata: { ...metadata, deletionTimestamp: time(this.now) } });
        break;
      }
      case 'create-revision':
        this.revisions = [{ ...step.revision, apiVersion: 'apps/v1', kind: 'ControllerRevision' }];
        break;
      case 'adopt-pod':
      case 'release-pod':
      case 'adopt-revision':
      case 'renumber-revision':
      case 'delete-revision':
        throw new Error(`nothing here needs ${step.do}`);
    }
  }
}

function* brokenPromises({ set, nodes, pods, now }: Model, steps: readonly DaemonSetStep[]): Generator<string> {
  const created = steps.flatMap((step) =>
    step.do === 'create-pod' ? [nodeOf({ ...POD, ...(step.pod.spec && { spec: step.pod.spec }) }) ?? ''] : [],
  );
  const deleted = steps.flatMap((step) => (step.do === 'delete-pod' || step.do === 'replace-pod' ? [step.pod] : []));
  if (new Set(created).size < created.length) yield 'two daemons are created for one node';
  if (new Set(deleted).size < deleted.length) yield 'a daemon is deleted twice';
  if (deleted.some(isTerminating)) yield 'a daemon is deleted that is on its way out';

  const works = (pod: Pod) => !isTerminating(pod) && isAvailable(pod, set.spec?.minReadySeconds, new Date(now));
  const on = ({ metadata }: Node) => [...pods.values()].filter((pod) => nodeOf(pod) === metadata.name);
  const wanted = nodes.filter((node) => claimOn(node, set) === 'run');
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  if (created.some((node) => !names.has(node))) yield 'a daemon is created where none is to be';
  const { maxSurge, maxUnavailable } = limitsOf(set, wanted.length);
  const isDown = (node: Node) => !on(node).some(works);
  // Of several daemons on a node, the oldest stays, whether it works or not.
  const isCrowded = (node: Node) => {
    const revisions = on(node).map(({ metadata }) => metadata.labels?.[REVISION_LABEL]);
    return revisions.length > (maxSurge > 0 ? new Set(revisions).size : 1);
  };
  const goesDown = (node: Node) =>
    !isDown(node) && !isCrowded(node) && !on(node).some((pod) => works(pod) && !deleted.includes(pod));
  const [down, goingDown] = [wanted.filter(isDown), wanted.filter(goesDown)];
  if (goingDown.length > Math.max(0, maxUnavailable - down.length)) yield 'more nodes lose their daemon than may';
  if (maxSurge > 0 && goingDown.length > 0) yield 'a node loses its daemon before it has another';
}

const POD = { apiVersion: 'v1', kind: 'Pod', metadata: { name: '' } } as const;

test('from any state, with pods that behave sooner or later, every node gets its daemon, and never too many lack one', () => {
  fc.assert(
    fc.property(config, podStates, rounds, (wanted, states, progress) => {
      const model = new Model(wanted, states);
      for (const bits of progress) {
        model.pass();
        model.getOn((node) => ((bits >> node) & 1) === 1);
      }
      let quiet = 0;
      for (let round = 0; quiet < 3; round++) {
        if (round > 100)
          throw new Error(
            `still at it: ${model
              .pass()
              .map((step) => `${step.do}: ${step.because}`)
              .join()}`,
          );
        quiet = model.pass().length === 0 ? quiet + 1 : 0;
        model.getOn(() => true);
      }
      const hash = model.revisions[0]?.metadata.labels?.[REVISION_LABEL];
      for (const node of model.nodes) {
        const daemons = [...model.pods.values()].filter((pod) => nodeOf(pod) === node.metadata.name);
        const claim = claimOn(node, model.set);
        if (claim === 'run') expect(daemons).toHaveLength(1);
        if (claim === 'leave') expect(daemons).toEqual([]);
        const isCurrent = daemons.every(({ metadata }) => metadata.labels?.[REVISION_LABEL] === hash);
        if (claim === 'run' && !wanted.isOnDelete) expect(isCurrent).toBe(true);
      }
    }),
    { numRuns: 200 },
  );
});
