import { expect, test } from 'vitest';
import type { WireObject } from '../served-kind.ts';
import { persistentVolumeClaim } from './storage.ts';

const claim = (storage: string, phase: string): WireObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'c', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: {
    accessModes: ['ReadWriteOnce'],
    volumeMode: 'Filesystem',
    volumeName: 'v',
    resources: { requests: { storage } },
  },
  status: { phase, ...(phase === 'Bound' && { capacity: { storage: '2Gi' } }) },
});

const problems = (storage: string, phase: string) =>
  [...(persistentVolumeClaim.validate?.(claim(storage, phase), claim('4Gi', phase)) ?? [])].map(({ field }) => field);

test.each([
  ['5Gi', []],
  ['3Gi', []],
  ['2Gi', ['spec.resources.requests.storage']],
  ['1Gi', ['spec.resources.requests.storage']],
])('a bound claim of 2Gi that asked for 4Gi may ask for %s: %j', (storage, expected) => {
  expect(problems(storage, 'Bound')).toEqual(expected);
});

test('a claim without a volume keeps its size', () => {
  expect(problems('5Gi', 'Pending')).toEqual(['spec']);
});
