import type { Rule } from '@polder/kube';
import { podName } from '../../cluster/objects/index.ts';
import { WAY_OUT } from '../../cluster/plan/rules.ts';
import { isThere, type Situation, shardsOf, unrest } from './situation.ts';
import type { RestoreStep } from './step.ts';

type RestoreRule = Rule<RestoreStep, Situation>;

/** Every way in which a restore could lose what is there without giving back what was: most of them the server allows. */
export const rules: readonly RestoreRule[] = [
  {
    name: 'a-cluster-is-to-stay',
    forbids(_step, { restore, observed: { cluster } }) {
      const name = `QdrantCluster ${restore.spec.cluster}`;
      if (cluster?.metadata.deletionTimestamp !== undefined) return `${name} is being deleted`;
      return cluster?.spec.suspend ? `${name} is suspended` : undefined;
    },
  },
  {
    name: 'a-stopped-consensus-holds-everything',
    forbids(_step, { sight }) {
      const [first] = sight.stopped;
      return (
        first && `consensus has stopped on ${first.pod} (${first.because}). Restart nothing; to recover, ${WAY_OUT}`
      );
    },
  },
  {
    name: 'there-is-one-cluster',
    forbids(_step, { sight: { strangers } }) {
      const [stranger] = strangers;
      return stranger && `${stranger.pod} is peer ${stranger.id} of another cluster`;
    },
  },
  { name: 'nothing-is-restored-blind', forbids: (_step, { sight }) => sight.doubt },
  {
    // A file would be taken by a shard of which a copy, unseen, is newer or older.
    name: 'every-member-answers',
    forbids(_step, { sight: { missing } }) {
      const [away] = missing;
      return away && `member ${away.id} (${away.pod ?? away.uri}) does not answer`;
    },
  },
  {
    // A leader that lost its followers still looks like one; that it sends in vain does show.
    name: 'the-leader-reaches-every-member',
    forbids(_step, { sight: { leader } }) {
      const uris = [...(leader?.view.members.values() ?? [])];
      const inVain = leader?.view.unreached.find((uri) => uris.includes(uri));
      return inVain && `${leader?.pod} sends to ${inVain} in vain`;
    },
  },
  {
    // Before it begins, nothing may be under way; once it has, the cluster's own controller holds back for it.
    name: 'the-cluster-is-at-rest',
    forbids(step, { observed: { cluster }, record }) {
      if (step.do === 'delete-temporary') return undefined;
      const { status, metadata, spec } = cluster ?? {};
      if (status?.operation !== undefined) return `QdrantCluster ${metadata?.name} is busy: ${status.operation}`;
      if (status?.observedGeneration !== metadata?.generation) return `QdrantCluster ${metadata?.name} has changed`;
      if (record) return undefined;
      if (status?.peers?.length !== spec?.replicas)
        return `QdrantCluster ${metadata?.name} has ${status?.peers?.length ?? 0} of ${spec?.replicas} peers`;
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      return ready?.status === 'True'
        ? undefined
        : `QdrantCluster ${metadata?.name} is not ready: ${ready?.message ?? 'nothing is said of it yet'}`;
    },
  },
  {
    name: 'a-backup-is-not-disturbed',
    forbids(step, { observed: { backup } }) {
      return step.do === 'delete-temporary'
        ? undefined
        : backup && `QdrantCollectionBackup ${backup} takes a backup of it`;
    },
  },
  {
    // Of two that began at the same time, one goes on.
    name: 'one-restore-at-a-time',
    forbids(step, { observed: { others } }) {
      const [other] = others;
      return step.do === 'delete-temporary' ? undefined : other && `QdrantCollectionRestore ${other} is under way`;
    },
  },
  {
    // Half of a backup in place of what was there is worse than either.
    name: 'only-a-whole-backup-replaces',
    forbids(step, { parts, record }) {
      // Before it has begun, what is judged is whether it may.
      if (step.do !== 'upload-part' || !record) return undefined;
      const open = parts.find(({ state }) => state === 'Found');
      return open && `${open.file} is not verified yet`;
    },
  },
  {
    name: 'one-file-at-a-time',
    forbids(step, { parts }) {
      if (step.do !== 'upload-part') return undefined;
      const other = parts.find(
        ({ file, state }) => file !== step.part.file && (state === 'Uploading' || state === 'Settling'),
      );
      return other && `${other.file} is not restored yet`;
    },
  },
  {
    // Files that meet copies of which some are being filled leave more, or fewer, of them behind. A shard that no peer has an
    // active copy of does not become one by waiting: it is what an upload that broke off leaves behind.
    name: 'a-file-finds-the-copies-settled',
    forbids(step, situation) {
      if (step.do !== 'upload-part') return undefined;
      const own = shardsOf(situation, step.collection).find(({ id }) => id === step.part.shard);
      const isLeftBehind = own && !own.isTravelling && own.copies.every(({ isLive }) => !isLive);
      return unrest(situation, step.collection, isLeftBehind ? own.id : undefined);
    },
  },
  {
    // On a peer without the shard, a file becomes a copy too many.
    name: 'a-shard-goes-to-a-holder',
    forbids(step, situation) {
      if (step.do !== 'upload-part' || step.part.shard === undefined) return undefined;
      const peer = situation.sight.members.find(({ pod }) => pod === step.via.pod);
      const shard = shardsOf(situation, step.collection).find(({ id }) => id === step.part.shard);
      // Not there yet: it is created before.
      if (!isThere(situation, step.collection)) return undefined;
      return peer && shard?.copies.some((copy) => copy.peer === peer.id)
        ? undefined
        : `${step.via.pod} does not have shard ${step.part.shard}`;
    },
  },
  {
    name: 'every-file-has-its-peer',
    forbids(step, { observed: { cluster }, sight: { members }, parts }) {
      if (step.do !== 'upload-part' || !cluster) return undefined;
      const orphan = parts.find(
        ({ ordinal }) => ordinal !== undefined && !members.some(({ pod }) => pod === podName(cluster, ordinal)),
      );
      return (
        orphan &&
        `the backup has a file for each of ${parts.length} peers, and there is no ${podName(cluster, orphan.ordinal ?? 0)}; scale QdrantCluster ${cluster.metadata.name} to ${parts.length} replicas first`
      );
    },
  },
  {
    name: 'the-version-can-read-it',
    forbids(step, { observed: { set }, sight: { members } }) {
      if (step.do !== 'upload-part' || !set.known || set.value.is !== 'ours') return undefined;
      const { qdrantVersion } = set.value.manifest;
      const older = members.find(({ view }) => minorOf(view.version) < minorOf(qdrantVersion));
      return (
        older && `the backup is of version ${qdrantVersion}, and ${older.pod} runs ${older.view.version}; upgrade first`
      );
    },
  },
];

/** To be compared: what is no version comes before all. */
function minorOf(version: string): number {
  const [, major = '0', minor = '0'] = /^v?(\d+)\.(\d+)\./.exec(version) ?? [];
  return Number(major) * 1_000 + Number(minor);
}
