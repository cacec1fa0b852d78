import { describe, expect, test } from 'vitest';
import {
  aManifest,
  aRestore,
  ofPeer,
  ours,
  part,
  SHARDS,
  seen,
  underWay,
  upstreams,
} from '../../../test/restore-states.ts';
import { distributionOf, idOf, type Look } from '../../../test/states.ts';
import type { QdrantCollectionRestore } from '../../kinds/index.ts';
import type { Observed } from '../observe.ts';
import { rules } from './rules.ts';
import { situationOf } from './situation.ts';
import type { RestoreStep } from './step.ts';

interface Case {
  readonly restore?: QdrantCollectionRestore;
  readonly seen?: Partial<Observed>;
  readonly look?: Look;
  readonly pod?: string;
}

const uploading = aRestore(underWay(part(0, 'Uploading'), part(1, 'Verified')));

/** The rules that forbid to upload the first file, and why. */
function objections({ restore = uploading, seen: more = {}, look = {}, pod = 'vectors-0' }: Case) {
  const observed = seen(more, look);
  const [first] = restore.status?.parts ?? [part(0, 'Found')];
  if (!observed.cluster || !first || observed.bucket.is === 'missing') throw new Error('there is nothing to upload');
  const step: RestoreStep = {
    do: 'upload-part',
    because: 'of a test',
    via: { cluster: observed.cluster, pod },
    collection: 'points',
    part: first,
    key: first.file,
    bucket: observed.bucket.source,
    others: [],
  };
  const situation = situationOf(restore, observed);
  return Object.fromEntries(
    rules.flatMap((rule) => {
      const because = rule.forbids(step, situation);
      return because === undefined ? [] : [[rule.name, because]];
    }),
  );
}

const told = (states: Record<string, string>, transfers: { shard: number; from: string; to: string }[] = []) => ({
  distributions: { known: true as const, value: [{ ...distributionOf(SHARDS, states), transfers }] },
});
const everywhere = (states: Record<string, string>): Look => ({
  views: { 0: told(states), 1: told(states), 2: told(states) },
});
const peers = [0, 1, 2].map((at) => ({ id: idOf(at), pod: `vectors-${at}`, uri: '' }));
const ready = (status: 'True' | 'False') => [
  { type: 'Ready', status, reason: 'R', message: 'it is not', lastTransitionTime: '' },
];

test('nothing is forbidden where all is well', () => {
  expect(objections({})).toEqual({});
});

describe('a file is held by', () => {
  test.each<[string, Case, string]>([
    ['a-cluster-is-to-stay', { look: { spec: { suspend: true } } }, 'is suspended'],
    ['a-cluster-is-to-stay', { look: { metadata: { deletionTimestamp: 'now' } } }, 'is being deleted'],
    [
      'a-stopped-consensus-holds-everything',
      { look: { views: { 1: { consensus: { is: 'stopped', because: 'no space' } } } } },
      'Restart nothing',
    ],
    [
      'there-is-one-cluster',
      { look: { members: [0, 1], views: { 2: { id: '7', members: new Map([['7', '']]), leader: '7' } } } },
      'peer 7 of another cluster',
    ],
    ['nothing-is-restored-blind', { look: { views: { 2: { leader: idOf(1) } } } }, 'does not follow'],
    [
      'nothing-is-restored-blind',
      { look: { views: { 2: { distributions: { known: false, because: 'timeout' } } } } },
      'timeout',
    ],
    ['every-member-answers', { look: { views: { 2: 'silent' } } }, 'does not answer'],
    [
      'the-leader-reaches-every-member',
      { look: { views: { 0: { unreached: ['http://vectors-2.vectors-headless.shop:6335/'] } } } },
      'in vain',
    ],
    [
      'the-cluster-is-at-rest',
      { look: { status: { observedGeneration: 1, peers, operation: 'restart-pod: it is old' } } },
      'is busy: restart-pod',
    ],
    ['the-cluster-is-at-rest', { look: { status: { observedGeneration: 0, peers } } }, 'has changed'],
    [
      'the-cluster-is-at-rest',
      { restore: aRestore(), look: { status: { observedGeneration: 1, peers, conditions: ready('False') } } },
      'is not ready: it is not',
    ],
    [
      'the-cluster-is-at-rest',
      { restore: aRestore(), look: { status: { observedGeneration: 1, conditions: ready('True') } } },
      'has 0 of 3 peers',
    ],
    ['a-backup-is-not-disturbed', { seen: { backup: 'nightly' } }, 'QdrantCollectionBackup nightly'],
    ['one-restore-at-a-time', { seen: { others: ['other'] } }, 'QdrantCollectionRestore other is under way'],
    [
      'only-a-whole-backup-replaces',
      { restore: aRestore(underWay(part(0, 'Uploading'), part(1, 'Found'))) },
      'shard-1.snapshot is not verified yet',
    ],
    [
      'one-file-at-a-time',
      { restore: aRestore(underWay(part(0, 'Uploading'), part(1, 'Settling'))) },
      'shard-1.snapshot is not restored yet',
    ],
    ['a-file-finds-the-copies-settled', { look: everywhere({ '1@2': 'Dead' }) }, 'a copy of shard 1'],
    ['a-file-finds-the-copies-settled', { look: everywhere({ '0@1': 'Dead' }) }, 'a copy of shard 0'],
    [
      'a-file-finds-the-copies-settled',
      { look: { views: { 2: told({}, [{ shard: 1, from: idOf(1), to: idOf(2) }]) } } },
      'shard 1 of points is on its way',
    ],
    ['a-shard-goes-to-a-holder', { pod: 'vectors-2' }, 'vectors-2 does not have shard 0'],
    [
      'every-file-has-its-peer',
      { restore: aRestore(underWay(...[0, 1, 2, 3].map((at) => ofPeer(at, 'Verified')))), seen: { set: upstreams(4) } },
      'there is no vectors-3; scale QdrantCluster vectors to 4 replicas first',
    ],
    [
      'the-version-can-read-it',
      { seen: { set: ours(aManifest({ qdrantVersion: '1.20.0' })) } },
      'the backup is of version 1.20.0, and vectors-0 runs 1.19.0; upgrade first',
    ],
  ])('%s', (rule, given, because) => {
    expect(objections(given)[rule]).toContain(because);
  });

  test('no rule if the upload before it broke off and left no active copy of the shard', () => {
    expect(objections({ look: everywhere({ '0@0': 'ManualRecovery', '0@1': 'Dead' }) })).toEqual({});
  });

  test('no rule that waits for the cluster to be ready, once it has begun: copies die with each file', () => {
    expect(objections({ look: { status: { observedGeneration: 1, peers, conditions: ready('False') } } })).toEqual({});
  });
});
