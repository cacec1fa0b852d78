/** What there is to say about the spec of a cluster: to its author when it is written, and in the status if nobody asked then. */
import { keyOf, type SpecJudgement } from '@polder/kube';
import { LONGEST_NAME, type QdrantCluster, type QdrantCollection } from '../kinds/index.ts';
import { objectionToSchedule } from '../schedules.ts';
import { compareSizes, milliBytes } from './plan/quantity.ts';
import { tagOf } from './plan/versions.ts';

/** When it is written. `collections` are those that there are of the cluster. */
export function judgeCluster(
  cluster: QdrantCluster,
  old: QdrantCluster | undefined,
  collections: readonly QdrantCollection[],
): SpecJudgement {
  const standing = old && standingOf(old);
  const problems = [
    ...problemsOf(cluster),
    ...(standing ? problemsOfChange(standing, cluster) : []),
    // Its peers are none the worse for it: later on, this is no reason to stand still.
    ...objectionToSchedule('spec.volumeSnapshots.schedule', cluster.spec.volumeSnapshots?.schedule),
  ];
  const objection = problems.length === 0 ? undefined : problems.join('; ');
  return { objection, warnings: warningsFor(cluster, old, collections) };
}

type Subject = Pick<QdrantCluster, 'metadata' | 'spec'>;

/** Everything for which a cluster can't be as its spec says. */
export function problemsOf({ metadata, spec }: Subject): readonly string[] {
  const { apikey = 'false', readApikey = 'false' } = spec;
  const size = spec.persistence?.size;
  return [
    metadata.name.length > LONGEST_NAME && `metadata.name must have at most ${LONGEST_NAME} characters`,
    !(spec.replicas >= 1) && `spec.replicas is ${spec.replicas}; it must be at least 1`,
    spec.image.trim() === '' && 'spec.image is empty; name an image with its tag',
    readApikey !== 'false' && apikey === 'false' && 'spec.readApikey may be set only if spec.apikey is enabled',
    size !== undefined && milliBytes(size) === undefined && `spec.persistence.size is ${size}, which is no size`,
  ].filter((problem) => problem !== false);
}

/** How the peers were started that there are. */
export interface Standing {
  /** Of their volumes; undefined: they have none. */
  readonly size: string | undefined;
  readonly hasTls: boolean;
  readonly peers: number;
}

/** Everything that can't be changed while there are peers that were started the other way. */
export function problemsOfChange({ size, hasTls, peers }: Standing, { spec }: Subject): readonly string[] {
  const isOnVolumes = size !== undefined;
  const wanted = spec.persistence?.size;
  return [
    isOnVolumes !== (wanted !== undefined) &&
      `spec.persistence can not be ${isOnVolumes ? 'taken away' : 'added'}: every peer would lose its data. Make another cluster and copy the collections`,
    compareSizes(wanted, size) < 0 && `spec.persistence.size is ${wanted}, less than ${size}: a volume can not shrink`,
    hasTls !== (spec.tls?.enabled ?? false) &&
      peers > 1 &&
      'spec.tls.enabled can not change while there are several peers: those with and those without it do not reach each other',
  ].filter((problem) => problem !== false);
}

/** As the spec says; unless it was refused itself: then nobody was started so, and to take it back must be possible. */
function standingOf({ spec, status }: QdrantCluster): Standing | undefined {
  const peers = status?.peers?.length ?? 0;
  if (peers === 0 || status?.qdrantStatus === 'Error') return undefined;
  return { size: spec.persistence?.size, hasTls: spec.tls?.enabled ?? false, peers };
}

/** What is allowed and may be regretted. The API server cuts each after 120 characters. */
function warningsFor(
  { spec }: QdrantCluster,
  old: QdrantCluster | undefined,
  collections: readonly QdrantCollection[],
): readonly string[] {
  const { replicas, image, apikey = 'false', readApikey = 'false' } = spec;
  const isLiteral = (key: string) => key !== 'false' && key !== 'true';
  const isShrinking = old !== undefined && replicas < old.spec.replicas;
  const wide = isShrinking ? collections.find((one) => (one.spec.replicationFactor ?? 1) > replicas) : undefined;
  return [
    replicas === 2 && 'spec.replicas is 2: with one peer away nothing can be decided; three survive the loss of one',
    replicas > 1 && !spec.persistence && 'spec.persistence is not set: the data of a peer goes with its pod',
    tagOf(image) === undefined && 'spec.image has no version in its tag: nobody can tell which upgrades are safe',
    wide &&
      `spec.replicas is ${replicas}, but QdrantCollection ${keyOf(wide.metadata)} wants ${wide.spec.replicationFactor} copies of each shard`,
    isLiteral(apikey) && 'spec.apikey is a key in clear text; with "true" one is generated, in a Secret',
    isLiteral(readApikey) && 'spec.readApikey is a key in clear text; with "true" one is generated, in a Secret',
  ].filter((warning) => typeof warning === 'string');
}
