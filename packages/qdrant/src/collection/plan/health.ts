import { type Held, type NewCondition, type Summary, sentenceOf } from '@polder/kube';
import type { Difference } from './drift.ts';
import type { Replication } from './replication.ts';
import type { Situation } from './situation.ts';
import type { CollectionStep } from './step.ts';

/** How a collection is doing: in upstream's words, and for those that know conditions alone. */
export interface Health {
  readonly qdrantStatus: 'Pending' | 'OperationInProgress' | 'Running' | 'Healthy' | 'Error';
  readonly summary: Summary;
}

type Holding = readonly Held<CollectionStep>[];

export function healthOf(
  situation: Situation,
  steps: readonly CollectionStep[],
  held: Holding,
  replication: Replication,
): Health {
  const { observed, seen, collection } = situation;
  const { cluster } = observed;
  if (!cluster || cluster.metadata.deletionTimestamp !== undefined) {
    const reason = collection.status?.origin === undefined ? 'ClusterMissing' : 'ClusterGone';
    const because = `there is no QdrantCluster ${collection.spec.cluster}, or it is being deleted`;
    return { qdrantStatus: 'Pending', summary: { is: 'reconciling', reason, because } };
  }
  if (!observed.server.known) {
    const { because } = observed.server;
    return { qdrantStatus: 'Pending', summary: { is: 'reconciling', reason: 'ClusterUnreachable', because } };
  }
  const trouble = troubleOf(situation, held, replication);
  if (trouble) return { qdrantStatus: 'Error', summary: { is: 'stalled', ...trouble } };
  const [step] = steps;
  if (step) {
    const summary = {
      is: 'reconciling',
      reason: 'OperationInProgress',
      because: `${step.do}: ${step.because}`,
    } as const;
    return { qdrantStatus: 'OperationInProgress', summary };
  }
  const [first] = held;
  if (first) {
    const summary = { is: 'reconciling', reason: 'Held', because: sentenceOf(first) } as const;
    return { qdrantStatus: seen ? 'Running' : 'Pending', summary };
  }
  if (replication.is === 'under way' || replication.is === 'unknown') {
    const { because } = replication;
    return { qdrantStatus: 'Running', summary: { is: 'reconciling', reason: 'Replicating', because } };
  }
  return { qdrantStatus: 'Healthy', summary: { is: 'ready' } };
}

/** Held until somebody acts, by the rule that holds it. */
const REASONS: Readonly<Record<string, string>> = {
  'a-name-means-one-thing': 'NameTaken',
  'an-alias-is-not-stolen': 'AliasTaken',
  'an-index-of-others-is-not-replaced': 'IndexTaken',
  'what-was-not-taken-is-not-repeated-at-once': 'ChangeIgnored',
};

/** What does not pass by itself. */
function troubleOf({ seen, drift }: Situation, held: Holding, replication: Replication) {
  if (drift.immutable.length > 0) {
    return { reason: 'ImmutableFieldChanged', because: drift.immutable.map(sentence).join('; ') };
  }
  if (replication.is === 'lost') return { reason: 'DataLossRisk', because: replication.because };
  if (seen?.color === 'red') {
    return { reason: 'OptimizerFailed', because: seen.trouble ?? 'the collection is red, and does not say why' };
  }
  const first = held.find(({ rule }) => rule in REASONS);
  const reason = first && REASONS[first.rule];
  return reason === undefined ? undefined : { reason, because: first?.because ?? '' };
}

const sentence = ({ field, there, wanted }: Difference) =>
  `${field} is ${JSON.stringify(there)} and can not become ${JSON.stringify(wanted)}: change it back, or make another collection`;

export function aliasesCondition(held: Holding): NewCondition {
  const type = 'AliasesInPlace';
  const stolen = held.filter(({ rule }) => rule === 'an-alias-is-not-stolen').map(({ because }) => because);
  if (stolen.length > 0) return { type, status: 'False', reason: 'AliasTaken', message: stolen.join('; ') };
  const isWaiting = held.some(({ step }) => step.do === 'change-aliases');
  return isWaiting
    ? { type, status: 'False', reason: 'Held', message: 'they are not changed yet' }
    : { type, status: 'True', reason: 'AsDeclared', message: '' };
}
