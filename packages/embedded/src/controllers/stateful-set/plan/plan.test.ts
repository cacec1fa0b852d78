import {
  type ControllerRevision,
  type PersistentVolumeClaim,
  type Pod,
  type StatefulSet,
  type StatefulSetStatus,
} from '@polder/kube';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isTerminating } from '../../pods/index.ts';
import { historyOf } from '../../revisions/index.ts';
import { ordinalOf, revisionOf } from '../identity.ts';
import { isSettled } from '../members.ts';
import { wantedOf } from '../wanted.ts';
import { planStatefulSet, type StatefulSetStep } from './index.ts';

const START = Date.UTC(2026, 0, 1);
const NAMESPACE = 'default';
const SET_UID = 'set';
const FOREIGN = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: 'other' };

const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image }] },
});
const DATA: PersistentVolumeClaim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data' } };

/** Three templates that the set had, one after the other. */
const IMAGES = ['a', 'b', 'c'] as const;
type Image = (typeof IMAGES)[number];
const REVISIONS = IMAGES.map((image, at): ControllerRevision => {
  const workload = {
    kind: { group: 'apps', version: 'v1', kind: 'StatefulSet', plural: 'statefulsets', namespaced: true },
    owner: {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { namespace: NAMESPACE, name: 'web', uid: SET_UID },
    },
    template: template(image),
    selector: {},
    hashLabel: 'controller.kubernetes.io/hash',
    collisionCount: 0,
  };
  const [step] = historyOf(workload, { owned: [], unowned: [] }).steps;
  if (step?.do !== 'create-revision') throw new Error('a new template is recorded');
  return { ...step.revision, apiVersion: 'apps/v1', kind: 'ControllerRevision', revision: at + 1 };
});
const nameOf = (image: Image) => REVISIONS[IMAGES.indexOf(image)]?.metadata.name ?? '';

interface Config {
  readonly replicas: number;
  readonly start: number;
  readonly isOrdered: boolean;
  readonly partition: number | undefined;
  readonly minReadySeconds: number;
  readonly hasClaims: boolean;
  readonly whenDeleted: string;
  readonly whenScaled: string;
  readonly current: Image;
  readonly update: Image;
}
const policy = fc.constantFrom('Retain', 'Delete');
const config: fc.Arbitrary<Config> = fc.record({
  replicas: fc.nat(4),
  start: fc.nat(2),
  isOrdered: fc.boolean(),
  partition: fc.option(fc.nat(3), { nil: undefined }),
  minReadySeconds: fc.constantFrom(0, 5),
  hasClaims: fc.boolean(),
  whenDeleted: policy,
  whenScaled: policy,
  current: fc.constantFrom(...IMAGES),
  update: fc.constantFrom(...IMAGES),
});

interface PodState {
  readonly ordinal: number;
  readonly phase: 'Pending' | 'Running' | 'Failed' | 'Succeeded';
  readonly readyForMs: number | undefined;
  readonly isTerminating: boolean;
  readonly image: Image;
}
const podState: fc.Arbitrary<PodState> = fc.record({
  ordinal: fc.nat(6),
  phase: fc.constantFrom('Pending', 'Running', 'Running', 'Running', 'Failed', 'Succeeded'),
  readyForMs: fc.constantFrom(undefined, 1_000, 60_000, 60_000),
  isTerminating: fc.boolean(),
  image: fc.constantFrom(...IMAGES),
});
const podStates = fc.uniqueArray(podState, { selector: ({ ordinal }) => ordinal, maxLength: 6 });
/** In a round, the controller comes so many steps far before it crashes, and some pods get on: as bits by ordinal. */
const rounds = fc.array(fc.record({ steps: fc.constantFrom(0, 1, 2, Infinity), bits: fc.nat(127) }), { maxLength: 12 });

const shown = (step: StatefulSetStep) => `${step.do}: ${step.because}`;
const time = (ms: number) => new Date(ms).toISOString();

/** A cluster in which nothing but the plan's steps and the pods' own progress happens. */
class Model {
  now = START;
  readonly pods = new Map<string, Pod>();
  readonly claims = new Map<string, PersistentVolumeClaim>();
  revisions: readonly ControllerRevision[] = REVISIONS;
  readonly #config: Config;
  #status: StatefulSetStatus;
  #uids = 0;

  constructor(config: Config, pods: readonly PodState[]) {
    this.#config = config;
    this.#status = { replicas: 0, currentRevision: nameOf(config.current) };
    for (const state of pods) this.#add(state);
  }

  get set(): StatefulSet {
    const { replicas, start, isOrdered, partition, minReadySeconds, hasClaims, whenDeleted, whenScaled } = this.#config;
    return {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { namespace: NAMESPACE, name: 'web', uid: SET_UID, generation: 1 },
      spec: {
        replicas,
        ordinals: { start },
        podManagementPolicy: isOrdered ? 'OrderedReady' : 'Parallel',
        updateStrategy:
          partition === undefined ? { type: 'OnDelete' } : { type: 'RollingUpdate', rollingUpdate: { partition } },
        minReadySeconds,
        selector: { matchLabels: { app: 'web' } },
        template: template(this.#config.update),
        ...(hasClaims && { volumeClaimTemplates: [DATA] }),
        persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled },
      },
      status: this.#status,
    };
  }

  plan() {
    const observed = {
      owned: [...this.pods.values()],
      unowned: [],
      claims: this.claims,
      revisions: { owned: this.revisions, unowned: [] },
    };
    return planStatefulSet(this.set, observed, new Date(this.now));
  }

  /** One pass, checked against every promise, and carried out as far as it comes. */
  pass(most = Infinity): readonly StatefulSetStep[] {
    const { steps, status } = this.plan();
    for (const broken of brokenPromises(this, steps)) throw new Error(broken);
    for (const step of steps.slice(0, most)) this.#carryOut(step);
    if (steps.length <= most) this.#status = status;
    return steps;
  }

  /** Pods start, become ready and go; what belongs to pods that are gone goes as well. */
  getOn(who: (ordinal: number) => boolean): void {
    this.now += 10_000;
    for (const pod of this.pods.values()) {
      if (!who(ordinalOf(this.set, pod) ?? 0)) continue;
      if (isTerminating(pod)) this.pods.delete(pod.metadata.name);
      else if (['Pending', 'Running'].includes(pod.status?.phase ?? ''))
        this.pods.set(pod.metadata.name, this.#ready(pod));
    }
    const uids = new Set([SET_UID, FOREIGN.uid, ...[...this.pods.values()].map(({ metadata }) => metadata.uid)]);
    for (const { metadata } of this.claims.values()) {
      const owners = metadata.ownerReferences ?? [];
      if (owners.length > 0 && owners.every(({ uid }) => !uids.has(uid))) this.claims.delete(metadata.name);
    }
  }

  #ready(pod: Pod): Pod {
    if (pod.status?.conditions?.length) return pod;
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: time(this.now) }];
    return { ...pod, status: { phase: 'Running', conditions } };
  }

  #add({ ordinal, phase, readyForMs, isTerminating, image }: PodState): void {
    const since = readyForMs !== undefined && phase === 'Running' ? time(this.now - readyForMs) : undefined;
    const name = `web-${ordinal}`;
    const { hasClaims } = this.#config;
    const claimName = `data-${name}`;
    this.pods.set(name, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        namespace: NAMESPACE,
        name,
        uid: `pod-${this.#uids++}`,
        labels: { app: 'web', 'statefulset.kubernetes.io/pod-name': name, 'controller-revision-hash': nameOf(image) },
        ...(isTerminating && { deletionTimestamp: time(this.now) }),
      },
      spec: {
        containers: [],
        ...(hasClaims && { volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] }),
      },
      status: { phase, ...(since && { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since }] }) },
    });
    if (!hasClaims) return;
    const metadata = { namespace: NAMESPACE, name: claimName, ownerReferences: [FOREIGN] };
    this.claims.set(claimName, { ...DATA, metadata });
  }

  #carryOut(step: StatefulSetStep): void {
    switch (step.do) {
      case 'create-pod':
      case 'create-claims':
        for (const { metadata } of step.claims.missing) {
          const { name = '' } = metadata;
          this.claims.set(name, { ...DATA, metadata: { ...metadata, name } });
        }
        if (step.do === 'create-pod') {
          const metadata = { ...step.pod.metadata, name: step.name, uid: `pod-${this.#uids++}` };
          this.pods.set(step.name, {
            ...step.pod,
            apiVersion: 'v1',
            kind: 'Pod',
            metadata,
            status: { phase: 'Pending' },
          });
        }
        break;
      case 'own-claim': {
        const { metadata } = step.claim;
        this.claims.set(metadata.name, { ...step.claim, metadata: { ...metadata, ownerReferences: step.owners } });
        break;
      }
      case 'delete-pod': {
        const { metadata } = step.pod;
        this.pods.set(metadata.name, { ...step.pod, metadata: { ...metadata, deletionTimestamp: time(this.now) } });
        break;
      }
      case 'renumber-revision':
        this.revisions = this.revisions.map((one) => (one === step.revision ? { ...one, revision: step.number } : one));
        break;
      case 'delete-revision':
        this.revisions = this.revisions.filter((one) => one !== step.revision);
        break;
      case 'adopt-pod':
      case 'release-pod':
      case 'adopt-revision':
      case 'create-revision':
      case 'update-pod':
        throw new Error(`nothing here needs ${step.do}`);
    }
  }
}

function* brokenPromises({ set, pods, now }: Model, steps: readonly StatefulSetStep[]): Generator<string> {
  const wanted = wantedOf(set);
  const at = new Date(now);
  const created = steps.flatMap((step) => (step.do === 'create-pod' ? [step] : []));
  const deleted = steps.flatMap((step) => (step.do === 'delete-pod' ? [step.pod] : []));
  const names = created.map(({ name }) => name);
  if (new Set(names).size < names.length || names.some((name) => pods.has(name)))
    yield `two pods of one name: ${names.join(', ')}`;
  if (new Set(deleted).size < deleted.length) yield 'a pod is deleted twice';
  if (wanted.isOrdered && created.length + deleted.length > 1) yield 'more than one pod at once in an ordered set';

  const replicas = Array.from({ length: wanted.replicas }, (_, index) => pods.get(`web-${wanted.start + index}`));
  for (const pod of deleted) {
    if (isTerminating(pod)) yield `${pod.metadata.name} is deleted again`;
    const index = (ordinalOf(set, pod) ?? 0) - wanted.start;
    if (['Failed', 'Succeeded'].includes(pod.status?.phase ?? '')) continue;
    const others = replicas.filter((one) => one !== pod);
    const areWell = others.every((one) => isSettled(one, wanted, at));
    if (wanted.isOrdered && !areWell) yield `${pod.metadata.name} is deleted while another member does not work`;
    if (index < 0 || index >= wanted.replicas) continue;
    if (index < (wanted.partition ?? Infinity)) yield `${pod.metadata.name} is updated below the partition`;
    const above = replicas.slice(index + 1);
    if (!above.every((one) => isSettled(one, wanted, at))) yield `${pod.metadata.name} is updated too early`;
  }
  for (const { pod, name } of created) {
    const index = Number(name.slice(4)) - wanted.start;
    const image = pod.spec?.containers[0]?.image;
    const isUpdate = index >= (wanted.partition ?? 0);
    if (isUpdate && image !== set.spec?.template.spec?.containers[0]?.image) yield `${name} is made of an old template`;
    if (!isUpdate && pod.metadata.labels?.['controller-revision-hash'] !== set.status?.currentRevision)
      yield `${name} is made of a new template below the partition`;
  }
  for (const step of steps) {
    const isTaken = step.do === 'own-claim' && step.claim.metadata.ownerReferences?.includes(FOREIGN);
    if (isTaken && !step.owners.includes(FOREIGN)) yield `${step.claim.metadata.name} loses an owner that is not ours`;
  }
}

test('from any state, with pods that behave sooner or later, a set becomes what it should be and keeps every promise', () => {
  fc.assert(
    fc.property(config, podStates, rounds, (wanted, states, progress) => {
      // Two surplus members that have ended block each other in an ordered set, in Kubernetes as well.
      const isSurplus = ({ ordinal }: PodState) => ordinal < wanted.start || ordinal >= wanted.start + wanted.replicas;
      const ends = (state: PodState) => state.phase === 'Failed' || state.phase === 'Succeeded';
      fc.pre(!wanted.isOrdered || states.filter((state) => isSurplus(state) && ends(state)).length < 2);

      const model = new Model(wanted, states);
      for (const { steps, bits } of progress) {
        model.pass(steps);
        model.getOn((ordinal) => ((bits >> ordinal) & 1) === 1);
      }
      let quiet = 0;
      for (let round = 0; quiet < 3; round++) {
        if (round > 100) throw new Error(`still at it: ${model.pass().map(shown).join(', ')}`);
        quiet = model.pass().length === 0 ? quiet + 1 : 0;
        model.getOn(() => true);
      }
      const ordinals = [...model.pods.values()].map((pod) => ordinalOf(model.set, pod) ?? -1);
      expect(new Set(ordinals)).toEqual(new Set(Array.from({ length: wanted.replicas }, (_, at) => wanted.start + at)));
      const partition = wanted.partition ?? Infinity;
      for (const pod of model.pods.values()) {
        const index = (ordinalOf(model.set, pod) ?? 0) - wanted.start;
        if (index >= partition) expect(revisionOf(pod)).toBe(nameOf(wanted.update));
      }
      for (const name of wanted.hasClaims ? model.pods.keys() : []) expect(model.claims.has(`data-${name}`)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test('a plan is the same whatever the order in which pods are seen', () => {
  fc.assert(
    fc.property(config, podStates, (wanted, states) => {
      const ordered = new Model(
        wanted,
        states.toSorted((a, b) => a.ordinal - b.ordinal),
      ).plan();
      const mixed = new Model(wanted, states).plan();
      expect(mixed.steps.map(shown)).toEqual(ordered.steps.map(shown));
    }),
  );
});
