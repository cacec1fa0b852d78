import { createHash } from 'node:crypto';
import type { Rule } from '@polder/kube';
import type { JsonObject } from '../../api/index.ts';
import { objectionToName } from './admission.ts';
import { thiefOf } from './aliases.ts';
import { recorded } from './ledger.ts';
import { agreementIn, type Situation } from './situation.ts';
import { type CollectionStep, isTold } from './step.ts';

type CollectionRule = Rule<CollectionStep, Situation>;

/** Every way in which a step could lose points, take what is somebody else's, or stop a cluster has its rule here. */
export const rules: readonly CollectionRule[] = [
  {
    // `.` passes every check of the server and stops the consensus of all peers.
    name: 'a-name-that-stops-a-cluster-is-never-sent',
    forbids(step) {
      if (!isTold(step)) return undefined;
      const aliases = step.do === 'change-aliases' ? step.actions.map(({ alias }) => alias) : [];
      const keys = step.do === 'create-shard-key' ? [step.key].filter((key) => key === '') : [];
      const vectors = step.do === 'create-vector' ? [step.vector] : [];
      const wrong = [step.collection, ...aliases, ...keys, ...vectors].find(
        (name) => objectionToName(name) !== undefined,
      );
      return wrong === undefined ? undefined : `a name ${objectionToName(wrong)}`;
    },
  },
  {
    // It would be accepted and never applied, or applied when nobody wants it any more.
    name: 'a-stopped-consensus-is-told-nothing',
    forbids(step, situation) {
      if (!isTold(step)) return undefined;
      const agreement = agreementIn(situation);
      if (agreement?.reason === 'ConsensusStopped') return agreement.message;
      const consensus = situation.server?.info.consensus;
      return consensus?.is === 'stopped' ? `consensus has stopped on ${step.via.pod}: ${consensus.because}` : undefined;
    },
  },
  {
    // A peer that lost its volume and joined nobody answers for the Service, too: without any collection.
    name: 'a-cluster-in-doubt-is-told-nothing',
    forbids(step, situation) {
      if (!isTold(step)) return undefined;
      const agreement = agreementIn(situation);
      if (!agreement) return 'nobody has looked at the peers of the cluster yet';
      if (agreement.status !== 'True' && agreement.reason !== 'PeerAway') return agreement.message;
      const { observed, server } = situation;
      const members = observed.cluster?.status?.peers ?? [];
      if (!members.some(({ id }) => id === server?.info.id)) {
        return `${step.via.pod} is peer ${server?.info.id}, which is no member that is known`;
      }
      return server?.info.leader === undefined ? `${step.via.pod} knows no leader` : undefined;
    },
  },
  {
    // Shards are placed on members whether or not they live; the only copy on one that does not can't even be dropped.
    name: 'shards-are-placed-on-live-peers',
    forbids(step, situation) {
      if (step.do !== 'create-collection' && step.do !== 'create-shard-key') return undefined;
      const agreement = agreementIn(situation);
      if (agreement?.status === 'False') return agreement.message;
      const { server } = situation;
      const [away] = server?.away ?? [];
      if (away !== undefined) return `${away} does not answer, and would get its share of the shards`;
      const uris = [...(server?.info.members.values() ?? [])];
      const inVain = server?.info.unreached.find((uri) => uris.includes(uri));
      return inVain && `${server?.pod} sends to ${inVain} in vain`;
    },
  },
  {
    // All of its shards would be on those that came first, and have to move when the others are there.
    name: 'a-new-collection-waits-for-the-peers-to-come',
    forbids(step, { growth }) {
      return step.do === 'create-collection' ? growth?.because : undefined;
    },
  },
  {
    // A collection that can't become what the spec says was made by somebody for something else.
    name: 'only-what-is-ours-is-changed',
    forbids(step, { collection, ledger, drift }) {
      if (!isTold(step) || ledger.origin !== undefined) return undefined;
      const [first] = drift.immutable;
      const because = first && `: ${first.field} is ${JSON.stringify(first.there)} there`;
      return `collection ${collection.metadata.name} was made by somebody else${because ?? ''}`;
    },
  },
  {
    // Else a crash in between would leave behind what nobody knows to be ours.
    name: 'what-is-made-is-written-down-first',
    forbids(step, { collection, observed, ledger }) {
      if (!isTold(step)) return undefined;
      const before = recorded(collection, observed);
      if (before.origin === undefined) return 'the status does not say yet that the collection is ours';
      if (step.do === 'create-index' && !before.payloadIndexes.some(({ field }) => field === step.field)) {
        return `the status does not say yet that the index of ${step.field} is ours`;
      }
      // All of them wait: they go into one request.
      const missing = ledger.aliases.find((alias) => !before.aliases.includes(alias));
      return step.do === 'change-aliases' && missing !== undefined
        ? `the status does not say yet that alias ${missing} is ours`
        : undefined;
    },
  },
  {
    name: 'a-restore-is-not-disturbed',
    forbids(step, { observed }) {
      if (!isTold(step) || step.do === 'delete-collection') return undefined;
      const restore = observed.restores.find(({ status }) => status?.phase === 'InProgress');
      return restore && `QdrantCollectionRestore ${restore.metadata.name} is under way`;
    },
  },
  {
    // A name is a collection or an alias. Who reads by it must not find another's points all of a sudden.
    name: 'a-name-means-one-thing',
    forbids(step, { collection, server }) {
      if (step.do !== 'create-collection') return undefined;
      const behind = server?.aliases.get(collection.metadata.name);
      return behind && `${collection.metadata.name} is an alias of ${behind}; remove the alias, or choose another name`;
    },
  },
  {
    name: 'an-alias-is-not-stolen',
    forbids(step, { collection, observed }) {
      if (step.do !== 'change-aliases') return undefined;
      const thefts = step.actions.filter(({ is }) => is === 'create');
      return thefts.map(({ alias }) => thiefOf(alias, collection, observed)).find((one) => one !== undefined);
    },
  },
  {
    // Whoever gets it moves it in one go; were it deleted first, it would be nowhere for a while.
    name: 'an-alias-moves-without-a-gap',
    forbids(step, { observed }) {
      if (step.do !== 'change-aliases') return undefined;
      for (const { is, alias } of step.actions) {
        const heir = observed.siblings.find(
          ({ metadata, spec }) => spec.aliases?.includes(alias) && metadata.deletionTimestamp === undefined,
        );
        if (is === 'delete' && heir) return `QdrantCollection ${heir.metadata.name} takes alias ${alias} over`;
      }
      return undefined;
    },
  },
  {
    // Filters that rely on it are slow, or refused, until it is made anew.
    name: 'an-index-of-others-is-not-replaced',
    forbids(step, { collection, observed, seen }) {
      if (step.do !== 'delete-index') return undefined;
      const isOurs = recorded(collection, observed).payloadIndexes.some(({ field }) => field === step.field);
      return isOurs
        ? undefined
        : `the index of ${step.field} is of type ${seen?.indexes.get(step.field)}, and not ours; delete it, or declare it so`;
    },
  },
  {
    // The server takes what it does not know without a word: to say it again at once would go on for ever.
    name: 'what-was-not-taken-is-not-repeated-at-once',
    forbids(step, { collection, now, periodicMs }) {
      const { lastPatch } = collection.status ?? {};
      if (step.do !== 'update-collection' || lastPatch?.hash !== patchHash(step.patch)) return undefined;
      const isRecent = now.getTime() - Date.parse(lastPatch.time) < periodicMs;
      return isRecent ? `${step.because}, and was changed a moment ago` : undefined;
    },
  },
  {
    name: 'what-is-retained-is-not-deleted',
    forbids(step, { collection }) {
      if (step.do !== 'delete-collection') return undefined;
      if (collection.metadata.deletionTimestamp === undefined) return 'the QdrantCollection is not being deleted';
      return collection.spec.deletionPolicy === 'Retain' ? 'spec.deletionPolicy is Retain' : undefined;
    },
  },
];

export const patchHash = (patch: JsonObject): string =>
  createHash('sha256').update(JSON.stringify(patch)).digest('hex').slice(0, 16);
