import { type Pod, ReplicaSet, type ReplicaSetStatus } from '@polder/kube';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planReplicaSet } from './plan.ts';
import { statusOfFailure } from './status.ts';
import { ScaleFailed } from './steps.ts';

const now = new Date('2026-01-02T00:00:00Z');
const time = '2026-01-01T00:00:00Z';

const set = (replicas: number, fields: Partial<ReplicaSet> = {}): ReplicaSet => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'web', namespace: 'default', uid: 'web', generation: 2 },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web', v: '1' } } },
  },
  ...fields,
});

interface Fields {
  readonly app?: string;
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed';
  readonly isReady?: boolean;
  readonly isGoing?: boolean;
  readonly readyAt?: string;
}

const pod = (
  name: string,
  { app = 'web', phase = 'Running', isReady = true, isGoing, readyAt = time }: Fields = {},
): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, uid: name, labels: { app }, creationTimestamp: time, ...(isGoing && { deletionTimestamp: time }) },
  status: { phase, conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: readyAt }] },
});

const seen = (owned: readonly Pod[], unowned: readonly Pod[] = []) => ({ owned, unowned, related: [] });
const done = (plan: ReturnType<typeof planReplicaSet>, what: string) => plan.steps.filter((step) => step.do === what);

const pods = fc
  .array(
    fc.record({
      app: fc.constantFrom('web', 'other'),
      phase: fc.constantFrom('Pending' as const, 'Running' as const, 'Succeeded' as const, 'Failed' as const),
      isReady: fc.boolean(),
      isGoing: fc.boolean(),
    }),
    { maxLength: 12, size: 'max' },
  )
  .map((all) => all.map((one, i) => pod(`p${i}`, one)));

const counts = ({ metadata, status }: Pod) =>
  metadata.labels?.['app'] === 'web' &&
  metadata.deletionTimestamp === undefined &&
  ['Pending', 'Running'].includes(status?.phase ?? '');

test('a set ends up with as many pods as it wants: never more, and no detour', () => {
  fc.assert(
    fc.property(fc.nat(10), pods, pods, (replicas, owned, others) => {
      const unowned = others.map((one) => ({ ...one, metadata: { ...one.metadata, name: `u-${one.metadata.name}` } }));
      const plan = planReplicaSet(set(replicas), seen(owned, unowned), now);
      const [created, deleted] = [done(plan, 'create-pod').length, done(plan, 'delete-pod').length];
      expect([...owned, ...unowned].filter(counts).length + created - deleted).toBe(replicas);
      expect(Math.min(created, deleted)).toBe(0);
    }),
  );
});

test('what is deleted is the set’s own or taken in, still running, and named once', () => {
  fc.assert(
    fc.property(fc.nat(3), pods, (replicas, owned) => {
      const plan = planReplicaSet(set(replicas), seen(owned), now);
      const deleted = plan.steps.flatMap((step) => (step.do === 'delete-pod' ? [step.pod] : []));
      expect(deleted.every(counts)).toBe(true);
      expect(new Set(deleted).size).toBe(deleted.length);
    }),
  );
});

test('a set that is being deleted changes nothing and goes on counting', () => {
  const going = set(5, { metadata: { name: 'web', uid: 'web', generation: 3, deletionTimestamp: time } });
  const plan = planReplicaSet(going, seen([pod('a')], [pod('b')]), now);
  expect(plan.steps).toEqual([]);
  expect(plan.status).toMatchObject({ replicas: 1, observedGeneration: 3 });
});

test('a large set is built in several passes, so that others get their turn', () => {
  expect(done(planReplicaSet(set(1200), seen([]), now), 'create-pod')).toHaveLength(500);
});

test('the status counts what is ready, available, fully labelled and on its way out; zeros are left out', () => {
  const ofTemplate = pod('b');
  const labelled: Pod = { ...ofTemplate, metadata: { ...ofTemplate.metadata, labels: { app: 'web', v: '1' } } };
  const owned = [
    pod('a', { isReady: false }),
    labelled,
    pod('c', { isGoing: true }),
    pod('d', { phase: 'Failed', isGoing: true }),
  ];
  expect(planReplicaSet(set(2), seen(owned), now).status).toEqual({
    replicas: 2,
    fullyLabeledReplicas: 1,
    readyReplicas: 1,
    availableReplicas: 1,
    terminatingReplicas: 1,
    observedGeneration: 2,
  });
  expect(planReplicaSet(set(0), seen([]), now).status).toEqual({
    replicas: 0,
    terminatingReplicas: 0,
    observedGeneration: 2,
  });
});

test('a ready pod becomes available in time, and the set looks again just then', () => {
  const waiting = set(1);
  const patient = { ...waiting, spec: { selector: {}, ...waiting.spec, minReadySeconds: 60 } };
  const plan = planReplicaSet(patient, seen([pod('a', { readyAt: '2026-01-01T23:59:30Z' })]), now);
  expect(plan.status).not.toHaveProperty('availableReplicas');
  expect(plan.lookAgain?.afterMs).toBe(30_000);
});

test('a set that can’t be scaled says why, since when, and how many pods it has', () => {
  const counted: ReplicaSetStatus = { replicas: 1, terminatingReplicas: 0, observedGeneration: 2 };
  const refused = (why: string) => new ScaleFailed('FailedCreate', why, counted, {});
  const status = statusOfFailure(set(2), refused('exceeded quota'), now);
  const failure = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' };
  expect(status).toEqual({ ...counted, conditions: [{ ...failure, lastTransitionTime: '2026-01-02T00:00:00Z' }] });
  // The same trouble in other words is no news.
  const later = new Date('2026-01-03T00:00:00Z');
  expect(statusOfFailure(set(2, { status }), refused('exceeded quota again'), later)).toEqual(status);
  // Once it can, the condition goes.
  expect(planReplicaSet(set(2, { status }), seen([pod('a'), pod('b')]), later).status).not.toHaveProperty('conditions');
});
