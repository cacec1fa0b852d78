import type { Deployment, DeploymentSpec, ReplicaSet, ReplicaSetStatus } from '@polder/kube';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maxSurge } from '../limits.ts';
import type { Observed } from '../observe.ts';
import { planDeployment } from './index.ts';

const now = new Date('2026-01-01T01:00:00Z');

const template = (version: number) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: `main:${version}` }] },
});

/** Wants version 9, which no set has unless a test says so. */
function web(spec: Partial<DeploymentSpec> = {}, rest: Partial<Deployment> = {}): Deployment {
  const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default', uid: 'web', generation: 1 },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      template: template(9),
      strategy: { type: 'RollingUpdate', rollingUpdate },
      progressDeadlineSeconds: 600,
      ...spec,
    },
    ...rest,
  };
}

interface SetFields {
  readonly available?: number;
  readonly status?: Partial<ReplicaSetStatus>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A set with so many pods, older the lower its version. */
function set(version: number, size: number, { available = size, status, annotations }: SetFields = {}): ReplicaSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `web-${version}`,
      namespace: 'default',
      uid: `uid-${version}`,
      generation: 1,
      creationTimestamp: `2026-01-01T00:00:0${version}Z`,
      labels: { app: 'web' },
      annotations: { 'deployment.kubernetes.io/revision': `${version}`, ...annotations },
    },
    spec: { replicas: size, selector: {}, template: template(version) },
    status: { replicas: size, availableReplicas: available, observedGeneration: 1, terminatingReplicas: 0, ...status },
  };
}

const seen = (...owned: readonly ReplicaSet[]): Observed => ({ owned, unowned: [], namesake: undefined });

/** `web-1: 4 → 3`, `create web-x: 1`: what happens to the sets. */
function changes(deployment: Deployment, observed: Observed): readonly string[] {
  return planDeployment(deployment, observed, now).steps.flatMap((step) => {
    if (step.do === 'scale-replica-set') return [`${step.set.metadata.name}: ${step.from} → ${step.to}`];
    if (step.do === 'create-replica-set') return [`create: ${step.set.spec?.replicas}`];
    if (step.do === 'delete-replica-set') return [`delete ${step.set.metadata.name}`];
    return [];
  });
}

const sized = (desired: number, most: number) => ({
  annotations: {
    'deployment.kubernetes.io/desired-replicas': `${desired}`,
    'deployment.kubernetes.io/max-replicas': `${most}`,
  },
});

const limits = (maxSurge: number, maxUnavailable: number): Partial<DeploymentSpec> => ({
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
});

test('a new deployment gets a set of its full size at once', () => {
  expect(changes(web(), seen())).toEqual(['create: 3']);
});

test('a rollout begins on both sides in one pass, as far as the limits allow', () => {
  expect(changes(web({ replicas: 4, ...limits(1, 1) }), seen(set(1, 4)))).toEqual(['create: 1', 'web-1: 4 → 3']);
});

test('pods of the new version that never come up cost no more old ones, even if one of those fails', () => {
  const spec = { replicas: 10, ...limits(3, 2) };
  expect(changes(web(spec), seen(set(1, 8, { available: 7 }), set(9, 5, { available: 0 })))).toEqual([]);
  // Going back, the ones that never came up are the first to go.
  const back = web({ ...spec, template: template(1) });
  expect(changes(back, seen(set(1, 8, { available: 7 }), set(9, 5, { available: 0 })))).toEqual(['web-9: 5 → 1']);
});

test('an old set that does not know its size yet is asked again later', () => {
  const behind = set(1, 3, { status: { observedGeneration: 0 } });
  expect(changes(web(limits(0, 1)), seen(behind, set(9, 0)))).toEqual([]);
  expect(changes(web(limits(0, 1)), seen(set(1, 3), set(9, 0)))).toEqual(['web-1: 3 → 2']);
});

test('several old sets shrink from the oldest on, unhealthy pods first', () => {
  const olds = [set(1, 2), set(2, 2, { available: 1 }), set(3, 1)];
  expect(changes(web({ replicas: 4, ...limits(1, 1) }), seen(...olds, set(9, 0)))).toEqual([
    'web-2: 2 → 1',
    'web-1: 2 → 1',
  ]);
});

test('a set with the same template is used, whatever its name; of two the older one', () => {
  const twin = set(9, 0);
  const other = {
    ...twin,
    metadata: { ...twin.metadata, name: 'aaa', uid: 'x', creationTimestamp: '2026-01-01T00:30:00Z' },
  };
  expect(changes(web(), seen(other, twin))).toEqual(['web-9: 0 → 3']);
});

test('a name that is taken is counted, and nothing is created under it', () => {
  const plan = planDeployment(web(), { ...seen(), namesake: set(5, 1) }, now);
  expect(plan.steps).toEqual([]);
  expect(plan.status.collisionCount).toBe(1);
});

test.each<[string, Partial<DeploymentSpec>, ReplicaSet[], string[]]>([
  ['the only set with pods gets them all', { replicas: 5 }, [set(1, 3, sized(3, 4)), set(9, 0)], ['web-1: 3 → 5']],
  ['a full current set needs no others', {}, [set(1, 2, sized(2, 3)), set(9, 3, sized(3, 4))], ['web-1: 2 → 0']],
  [
    'each set gets its share of more',
    { replicas: 8 },
    [set(1, 4, sized(4, 5)), set(9, 1, sized(4, 5))],
    ['web-1: 4 → 7', 'web-9: 1 → 2'],
  ],
  [
    'each set gives its share of fewer',
    { replicas: 4 },
    [set(1, 7, sized(8, 9)), set(9, 2, sized(8, 9))],
    ['web-1: 7 → 4', 'web-9: 2 → 1'],
  ],
  [
    'of equal sets the newest gets the odd one',
    { replicas: 5, ...limits(0, 1) },
    [set(1, 2, sized(4, 4)), set(9, 2, sized(4, 4))],
    ['web-9: 2 → 3'],
  ],
  [
    'of equal sets the oldest gives the odd one',
    { replicas: 3, ...limits(0, 1) },
    [set(1, 2, sized(4, 4)), set(9, 2, sized(4, 4))],
    ['web-1: 2 → 1'],
  ],
  [
    'all go when none is wanted',
    { replicas: 0 },
    [set(1, 4, sized(4, 5)), set(9, 1, sized(4, 5))],
    ['web-1: 4 → 0', 'web-9: 1 → 0'],
  ],
])('scaled in the midst of a rollout: %s', (_what, spec, sets, expected) => {
  expect(changes(web(spec), seen(...sets))).toEqual(expected);
});

test('scaled up in the midst of a rollout, the sets together get all that is allowed; scaled down, they keep at least that', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 2, maxLength: 5 });
  fc.assert(
    fc.property(
      sizes,
      fc.integer({ min: 1, max: 60 }),
      fc.nat(5),
      fc.option(fc.nat(80), { nil: undefined }),
      (all, replicas, surge, most) => {
        const fields = most === undefined ? sized(1000, 1000) : sized(1000, most);
        const sets = all.map((size, i) => set(i + 1, size, { ...fields, available: 0 }));
        const deployment = web({ replicas, ...limits(surge, 1) });
        const after = new Map(sets.map((one) => [one.metadata.name, one.spec?.replicas ?? 0]));
        for (const step of planDeployment(deployment, seen(...sets), now).steps) {
          if (step.do === 'scale-replica-set') after.set(step.set.metadata.name, step.to);
        }
        const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0);
        const [before, total, allowed] = [sum(all), sum([...after.values()]), replicas + maxSurge(deployment)];
        expect(Math.min(...after.values())).toBeGreaterThanOrEqual(0);
        expect(total).toBeGreaterThanOrEqual(allowed);
        expect(total).toBeLessThanOrEqual(Math.max(before, allowed));
        const grown = sets.filter(({ metadata, spec }) => (after.get(metadata.name) ?? 0) > (spec?.replicas ?? 0));
        if (allowed <= before) expect(grown).toEqual([]);
      },
    ),
  );
});

test('a set that somebody gave the new size already still learns of it, so that a rollout can begin', () => {
  const deployment = web({ replicas: 5 });
  const [step] = planDeployment(deployment, seen(set(1, 5, sized(3, 4))), now).steps;
  expect(step).toMatchObject({ do: 'annotate-replica-set', set: { metadata: sized(5, 6) } });
});

test('with Recreate nothing new comes while an old pod is there, or may still come', () => {
  const deployment = web({ strategy: { type: 'Recreate' } });
  expect(changes(deployment, seen(set(1, 3)))).toEqual(['web-1: 3 → 0']);
  expect(changes(deployment, seen(set(1, 0, { status: { replicas: 1 } })))).toEqual([]);
  expect(changes(deployment, seen(set(1, 0, { status: { terminatingReplicas: 1 } })))).toEqual([]);
  expect(changes(deployment, seen(set(1, 0, { status: { observedGeneration: 0 } })))).toEqual([]);
  expect(changes(deployment, seen(set(1, 0)))).toEqual(['create: 3']);
});

test('old sets over the limit go when the rollout is over, the lowest revisions first, and only if they have no pods', () => {
  const status = { observedGeneration: 1, replicas: 3, updatedReplicas: 3, availableReplicas: 3 };
  const sets = [set(1, 0, { status: { replicas: 1 } }), set(2, 0), set(3, 0), set(4, 0), set(9, 3)];
  const deployment = web({ revisionHistoryLimit: 1 }, { status });
  expect(changes(deployment, seen(...sets))).toEqual(['delete web-2', 'delete web-3']);
  expect(changes(web({ revisionHistoryLimit: 1 }), seen(...sets))).toEqual([]);
  expect(changes(web({ revisionHistoryLimit: 2 ** 31 - 1 }, { status }), seen(...sets))).toEqual([]);
});

const rollback = (to: string, version: number) =>
  web(
    { template: template(version) },
    { metadata: { name: 'web', uid: 'web', generation: 1, annotations: { 'deprecated.deployment.rollback.to': to } } },
  );

test.each([
  ['0', 9, { reason: 'DeploymentRollback', because: 'Rolled back deployment "web" to revision 2' }],
  ['1', 9, { reason: 'DeploymentRollback', because: 'Rolled back deployment "web" to revision 1' }],
  ['7', 9, { reason: 'DeploymentRollbackRevisionNotFound' }],
  ['9', 9, { reason: 'DeploymentRollbackTemplateUnchanged' }],
])('asked to go back to revision %s, it does or says why not, once', (to, version, expected) => {
  const { steps } = planDeployment(rollback(to, version), seen(set(1, 0), set(2, 0), set(9, 3)), now);
  const last = steps.at(-1);
  expect(last).toMatchObject({ do: 'end-rollback', ...expected });
  const annotations = last?.do === 'end-rollback' ? last.deployment.metadata.annotations : undefined;
  expect(annotations).not.toHaveProperty(['deprecated.deployment.rollback.to']);
});

const progressing = (reason: string, lastUpdateTime: string) => ({
  status: {
    observedGeneration: 1,
    replicas: 3,
    updatedReplicas: 3,
    conditions: [{ type: 'Progressing', status: 'True', reason, lastUpdateTime, lastTransitionTime: lastUpdateTime }],
  },
});
const stuck = seen(set(9, 3, { available: 0 }));
const progressOf = (deployment: Deployment, observed = stuck) => {
  const { status, lookAgain } = planDeployment(deployment, observed, now);
  const found = status.conditions?.find(({ type }) => type === 'Progressing');
  return { says: `${found?.status} ${found?.reason}`, lookAgain: lookAgain?.afterMs };
};

test('a rollout that gets nowhere is late after its deadline, and is looked at again right then', () => {
  const inTime = web({}, progressing('ReplicaSetUpdated', '2026-01-01T00:50:00Z'));
  expect(progressOf(inTime)).toEqual({ says: 'True ReplicaSetUpdated', lookAgain: 1 });
  const late = web({}, progressing('ReplicaSetUpdated', '2026-01-01T00:49:59Z'));
  expect(progressOf(late)).toEqual({ says: 'False ProgressDeadlineExceeded', lookAgain: undefined });
});

test('a rollout that was over is not late when its pods fail later', () => {
  const done = web({}, progressing('NewReplicaSetAvailable', '2025-01-01T00:00:00Z'));
  expect(progressOf(done)).toEqual({ says: 'True NewReplicaSetAvailable', lookAgain: undefined });
});

test('no deadline runs while a deployment is paused, and a new one when it is resumed', () => {
  const paused = web({ paused: true }, progressing('ReplicaSetUpdated', '2025-01-01T00:00:00Z'));
  expect(progressOf(paused)).toEqual({ says: 'Unknown DeploymentPaused', lookAgain: undefined });
  const resumed = web({}, progressing('DeploymentPaused', '2025-01-01T00:00:00Z'));
  expect(progressOf(resumed)).toEqual({ says: 'Unknown DeploymentResumed', lookAgain: 600_001 });
});

test('without a deadline nothing is said about progress', () => {
  const carefree = web(
    { progressDeadlineSeconds: 2 ** 31 - 1 },
    progressing('ReplicaSetUpdated', '2026-01-01T00:00:00Z'),
  );
  expect(progressOf(carefree).says).toBe('undefined undefined');
});

test('trouble of the current set is told before that of the others', () => {
  const failure = (reason: string) => ({
    conditions: [{ type: 'ReplicaFailure', status: 'True', reason, message: reason }],
  });
  const sets = [set(1, 1, { status: failure('FailedDelete') }), set(9, 3, { status: failure('FailedCreate') })];
  const { status } = planDeployment(web(), seen(...sets), now);
  expect(status.conditions).toContainEqual(expect.objectContaining({ type: 'ReplicaFailure', reason: 'FailedCreate' }));
});

test('a deployment that is being deleted changes nothing and goes on counting', () => {
  const metadata = { name: 'web', uid: 'web', generation: 2, deletionTimestamp: '2026-01-01T00:00:00Z' };
  const { steps, status } = planDeployment(web({}, { metadata }), seen(set(1, 3)), now);
  expect(steps).toEqual([]);
  expect(status).toMatchObject({ observedGeneration: 2, replicas: 3, availableReplicas: 3 });
});
