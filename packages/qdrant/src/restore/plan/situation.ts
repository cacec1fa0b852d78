import type { Reported, StatusOf } from '@polder/kube';
import { type Shard, type Sight, sightOf } from '../../cluster/plan/sight.ts';
import type { QdrantCollectionRestore, RestorePart } from '../../kinds/index.ts';
import type { Observed } from '../observe.ts';

export type RestoreStatus = Reported<StatusOf<QdrantCollectionRestore>>;

/** What rules judge by: what was asked for, what was seen, and what is written down. */
export interface Situation {
  readonly restore: QdrantCollectionRestore;
  readonly observed: Observed;
  readonly sight: Sight;
  /** What is written down of this generation of the spec; undefined if nothing is decided yet. */
  readonly record: RestoreStatus | undefined;
  /** The files, as far as they are: as written down, or else as found. */
  readonly parts: readonly RestorePart[];
  /** The collection that files go into. */
  readonly target: string;
}

const NOBODY: Sight = {
  members: [],
  missing: [],
  removed: [],
  strangers: [],
  leader: undefined,
  doubt: 'there is no cluster',
  stopped: [],
  shards: [],
};

export function situationOf(restore: QdrantCollectionRestore, observed: Observed): Situation {
  const { cluster, set } = observed;
  const record = recordOf(restore);
  const found = set.known && set.value.is !== 'unusable' ? set.value.parts : [];
  return {
    restore,
    observed,
    sight: cluster ? sightOf(cluster, observed) : NOBODY,
    record,
    parts: record?.parts ?? found,
    target: targetOf(restore),
  };
}

/** Each generation is restored once: what is written down of another one says nothing about this one. */
export const recordOf = ({ metadata, status }: QdrantCollectionRestore): RestoreStatus | undefined =>
  status?.generation !== undefined && status.generation === metadata.generation ? status : undefined;

/** For ever, unless the spec changes. */
export function isOver(restore: QdrantCollectionRestore): boolean {
  const phase = recordOf(restore)?.phase;
  return phase === 'Completed' || phase === 'Failed';
}

export const modeOf = ({ spec }: QdrantCollectionRestore): 'replace' | 'merge' => spec.mode ?? 'replace';

/** No other restore has it: its uid is in it. */
export const temporaryName = ({ metadata, spec }: QdrantCollectionRestore): string =>
  `${spec.collection.slice(0, 200)}-restore-${(metadata.uid ?? '').slice(0, 8)}`;

const targetOf = (restore: QdrantCollectionRestore): string =>
  recordOf(restore)?.temporary?.collection ??
  (modeOf(restore) === 'merge' && !recordOf(restore) ? temporaryName(restore) : restore.spec.collection);

export const shardsOf = ({ sight }: Situation, collection: string): readonly Shard[] =>
  sight.shards.filter((shard) => shard.collection === collection);

/** Whether any peer lists it. */
export const isThere = ({ sight }: Situation, collection: string): boolean =>
  sight.members.some(
    ({ view: { distributions } }) =>
      distributions.known && distributions.value.some((one) => one.collection === collection),
  );

/** What is not settled about a collection, one shard of it aside: a copy that is not live for everybody, or a shard on its way. */
export function unrest(situation: Situation, collection: string, aside?: number): string | undefined {
  for (const { id, copies, isTravelling } of shardsOf(situation, collection)) {
    if (id === aside) continue;
    if (isTravelling) return `shard ${id} of ${collection} is on its way`;
    if (copies.some(({ isLive }) => !isLive)) return `a copy of shard ${id} of ${collection} is not active yet`;
  }
  return undefined;
}

/** How many points each copy of a shard has, by the word of the peer that has it. */
export function pointsOf({ sight }: Situation, collection: string, shard: number): readonly number[] {
  return sight.members.flatMap(({ id, view: { distributions } }) => {
    const found = distributions.known ? distributions.value.find((one) => one.collection === collection) : undefined;
    return (found?.replicas ?? []).flatMap((one) =>
      one.shard === shard && one.peer === id && one.points !== undefined ? [one.points] : [],
    );
  });
}

/** The key of a shard, as the leader has it: points that belong to one key must not become another's. */
export function keyOf({ sight }: Situation, collection: string, shard: number): string | number | undefined {
  const { distributions } = sight.leader?.view ?? {};
  const found = distributions?.known ? distributions.value.find((one) => one.collection === collection) : undefined;
  return found?.replicas.find((one) => one.shard === shard)?.key;
}
