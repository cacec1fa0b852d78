/** What there is to say about the spec of a collection when it is written. */
import { findCondition, type SpecJudgement } from '@polder/kube';
import type { QdrantCluster, QdrantCollection } from '../kinds/index.ts';
import { objectionToSchedule } from '../schedules.ts';
import { problemOf } from './plan/admission.ts';

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

/** As the collection was made with. Upstream's manifests leave most of it out. */
const fixed = ({ spec }: QdrantCollection) => ({
  cluster: spec.cluster,
  vectorSize: spec.vectorSize,
  distance: spec.distance ?? 'Cosine',
  shardNumber: spec.shardNumber ?? 1,
});

/** Only of one that is as its spec says: what is not there yet can change, and a change that went wrong can be taken back. */
function problemsOfChange(old: QdrantCollection, collection: QdrantCollection): readonly string[] {
  if (findCondition(old.status?.conditions, 'Ready')?.status !== 'True') return [];
  const before: Readonly<Record<string, unknown>> = fixed(old);
  return Object.entries(fixed(collection)).flatMap(([field, value]) =>
    before[field] === value
      ? []
      : `spec.${field} can not change from ${String(before[field])} to ${value}; make another collection, copy the points and move the alias`,
  );
}

/** What is allowed and may be regretted. The API server cuts each after 120 characters. */
function warningsFor({ spec }: QdrantCollection, cluster: QdrantCluster | undefined): readonly string[] {
  const { replicationFactor = 1 } = spec;
  if (!cluster) return [`spec.cluster is ${spec.cluster}: there is no such QdrantCluster yet`];
  const { replicas } = cluster.spec;
  return [
    replicationFactor === 1 &&
      replicas > 1 &&
      `spec.replicationFactor is 1: of ${replicas} peers, each holds the only copy of its shards`,
    replicationFactor > replicas &&
      `spec.replicationFactor is ${replicationFactor}, but ${spec.cluster} has ${replicas} peers: one copy for each`,
  ].filter((warning) => warning !== false);
}
