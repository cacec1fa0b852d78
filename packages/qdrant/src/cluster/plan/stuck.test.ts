import type { Pod } from '@polder/kube';
import { describe, expect, test } from 'vitest';
import { type Look, look, NOW } from '../../../test/states.ts';
import { DEFAULTS } from '../../settings.ts';
import type { Observed } from '../observe.ts';
import { type ClusterPlan, planCluster } from './index.ts';

const minutesAgo = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000).toISOString();

const SHARDS = [
  [0, 1],
  [1, 2],
  [0, 2],
];

/** What is otherwise about some pods, by their ordinals. */
type Changes = Readonly<Record<number, { readonly pod?: (pod: Pod) => Pod; readonly silentSince?: string }>>;

function plan(given: Look, changes: Changes): ClusterPlan {
  const { cluster, observed } = look({ shards: SHARDS, ...given });
  const pods = observed.pods.map((seen) => {
    const { pod = (same: Pod) => same, silentSince } = changes[seen.ordinal] ?? {};
    return { ...seen, pod: pod(seen.pod), silentSince };
  });
  const changed: Observed = { ...observed, pods };
  return planCluster(cluster, changed, DEFAULTS, NOW);
}

const names = ({ steps }: ClusterPlan) =>
  steps.flatMap((step) =>
    'pod' in step && typeof step.pod === 'object' ? [`${step.do} ${step.pod.metadata.name}`] : [step.do],
  );

describe('a pod on a node that is not heard of', () => {
  const evicted = (pod: Pod): Pod => ({
    ...pod,
    metadata: { ...pod.metadata, deletionTimestamp: minutesAgo(2) },
    spec: { containers: [], nodeName: 'n1' },
  });
  const silent = { pod: evicted, silentSince: minutesAgo(7) };
  const away: Look = { pods: { 2: { isReady: false } }, views: { 2: 'silent' } };

  test('is let go of after six minutes, so that its peer comes back elsewhere with its volume', () => {
    expect(names(plan(away, { 2: silent }))).toEqual(['force-delete-pod vectors-2']);
    expect(names(plan(away, { 2: { ...silent, silentSince: minutesAgo(5) } }))).toEqual([]);
  });

  test('is left alone if nobody evicted it: whoever tolerates such nodes wants it to wait', () => {
    expect(names(plan(away, { 2: { silentSince: minutesAgo(60) } }))).toEqual([]);
  });

  test('is let go of also by the last two, who can decide nothing without it', () => {
    const two: Look = {
      ...away,
      spec: { replicas: 2 },
      pods: { 1: { isReady: false } },
      views: { 1: 'silent' },
      shards: [],
    };
    expect(names(plan(two, { 1: silent }))).toEqual(['force-delete-pod vectors-1']);
  });

  test('is one pod: while two are away, none is taken for dead', () => {
    const both: Look = { pods: { 1: { isReady: false }, 2: { isReady: false } }, views: { 1: 'silent', 2: 'silent' } };
    const held = plan(both, { 1: silent, 2: silent });
    expect(names(held)).toEqual([]);
    expect(held.status.holding?.join()).toContain('force-delete-pod is held by one-pod-at-a-time');
  });

  test('is not let go of if it has no volume and the only copy of a shard', () => {
    // Its shards have live copies with the others.
    expect(planWithoutVolumes(SHARDS, { 2: silent })).toEqual(['force-delete-pod vectors-2']);
    expect(planWithoutVolumes([[0, 1], [2]], { 2: silent })).toEqual([]);
  });

  function planWithoutVolumes(shards: readonly (readonly number[])[], changes: Changes): readonly string[] {
    const { cluster, observed } = look({ ...away, shards });
    const { persistence: _, ...spec } = cluster.spec;
    const pods = observed.pods.map((seen) => {
      const { pod = (same: Pod) => same, silentSince } = changes[seen.ordinal] ?? {};
      return { ...seen, pod: pod(seen.pod), silentSince };
    });
    const set = observed.children.set && { ...observed.children.set };
    const bare = set?.spec && { ...set, spec: { ...set.spec, volumeClaimTemplates: [] } };
    const children = { ...observed.children, set: bare };
    return names(planCluster({ ...cluster, spec }, { ...observed, claims: [], pods, children }, DEFAULTS, NOW));
  }
});

describe('a peer that does not come up with what it was given', () => {
  const neverReady =
    (minutes: number, waiting?: { readonly reason: string; readonly message?: string }) =>
    (pod: Pod): Pod => ({
      ...pod,
      metadata: { ...pod.metadata, creationTimestamp: minutesAgo(minutes) },
      status: {
        ...pod.status,
        conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: minutesAgo(minutes) }],
        ...(waiting && {
          containerStatuses: [
            { name: 'qdrant', image: '', imageID: '', ready: false, restartCount: 3, state: { waiting } },
          ],
        }),
      },
    });
  const broken: Look = {
    pods: { 2: { isReady: false, isRunning: false }, 1: { isOld: true }, 0: { isOld: true } },
    views: { 2: 'silent' },
  };

  test('stops the rollout, and the status says what it waits for and what to do', () => {
    const waiting = { reason: 'ImagePullBackOff', message: 'no such image' };
    const stuck = plan(broken, { 2: { pod: neverReady(6, waiting) } });
    expect(names(stuck)).toEqual([]);
    expect(stuck.status).toMatchObject({ qdrantStatus: 'Error', reason: 'RolloutStuck' });
    expect(stuck.status.errorMessage).toContain('vectors-2 has not been ready since it was started anew at');
    expect(stuck.status.errorMessage).toContain('ImagePullBackOff: no such image');
    expect(plan(broken, { 2: { pod: neverReady(4, waiting) } }).status.reason).toBeUndefined();
  });

  test('that runs has as long as its startup probe gives it', () => {
    const slow: Look = { ...broken, pods: { ...broken.pods, 2: { isReady: false } } };
    expect(plan(slow, { 2: { pod: neverReady(29) } }).status.reason).toBeUndefined();
    expect(plan(slow, { 2: { pod: neverReady(31) } }).status.reason).toBe('RolloutStuck');
  });

  test.each([true, false])('is replaced once the spec is what it was (it runs: %s)', (isRunning) => {
    const reverted: Look = { pods: { 2: { isReady: false, isRunning, isOld: true } }, views: { 2: 'silent' } };
    expect(names(plan(reverted, { 2: { pod: neverReady(6) } }))).toEqual(['restart-pod vectors-2']);
  });

  test('and was ready before is not restarted for it', () => {
    const lost: Look = { pods: { 2: { isReady: false, isOld: true } }, views: { 2: 'silent' } };
    const wasReady = (pod: Pod): Pod => ({
      ...neverReady(60)(pod),
      status: { ...pod.status, conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: minutesAgo(10) }] },
    });
    expect(names(plan(lost, { 2: { pod: wasReady } }))).toEqual([]);
  });
});
