import { QdrantCollection, QdrantCollectionBackup } from '../kinds/index.ts';
import { type Answer, list, notFound } from './answer.ts';
import type { NamespacedCall } from './call.ts';
import { allOf, find } from './lookup.ts';

/** One backup, or what makes them. */
interface Item {
  readonly id: string;
  readonly type: 'scheduled' | 'manual';
  readonly status: 'completed' | 'failed' | 'in-progress' | 'configured';
  readonly createdAt: string | null;
  readonly completedAt: string | null;
  readonly backupId?: string;
  readonly schedule?: string;
}

/** Who makes backups: a QdrantCollectionBackup, or a collection whose own is still to be made. */
type Maker = Pick<QdrantCollectionBackup, 'metadata' | 'status'> & {
  readonly spec: { readonly snapshots: QdrantCollectionBackup['spec']['snapshots'] };
};

export async function listBackups(call: NamespacedCall, name: string): Promise<Answer> {
  const collection = await find(call, QdrantCollection, name);
  const all = await allOf(call, QdrantCollectionBackup);
  const backups = all.filter(
    ({ spec }) => spec.collectionName === name && (!collection || spec.cluster === collection.spec.cluster),
  );
  if (!collection && backups.length === 0) return notFound('collection', name);
  return list(itemsOf(makersOf(collection, backups)));
}

/** A collection with a bucket has a QdrantCollectionBackup of its own name, which knows more than the collection. */
function makersOf(
  collection: QdrantCollection | undefined,
  backups: readonly QdrantCollectionBackup[],
): readonly Maker[] {
  const snapshots = collection?.spec.snapshots;
  const hasItsOwn = backups.some(({ metadata }) => metadata.name === collection?.metadata.name);
  if (!collection || !snapshots || hasItsOwn) return backups;
  const { metadata, status } = collection;
  const { lastBackup } = status ?? {};
  return [...backups, { metadata, spec: { snapshots }, status: lastBackup ? { lastBackup } : {} }];
}

function itemsOf(makers: readonly Maker[]): readonly Item[] {
  const items = makers.flatMap((maker) => [...completed(maker), current(maker)]);
  return items.toSorted((one, other) => timeOf(other) - timeOf(one));
}

function completed(maker: Maker): readonly Item[] {
  const { lastBackup } = maker.status ?? {};
  if (!lastBackup) return [];
  const { id, time } = lastBackup;
  const completedAt = time ?? null;
  return [
    { id, type: typeOf(maker), status: 'completed', createdAt: begunAt(id) ?? completedAt, completedAt, backupId: id },
  ];
}

/** The one that is under way; if there is none, whoever makes the next. */
function current(maker: Maker): Item {
  const { metadata, status, spec } = maker;
  const { current: begun, phase } = status ?? {};
  const { backupSchedule: schedule = '' } = spec.snapshots;
  return {
    id: begun?.id ?? metadata.name,
    type: begun ? TYPES[begun.trigger] : typeOf(maker),
    status: phase === 'Failed' ? 'failed' : begun ? 'in-progress' : 'configured',
    createdAt: begun?.startedAt ?? metadata.creationTimestamp ?? null,
    completedAt: null,
    ...(schedule !== '' && { schedule }),
  };
}

const TYPES = { Now: 'manual', Schedule: 'scheduled' } as const;

const typeOf = ({ spec }: Maker): Item['type'] =>
  (spec.snapshots.backupSchedule ?? '') === '' ? 'manual' : 'scheduled';

/** A backup is named by the minute in which it began. */
function begunAt(id: string): string | undefined {
  const [, date, hour, minute] = /\/(\d{4}-\d\d-\d\d)-(\d\d)-(\d\d)$/.exec(id) ?? [];
  return date && `${date}T${hour}:${minute}:00Z`;
}

const timeOf = ({ createdAt }: Item) => Date.parse(createdAt ?? '') || 0;
