/** What there is to say about the spec of a collection when it is written. */
import { findCondition, type SpecJudgement } from '@polder/kube';
import type { CollectionSpec, QdrantCluster, QdrantCollection } from '../kinds/index.ts';
import { objectionToSchedule } from '../schedules.ts';
import { problemOf } from './plan/admission.ts';
import { completed, USUAL } from './plan/wanted.ts';

/** `cluster` is the one that it names, if there is such. */
export function judgeCollection(
  collection: QdrantCollection,
  old: QdrantCollection | undefined,
  cluster: QdrantCluster | undefined,
): SpecJudgement {
  const problem = problemOf(collection);
  const problems = [
    ...(problem === undefined ? [] : [problem]),
    ...(old ? problemsOfChange(old, collection) : []),
    ...objectionToSchedule('spec.snapshots.backupSchedule', collection.spec.snapshots?.backupSchedule),
  ];
  const objection = problems.length === 0 ? undefined : problems.join('; ');
  return { objection, warnings: warningsFor(collection, cluster) };
}

/** What a collection has for good. Of one that was there before, what its spec is silent about is not known here. */
function fixed(spec: CollectionSpec, origin: NonNullable<QdrantCollection['status']>['origin']) {
  const { cluster, vectorSize, distance, shardNumber } = origin === 'Adopted' ? spec : completed(spec);
  return { cluster, vectorSize, distance, shardNumber };
}

/** Only of one that is as its spec says: what is not there yet can change, and a change that went wrong can be taken back. */
function problemsOfChange(old: QdrantCollection, collection: QdrantCollection): readonly string[] {
  if (findCondition(old.status?.conditions, 'Ready')?.status !== 'True') return [];
  const origin = old.status?.origin;
  const before: Readonly<Record<string, string | number | undefined>> = fixed(old.spec, origin);
  return Object.entries(fixed(collection.spec, origin)).flatMap(([field, value]) =>
    value === undefined || before[field] === undefined || before[field] === value
      ? []
      : `spec.${field} can not change from ${before[field]} to ${value}; make another collection, copy the points and move the alias`,
  );
}

/** What is allowed and may be regretted. The API server cuts each after 120 characters. */
function warningsFor({ spec, status }: QdrantCollection, cluster: QdrantCluster | undefined): readonly string[] {
  const { replicationFactor = status?.origin === 'Adopted' ? undefined : USUAL.replicationFactor } = spec;
  if (!cluster) return [`spec.cluster is ${spec.cluster}: there is no such QdrantCluster yet`];
  const { replicas } = cluster.spec;
  if (replicationFactor === undefined) return [];
  return [
    replicationFactor === 1 &&
      replicas > 1 &&
      `spec.replicationFactor is 1: of ${replicas} peers, each holds the only copy of its shards`,
    replicationFactor > replicas &&
      `spec.replicationFactor is ${replicationFactor}, but ${spec.cluster} has ${replicas} peers: one copy for each`,
  ].filter((warning) => warning !== false);
}
