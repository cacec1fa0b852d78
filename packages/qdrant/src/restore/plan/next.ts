/**
 * What comes next in a restore. Each answer is one small thing, and what can't be seen from outside is written down before it
 * is done: that it began, which file is uploaded, up to which point the points are merged. So a process that dies anywhere is
 * followed by one that goes on where it was, and what is complete is never done again.
 */
import { timestamp } from '@polder/kube';
import type { Json, Page } from '../../api/index.ts';
import type { Manifest } from '../../archive/index.ts';
import { podName } from '../../cluster/objects/index.ts';
import type { RestorePart } from '../../kinds/index.ts';
import { hasStayed } from '../backup-set.ts';
import { misfit, nameObjection } from '../shape.ts';
import { shardKeysIn } from '../shard-keys.ts';
import {
  isThere,
  keyOf,
  modeOf,
  pointsOf,
  type RestoreStatus,
  type Situation,
  shardsOf,
  temporaryName,
  unrest,
} from './situation.ts';
import type { RestoreStep, Through } from './step.ts';

export type Next =
  | { readonly is: 'waits'; readonly because: string; readonly reason?: string }
  /** To be written down, and nothing else, if `before` may be done: it comes next. */
  | { readonly is: 'records'; readonly status: RestoreStatus; readonly before?: RestoreStep | undefined }
  /** `after`: what is written down once it is done. */
  | { readonly is: 'does'; readonly step: RestoreStep; readonly after: RestoreStatus }
  | { readonly is: 'fails'; readonly because: string }
  | { readonly is: 'completes'; readonly points: number; readonly remark: string };

export function nextOf(situation: Situation, now: Date): Next {
  const { restore, record, sight } = situation;
  // Of a generation that was given up.
  if (!record && restore.status?.temporary) return dropping(situation, { phase: 'Pending' });
  if (!record) return beginning(situation, now);
  return (
    changing(situation) ??
    verifying(situation, record) ??
    (sight.doubt === undefined ? undefined : waits(sight.doubt)) ??
    preparing(situation, record) ??
    uploading(situation, record, now) ??
    merging(situation, record) ??
    naming(situation, record) ??
    completing(situation, record)
  );
}

/** Whether it can be done at all. Nothing is changed, and nothing is written down, before that is clear. */
function beginning(situation: Situation, now: Date): Next {
  const { restore, observed, sight, parts, target } = situation;
  const { spec, metadata } = restore;
  const { bucket, cluster, set } = observed;
  const objection = nameObjection(spec.collection);
  if (objection !== undefined) return fails(objection);
  if (!cluster) return waits(`there is no QdrantCluster ${spec.cluster} in namespace ${metadata.namespace}; create it`);
  if (bucket.is === 'missing') return { is: 'waits', because: bucket.because, reason: 'NoBucket' };
  if (!set.known) return waits(set.because);
  if (set.value.is === 'unusable') return fails(set.value.because);
  const misfitting = sight.doubt === undefined ? fitting(situation, spec.collection) : undefined;
  if (misfitting) return misfitting;
  const isMerge = modeOf(restore) === 'merge';
  const blocked = isMerge && sight.doubt === undefined ? unmergeable(situation) : undefined;
  if (blocked) return blocked;
  const unmakeable = sight.doubt === undefined && !isThere(situation, target) ? withoutKeys(situation) : undefined;
  if (unmakeable) return unmakeable;
  const [first] = parts;
  if (!first) return fails('the backup has no files');
  const before = uploadOf(situation, first);
  if (!before) return waits(`nobody has shard ${first.shard} of ${target}`);
  const temporary = { cluster: spec.cluster, collection: target };
  return {
    is: 'records',
    before,
    status: {
      phase: 'InProgress',
      generation: metadata.generation ?? 0,
      startedAt: timestamp(now),
      parts: [...parts],
      ...(isMerge && { temporary }),
    },
  };
}

/** Why a collection can't become what the backup has; undefined if it can, or is not there. */
function fitting(situation: Situation, collection: string): Next | undefined {
  const { set, aliases, shapes } = situation.observed;
  if (!aliases.known) return waits(aliases.because);
  const named = aliases.value.get(collection);
  if (named !== undefined) return fails(`${collection} is an alias of ${named}; restore that collection`);
  if (!isThere(situation, collection)) return undefined;
  const shape = shapes.get(collection);
  if (!shape?.known) return waits(shape?.because ?? `nobody tells what ${collection} is like`);
  if (!set.known || set.value.is !== 'ours') return undefined;
  const { manifest } = set.value;
  const isTarget = collection === situation.target;
  const objection = misfit(manifest, shape.value, isTarget ? 'replace' : 'merge');
  if (objection !== undefined)
    return fails(
      `collection ${collection} does not fit backup ${manifest.id}: ${objection}; delete it first, or restore into another`,
    );
  if (!isTarget) return undefined;
  const [has, needs] = [shardsOf(situation, collection).map(({ id }) => id), manifest.shards.map(({ id }) => id)];
  if (has.length !== needs.length || !needs.every((id) => has.includes(id)))
    return fails(
      `collection ${collection} has the shards ${has.join(', ')}, and backup ${manifest.id} has ${needs.join(', ')}; delete it first`,
    );
  const other = manifest.shards.find(({ id, key }) => keyOf(situation, collection, id) !== key);
  if (!other) return undefined;
  const [is, was] = [keyOf(situation, collection, other.id), other.key].map((key) => JSON.stringify(key) ?? 'no key');
  return fails(`shard ${other.id} of collection ${collection} has ${is}, and that of backup ${manifest.id} has ${was}`);
}

function unmergeable(situation: Situation): Next | undefined {
  const { restore, observed, target } = situation;
  const { collection } = restore.spec;
  if (isThere(situation, target)) return fails(`there is a collection ${target} already; delete it`);
  const shape = observed.shapes.get(collection);
  if (!observed.set.known) return undefined;
  const isKeyed = observed.set.value.is === 'ours' && isCustomSharded(observed.set.value.manifest);
  if (isKeyed || (shape?.known && shape.value.isCustomSharded))
    return fails(`collection ${collection} has shard keys, which are in no point: it can be replaced, but not merged`);
  if (observed.set.value.is === 'upstream' && !isThere(situation, collection))
    return fails(`there is no collection ${collection} to merge into; use mode replace`);
  return undefined;
}

/** The files are those that it began with, or nothing of it can be relied on. */
function changing({ observed: { bucket, set }, parts, record }: Situation): Next | undefined {
  const isSent = parts.every(({ state }) => state === 'Restored');
  if (isSent && record?.temporary) return undefined;
  if (bucket.is === 'missing') return { is: 'waits', because: bucket.because, reason: 'NoBucket' };
  if (!set.known) return waits(set.because);
  if (set.value.is === 'unusable') return isSent ? undefined : fails(set.value.because);
  return isSent || hasStayed(set.value.parts, parts)
    ? undefined
    : fails('the backup has changed while it was restored');
}

/** All files are read once before the first is used: one that is broken must not be found when others are in place. */
function verifying(situation: Situation, record: RestoreStatus): Next | undefined {
  const { observed, parts } = situation;
  const part = parts.find(({ state }) => state === 'Found');
  if (!part) return undefined;
  const { hashed } = observed;
  if (!hashed.known) return waits(hashed.because);
  const { file, bytes, sha256 } = hashed.value;
  if (file !== part.file) return waits(`${part.file} was not read`);
  if (bytes !== part.bytes) return fails(`${file} has ${bytes} bytes, and ${part.bytes} when the restore began`);
  if (part.sha256 !== undefined && part.sha256 !== sha256)
    return fails(`${file} has the SHA-256 ${sha256}, and ${part.sha256} in the manifest: the file is damaged`);
  return { is: 'records', status: withPart(record, parts, { ...part, sha256, state: 'Verified' }) };
}

/** A collection for the files. One that upstream's file is uploaded for is made by the server, from what is in it. */
function preparing(situation: Situation, record: RestoreStatus): Next | undefined {
  const { observed, parts, target } = situation;
  const isBegun = parts.some(({ state }) => state === 'Settling' || state === 'Restored');
  const isDone = parts.every(({ state }) => state === 'Restored');
  if (isDone || !observed.set.known) return undefined;
  if (isThere(situation, target)) {
    return (isBegun ? undefined : keying(situation, record, target)) ?? fitting(situation, target);
  }
  if (isBegun) return fails(`collection ${target} was deleted while it was restored`);
  return observed.set.value.is === 'ours' ? creating(situation, record, target) : undefined;
}

function creating(situation: Situation, record: RestoreStatus, collection: string): Next {
  const { observed } = situation;
  const via = anybody(situation);
  if (!via || !observed.set.known || observed.set.value.is !== 'ours') return waits('nobody leads the cluster');
  const { config, shardNumber, replicationFactor } = observed.set.value.manifest;
  const copies = collection === record.temporary?.collection ? 1 : replicationFactor;
  const body = { ...config, shard_number: shardNumber, replication_factor: copies };
  const because = `collection ${collection} is not there`;
  return { is: 'does', step: { do: 'create-collection', because, via, collection, config: body }, after: record };
}

/** Why a collection can't be made anew with the keys that it had; undefined if it can, or has none. */
function withoutKeys({ observed: { set } }: Situation): Next | undefined {
  if (!set.known || set.value.is !== 'ours' || !isCustomSharded(set.value.manifest)) return undefined;
  const keys = shardKeysIn(set.value.manifest);
  return keys.is === 'impossible' ? fails(keys.because) : undefined;
}

/**
 * The next key that a collection lacks which was made for this restore, one after the other: in which order they come decides
 * how their shards are numbered. (Before it began, one that was there had all of them.)
 */
function keying(situation: Situation, record: RestoreStatus, collection: string): Next | undefined {
  const { set } = situation.observed;
  if (!set.known || set.value.is !== 'ours' || !isCustomSharded(set.value.manifest)) return undefined;
  const { manifest } = set.value;
  const keys = shardKeysIn(manifest);
  if (keys.is === 'impossible') return undefined;
  const there = shardsOf(situation, collection).map(({ id }) => keyOf(situation, collection, id));
  const next = keys.keys.find(({ key }) => !there.includes(key));
  if (!next) return undefined;
  const via = anybody(situation);
  if (!via) return waits('nobody leads the cluster');
  const because = `there is no shard key ${JSON.stringify(next.key)}`;
  const copies = manifest.replicationFactor;
  return { is: 'does', step: { do: 'create-shard-key', because, via, collection, ...next, copies }, after: record };
}

const isCustomSharded = ({ config }: Manifest): boolean => config['sharding_method'] === 'custom';

/** One file after the other: recorded, then uploaded, then waited for until all copies of the shard have it. */
function uploading(situation: Situation, record: RestoreStatus, now: Date): Next | undefined {
  const { parts } = situation;
  const part = parts.find(({ state }) => state === 'Settling' || state === 'Uploading') ?? parts.find(isLeft);
  if (!part) return undefined;
  if (part.state === 'Settling') return settling(situation, record, part, now);
  const step = uploadOf(situation, part);
  if (!step) return waits(`nobody has shard ${part.shard} of ${situation.target}`);
  const at = (state: RestorePart['state'], more: object = {}) => withPart(record, parts, { ...part, state, ...more });
  if (part.state !== 'Uploading') return { is: 'records', before: step, status: at('Uploading') };
  return { is: 'does', step, after: at('Settling', { sentAt: now.toISOString() }) };
}

const isLeft = ({ state }: RestorePart) => state !== 'Restored';

/** For so long after the answer, everybody may still see the state of before it. */
const MARKS_MS = 2_000;

function settling(situation: Situation, record: RestoreStatus, part: RestorePart, now: Date): Next {
  const { target, parts } = situation;
  if (now.getTime() - Date.parse(part.sentAt ?? '') < MARKS_MS) return waits(`${part.file} has just been uploaded`);
  const restless = unrest(situation, target);
  if (restless !== undefined) return waits(restless);
  const shards = shardsOf(situation, target).filter(({ id }) => part.shard === undefined || id === part.shard);
  if (shards.length === 0) return fails(`collection ${target} was deleted while it was restored`);
  for (const { id, copies } of shards) {
    const counts = pointsOf(situation, target, id);
    if (counts.length < copies.length) return waits(`not every peer tells how many points shard ${id} has`);
    if (new Set(counts).size > 1) return waits(`the copies of shard ${id} have ${counts.join(', ')} points`);
  }
  const [points] = part.shard === undefined ? [] : pointsOf(situation, target, part.shard);
  const restored = { ...part, state: 'Restored' as const, ...(points !== undefined && { points }) };
  return { is: 'records', status: withPart(record, parts, restored) };
}

/** Points from the temporary collection into the one that is there, page by page; then the temporary one goes. */
function merging(situation: Situation, record: RestoreStatus): Next | undefined {
  const { restore, observed } = situation;
  const { collection } = restore.spec;
  const { temporary, merged } = record;
  if (!temporary) return undefined;
  if (merged && merged.next === undefined) return dropping(situation, record);
  const via = anybody(situation);
  if (!via) return waits('nobody leads the cluster');
  if (!isThere(situation, collection)) {
    if (!observed.set.known) return waits(observed.set.because);
    const isOurs = observed.set.value.is === 'ours';
    return isOurs
      ? creating(situation, record, collection)
      : fails(`there is no collection ${collection} to merge into`);
  }
  const misfitting = fitting(situation, collection);
  if (misfitting) return misfitting;
  if (!observed.page.known) return waits(observed.page.because);
  const { points, next }: Page = observed.page.value;
  const written = (merged?.points ?? 0) + points.length;
  const after = { ...record, merged: { points: written, ...(next !== undefined && { next }) } };
  if (points.length === 0) return { is: 'records', status: after };
  return { is: 'does', step: writing(via, collection, points, written), after };
}

const writing = (via: Through, collection: string, points: readonly Json[], written: number): RestoreStep => ({
  do: 'write-points',
  because: `${written} points of the backup are in ${collection} then`,
  via,
  collection,
  points,
});

/** Removes the temporary collection, if it is there and there is anybody to tell. */
export function dropping(situation: Situation, status: RestoreStatus): Next {
  const { restore, observed, sight } = situation;
  const { temporary: _gone, ...after } = status;
  const collection = restore.status?.temporary?.collection ?? temporaryName(restore);
  if (!observed.cluster || observed.cluster.metadata.deletionTimestamp !== undefined)
    return { is: 'records', status: after };
  const via = anybody(situation);
  if (!via) return waits(sight.doubt ?? 'nobody leads the cluster');
  if (!isThere(situation, collection)) return { is: 'records', status: after };
  return { is: 'does', step: { do: 'delete-temporary', because: 'it is not needed any more', via, collection }, after };
}

/** Snapshots do not have aliases. One that stands for another collection by now is left to it. */
function naming(situation: Situation, record: RestoreStatus): Next | undefined {
  const { restore, observed } = situation;
  const { collection } = restore.spec;
  const { set, aliases } = observed;
  if (!set.known || set.value.is !== 'ours' || set.value.manifest.aliases.length === 0) return undefined;
  if (!aliases.known) return waits(aliases.because);
  const missing = set.value.manifest.aliases.filter(
    (alias) => !aliases.value.has(alias) && !isThere(situation, alias) && nameObjection(alias) === undefined,
  );
  const via = anybody(situation);
  if (missing.length === 0) return undefined;
  if (!via) return waits('nobody leads the cluster');
  const because = `the backup had ${missing.join(', ')}`;
  return { is: 'does', step: { do: 'create-aliases', because, via, collection, aliases: missing }, after: record };
}

function completing(situation: Situation, record: RestoreStatus): Next {
  const { restore, observed, parts } = situation;
  const { collection } = restore.spec;
  const ofShards = parts.map(({ points }) => points);
  const counted = shardsOf(situation, collection).map(({ id }) => pointsOf(situation, collection, id)[0] ?? 0);
  const points = record.merged?.points ?? sum(ofShards.every((one) => one !== undefined) ? ofShards : counted);
  const kept =
    observed.set.known && observed.set.value.is === 'ours' && observed.aliases.known
      ? observed.set.value.manifest.aliases.filter((alias) => aliasOf(situation, alias) !== collection)
      : [];
  const remark = kept.length === 0 ? '' : `; left to others: ${kept.join(', ')}`;
  return { is: 'completes', points, remark };
}

const aliasOf = ({ observed: { aliases } }: Situation, alias: string) =>
  aliases.known ? aliases.value.get(alias) : undefined;

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

/** Of the peers that have the shard, the first: always the same one, for as long as it has it. */
function uploadOf(situation: Situation, part: RestorePart): RestoreStep | undefined {
  const { restore, observed, sight, target } = situation;
  const { cluster, bucket } = observed;
  if (!cluster || bucket.is === 'missing') return undefined;
  const shard = shardsOf(situation, target).find(({ id }) => id === part.shard);
  const holders = sight.members.filter(({ id }) => shard?.copies.some(({ peer }) => peer === id));
  const live = holders.find(({ id }) => shard?.copies.some(({ peer, isLive }) => peer === id && isLive));
  const chosen = live ?? holders[0];
  const pod = part.ordinal === undefined ? chosen?.pod : podName(cluster, part.ordinal);
  if (pod === undefined && isThere(situation, target)) return undefined;
  const others = shard?.copies.filter(({ peer }) => peer !== chosen?.id).map(({ peer }) => peer) ?? [];
  return {
    do: 'upload-part',
    because: part.shard === undefined ? `it is what ${pod} had` : `it is shard ${part.shard} of ${target}`,
    via: { cluster, pod: pod ?? podName(cluster, 0) },
    collection: target,
    part,
    key: `${restore.spec.backupId}/${part.file}`,
    bucket: bucket.source,
    others,
  };
}

/** What all peers agree on is asked of the one that leads them. */
const anybody = ({ observed: { cluster }, sight: { leader } }: Situation): Through | undefined =>
  cluster && leader && { cluster, pod: leader.pod };

const withPart = (status: RestoreStatus, parts: readonly RestorePart[], part: RestorePart): RestoreStatus => ({
  ...status,
  parts: parts.map((one) => (one.file === part.file ? part : one)),
});

const waits = (because: string): Next => ({ is: 'waits', because });
const fails = (because: string): Next => ({ is: 'fails', because });
