import {
  findCondition,
  type Happening,
  type Held,
  type NewCondition,
  type StatusOf,
  type Summary,
  sentenceOf,
} from '@polder/kube';
import type { QdrantCluster } from '../../kinds/index.ts';
import { isOutdated } from './rules.ts';
import type { Situation } from './situation.ts';
import type { ClusterStep } from './step.ts';

type Peers = NonNullable<StatusOf<QdrantCluster>['peers']>;

/** What a step is called once it is done. Those that are left out show in nothing that users look after. */
const DONE: Readonly<Partial<Record<ClusterStep['do'], string>>> = {
  'create-key': 'KeyGenerated',
  'renew-certificate': 'CertificateRenewed',
  'change-image': 'ImageChanged',
  'restart-pod': 'PodRestarted',
  'move-replica': 'ShardMoving',
  'replicate-shard': 'ShardCopying',
  'drop-replica': 'CopyDropped',
  'remove-volume': 'VolumeRemoved',
  'expand-volume': 'VolumeExpanded',
  'recreate-set': 'StatefulSetRecreated',
};

/** What is told of a step that was carried out. */
export function happeningOf(step: ClusterStep): Happening | undefined {
  const normal = (reason: string, note: string): Happening => ({ type: 'Normal', reason, action: step.do, note });
  if (step.do === 'scale') {
    const from = step.set.spec?.replicas ?? 0;
    return normal(step.to > from ? 'ScalingUp' : 'ScalingDown', `from ${from} to ${step.to} pods: ${step.because}`);
  }
  const reason = DONE[step.do];
  return reason === undefined ? undefined : normal(reason, `${subjectOf(step)}${step.because}`);
}

function subjectOf(step: ClusterStep): string {
  if ('shard' in step) return `shard ${step.shard} of ${step.collection}: `;
  return 'claim' in step ? `${step.claim.metadata.name}: ` : '';
}

/** What is told of a cluster that is otherwise than it was, `peers` being its members by now. Once: the status remembers. */
export function eventsOf(
  situation: Situation,
  summary: Summary,
  held: readonly Held<ClusterStep>[],
  peers: Peers,
): readonly Happening[] {
  return [
    ...undertakingEvents(situation),
    ...memberEvents(situation.cluster.status?.peers ?? [], peers),
    ...healthEvents(situation.cluster, summary, held),
  ];
}

function memberEvents(before: Peers, after: Peers): readonly Happening[] {
  const newIn = (some: Peers, others: Peers) => some.filter(({ id }) => !others.some((other) => other.id === id));
  const joined = newIn(after, before).map(({ pod, id }) => `${pod} is a member, as peer ${id}`);
  const removed = newIn(before, after).map(({ pod, id }) => `${pod} is no member any more; it was peer ${id}`);
  const isFirst = before.length === 0;
  return [
    ...joined.map((note): Happening => {
      return { type: 'Normal', reason: isFirst ? 'ClusterFormed' : 'PeerJoined', action: 'Join', note };
    }),
    ...removed.map((note): Happening => ({ type: 'Normal', reason: 'PeerRemoved', action: 'Leave', note })),
  ];
}

/** What every long operation waits for, in turns: while it goes on, that it waits is no news. */
const TURNS = [
  'few-shards-travel-at-once',
  'shards-move-when-all-peers-are-there',
  'a-shard-travels-alone',
  'one-pod-at-a-time',
  'a-restart-finds-all-copies',
  'a-cluster-forms-before-it-grows',
  'a-peer-leaves-empty',
  'a-pod-leaves-after-its-peer',
  'every-member-answers',
  'the-leader-reaches-every-member',
  'nothing-is-decided-blind',
];

function healthEvents(
  { status }: QdrantCluster,
  summary: Summary,
  held: readonly Held<ClusterStep>[],
): readonly Happening[] {
  const before = findCondition(status?.conditions, 'Ready');
  if (summary.is === 'ready') {
    const note = 'the cluster is as it should be';
    return before?.status === 'True' ? [] : [{ type: 'Normal', reason: 'Ready', action: 'Reconcile', note }];
  }
  if (summary.is === 'stalled') {
    const { reason, because: note } = summary;
    return before?.reason === reason ? [] : [{ type: 'Warning', reason, action: 'Reconcile', note }];
  }
  const [first] = held;
  if (summary.is !== 'reconciling' || summary.reason !== 'Held' || !first || TURNS.includes(first.rule)) return [];
  const note = sentenceOf(first);
  const isTold = before?.reason === 'Held' && before.message === note;
  // By the rule they are told apart: two of the same reason and action count as one that came again.
  return isTold ? [] : [{ type: 'Normal', reason: 'Held', action: first.rule, note }];
}

/** Something that takes many passes: its condition remembers that it was told of. */
interface Undertaking {
  readonly condition: string;
  /** Undefined while nobody knows. */
  isUnderWay(situation: Situation): boolean | undefined;
  readonly begun: { readonly reason: string; readonly note: string };
  readonly finished: { readonly reason: string; readonly note: string };
}

const UNDERTAKINGS: readonly Undertaking[] = [
  {
    condition: 'RollingOut',
    isUnderWay({ observed }) {
      const { set } = observed.children;
      if (!set || (set.status?.observedGeneration ?? 0) < (set.metadata.generation ?? 0)) return undefined;
      return observed.pods.some((one) => isOutdated(set.status?.updateRevision, one));
    },
    begun: { reason: 'RolloutBegun', note: 'pods are made anew, one after the other, the leader last' },
    finished: { reason: 'RolloutFinished', note: 'every pod is as it would be made now' },
  },
  {
    condition: 'Draining',
    isUnderWay({ cluster: { spec }, size }) {
      if (spec.suspend || spec.scaleDown?.policy === 'Forbid') return false;
      return size === undefined ? undefined : size > spec.replicas;
    },
    begun: { reason: 'DrainBegun', note: 'peers leave one after the other; what they hold goes to the others first' },
    finished: { reason: 'DrainFinished', note: 'there are as many peers as there should be' },
  },
];

/** Of each that was ever begun. */
export function undertakings(situation: Situation): readonly NewCondition[] {
  return UNDERTAKINGS.flatMap((one): NewCondition[] => {
    const isIt = one.isUnderWay(situation);
    if (isIt === undefined || (!isIt && !wasUnderWay(one, situation))) return [];
    const { reason, note: message } = isIt ? one.begun : one.finished;
    const { generation: observedGeneration } = situation.cluster.metadata;
    const condition = { type: one.condition, status: isIt ? 'True' : 'False', reason, message } as const;
    return [{ ...condition, ...(observedGeneration !== undefined && { observedGeneration }) }];
  });
}

const undertakingEvents = (situation: Situation): readonly Happening[] =>
  UNDERTAKINGS.flatMap((one): Happening[] => {
    const isIt = one.isUnderWay(situation);
    if (isIt === undefined || isIt === wasUnderWay(one, situation)) return [];
    return [{ type: 'Normal', action: one.condition, ...(isIt ? one.begun : one.finished) }];
  });

const wasUnderWay = ({ condition }: Undertaking, { cluster }: Situation): boolean =>
  findCondition(cluster.status?.conditions, condition)?.status === 'True';
