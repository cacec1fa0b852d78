import type { PersistentVolumeClaim, PersistentVolumeClaimStatus } from '@polder/kube';
import { describe, expect, test } from 'vitest';
import { claimSeen, type Look, look, NOW } from '../../../test/states.ts';
import { DEFAULTS } from '../../settings.ts';
import { planCluster } from './index.ts';

const minutesAgo = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000).toISOString();

/** The volume of the last of three peers has grown, and this is what is said of it. */
function plan(
  status: PersistentVolumeClaimStatus,
  { podAge = 60, ...given }: Look & { readonly podAge?: number } = {},
) {
  const { cluster, observed } = look(given);
  const claims = [0, 1, 2].map((ordinal) => {
    const seen = claimSeen(ordinal, `volume ${ordinal}`, '1Gi');
    const claim: PersistentVolumeClaim = ordinal === 2 ? { ...seen.claim, status } : seen.claim;
    return { ...seen, claim };
  });
  const pods = observed.pods.map((seen) => {
    const metadata = { ...seen.pod.metadata, creationTimestamp: minutesAgo(podAge) };
    return { ...seen, pod: { ...seen.pod, metadata } };
  });
  return planCluster(cluster, { ...observed, claims, pods }, DEFAULTS, NOW);
}

const condition = (type: string, message = '') => ({
  conditions: [{ type, status: 'True', lastTransitionTime: minutesAgo(10), message }],
});

describe('a volume whose file system grows when its pod starts anew', () => {
  const pending = condition('FileSystemResizePending');

  test('has it started anew, like any other pod that is restarted', () => {
    expect(plan(pending).steps).toMatchObject([
      { do: 'restart-pod', because: 'qdrant-storage-vectors-2 grows when its pod starts anew' },
    ]);
    const held = plan(pending, { shards: [[0, 1]], views: { 1: 'silent' } });
    expect(held.steps).toEqual([]);
    expect(held.status.holding?.join()).toContain('restart-pod is held by every-member-answers');
  });

  test('does not have it started anew twice', () => {
    expect(plan(pending, { podAge: 5 }).steps).toEqual([]);
  });
});

test.each<[string, PersistentVolumeClaimStatus, string]>([
  ['failed', condition('ControllerResizeError', 'quota exceeded'), 'quota exceeded'],
  ['failed on the node', condition('NodeResizeError', 'no space'), 'no space'],
  [
    'can not be done',
    { allocatedResourceStatuses: { storage: 'ControllerResizeInfeasible' } },
    'ControllerResizeInfeasible',
  ],
])('an expansion that %s is told', (_what, status, because) => {
  expect(plan(status).status).toMatchObject({
    reason: 'VolumeNotExpanded',
    errorMessage: `qdrant-storage-vectors-2 is not expanded: ${because}`,
  });
});
