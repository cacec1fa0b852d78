import type { OwnerReference, PersistentVolumeClaim, Pod, StatefulSet } from '@polder/kube';
import { expect, test } from 'vitest';
import { isLeftOver, ownersOf } from './claims.ts';

const set = (whenDeleted: string, whenScaled: string): StatefulSet => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'web', uid: 'set' },
  spec: { selector: {}, template: {}, persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled } },
});
const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-1', uid: 'pod' } };
const control = { controller: true, blockOwnerDeletion: true };
const ofSet = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'set', ...control };
const ofPod = { apiVersion: 'v1', kind: 'Pod', name: 'web-1', uid: 'pod', ...control };
const stranger = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: 'other' };
const claim = (...ownerReferences: readonly OwnerReference[]): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data-web-1', ownerReferences },
});

test.each([
  { whenDeleted: 'Retain', whenScaled: 'Retain', wanted: [], condemned: [] },
  { whenDeleted: 'Delete', whenScaled: 'Retain', wanted: [ofSet], condemned: [ofSet] },
  { whenDeleted: 'Retain', whenScaled: 'Delete', wanted: [], condemned: [ofPod] },
  { whenDeleted: 'Delete', whenScaled: 'Delete', wanted: [ofSet], condemned: [ofPod] },
])('a claim has the owners that take it along: $whenDeleted with the set, $whenScaled with its member', (policy) => {
  const owner = set(policy.whenDeleted, policy.whenScaled);
  for (const [isCondemned, owners] of [
    [false, policy.wanted],
    [true, policy.condemned],
  ] as const) {
    for (const before of [[], [ofSet], [ofPod], [ofSet, ofPod]]) {
      const after = ownersOf(claim(stranger, ...before), owner, pod, isCondemned);
      expect(after ?? [stranger, ...before]).toEqual([stranger, ...owners]);
    }
    expect(ownersOf(claim(stranger, ...owners), owner, pod, isCondemned)).toBeUndefined();
  }
});

test('a claim that a predecessor of the set, or of the member, owns is left as it is', () => {
  const owner = set('Delete', 'Delete');
  expect(ownersOf(claim({ ...ofSet, uid: 'earlier' }), owner, pod, false)).toBeUndefined();
  expect(ownersOf(claim({ ...ofPod, uid: 'earlier' }), owner, pod, true)).toBeUndefined();
});

test('a claim that somebody else controls is theirs alone', () => {
  const theirs = { ...stranger, controller: true };
  expect(ownersOf(claim(theirs), set('Delete', 'Delete'), pod, true)).toBeUndefined();
  expect(ownersOf(claim(theirs, ofSet), set('Delete', 'Delete'), pod, true)).toEqual([theirs]);
});

test('a claim that goes with an earlier member is not for the next one', () => {
  const next = { metadata: { name: 'web-1' } };
  expect(isLeftOver(claim(ofPod), set('Retain', 'Delete'), next)).toBe(true);
  expect(isLeftOver(claim(ofPod), set('Retain', 'Retain'), next)).toBe(false);
  expect(isLeftOver(claim(ofSet), set('Retain', 'Delete'), next)).toBe(false);
});
