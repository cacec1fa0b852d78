import type { PersistentVolumeClaim, Pod, StatefulSet } from '@polder/kube';
import { describe, expect, test } from 'vitest';
import { aCluster, aPod, setOf } from '../../test/states.ts';
import { newsOfClaim, newsOfCollection, newsOfPod, newsOfSet } from './news.ts';

const DOWN = { isOld: false, isEnding: false, isReady: false, isRunning: false };

const waiting = (reason: string): Pod => {
  const pod = aPod(0, DOWN);
  const [container] = pod.status?.containerStatuses ?? [];
  return { ...pod, status: { containerStatuses: container ? [{ ...container, state: { waiting: { reason } } }] : [] } };
};

describe('of a pod', () => {
  test('nothing is heard before there is somebody to ask in it', () => {
    expect(newsOfPod(waiting('ContainerCreating'))).toBeUndefined();
    expect(newsOfPod({ ...aPod(0, DOWN), status: {} })).toBeUndefined();
  });

  test.each<[string, Pod]>([
    ['that it runs', aPod(0, { ...DOWN, isRunning: true })],
    ['that it is ready', aPod(0)],
    ['that it ends', aPod(0, { ...DOWN, isEnding: true })],
    ['that it does not come up', waiting('CrashLoopBackOff')],
  ])('it is heard %s', (_what, pod) => {
    expect(newsOfPod(pod)).toBeDefined();
    expect(newsOfPod(pod)).not.toEqual(newsOfPod(aPod(0, { ...DOWN, isRunning: true, isOld: true })));
  });
});

test('of a claim it is heard that it goes, and how it grows', () => {
  const claim: PersistentVolumeClaim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'a' } };
  expect(newsOfClaim({ ...claim, status: { phase: 'Bound' } })).toBeUndefined();
  expect(newsOfClaim({ ...claim, metadata: { name: 'a', deletionTimestamp: 'now' } })).toBeDefined();
  const conditions = [{ type: 'FileSystemResizePending', status: 'True' as const }];
  expect(newsOfClaim({ ...claim, status: { conditions } })).toBeDefined();
});

describe('of a StatefulSet', () => {
  const set = setOf(aCluster(), 3, 'qdrant/qdrant:v1.19.0');
  const at = (updateRevision: string, more: object = {}): StatefulSet => ({
    ...set,
    status: { replicas: 3, currentRevision: 'a', updateRevision, ...more },
  });

  test('it is heard that pods are outdated, and that somebody changed it', () => {
    expect(newsOfSet(at('b'))).not.toEqual(newsOfSet(at('a')));
    const { spec } = setOf(aCluster(), 5, 'qdrant/qdrant:v1.19.0');
    expect(newsOfSet({ ...at('a'), ...(spec && { spec }) })).not.toEqual(newsOfSet(at('a')));
    expect(newsOfSet({ ...at('a'), metadata: { ...set.metadata, labels: {} } })).not.toEqual(newsOfSet(at('a')));
  });

  test('and not how many of them are there: that is seen in them', () => {
    expect(newsOfSet(at('a', { readyReplicas: 2, observedGeneration: 4 }))).toEqual(newsOfSet(at('a')));
  });
});

test('of a collection it is heard when its copies are known, and that the server was told something', () => {
  const collection = {
    apiVersion: 'qdrant.operator/v1alpha1',
    kind: 'QdrantCollection',
    metadata: { name: 'points' },
    spec: { cluster: 'vectors', vectorSize: 4 },
  };
  const replicated = (status: 'True' | 'False' | 'Unknown', reason: string) => ({
    conditions: [{ type: 'Replicated', status, reason, message: '', lastTransitionTime: '2026-03-01T00:00:00Z' }],
  });
  expect(newsOfCollection(collection)).toBeUndefined();
  expect(newsOfCollection({ ...collection, status: replicated('Unknown', 'NotKnown') })).toBeUndefined();
  const complete = newsOfCollection({ ...collection, status: replicated('True', 'AllCopies') });
  expect(complete).toBeDefined();
  expect(newsOfCollection({ ...collection, status: replicated('False', 'Replicating') })).not.toEqual(complete);
  const lastPatch = { hash: 'x', time: '2026-03-01T00:00:00Z' };
  expect(newsOfCollection({ ...collection, status: { lastPatch } })).toBeDefined();
});
