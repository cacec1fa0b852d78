import { findCondition } from '@polder/kube';
import { PEERS_AGREE } from '../../cluster/plan/health.ts';
import { isFrom } from '../../cluster/plan/versions.ts';
import type { CollectionSpec, QdrantCluster, QdrantCollection } from '../../kinds/index.ts';
import type { CollectionSeen, Observed, Server } from '../observe.ts';
import { type Drift, driftOf } from './drift.ts';
import { type Ledger, ledgerOf, recorded } from './ledger.ts';
import type { Through } from './step.ts';
import { completed } from './wanted.ts';

/** What rules judge by: the collection as it should be, as it was seen, and what of it is ours. */
export interface Situation {
  readonly collection: QdrantCollection;
  readonly observed: Observed;
  /** Undefined if the cluster does not answer. */
  readonly server: Server | undefined;
  /** Undefined if there is none yet. */
  readonly seen: CollectionSeen | undefined;
  /** What counts of its spec. One that was there before is left as it is in all that the spec is silent about. */
  readonly declared: CollectionSpec;
  readonly drift: Drift;
  /** What will be ours by what this plan does. */
  readonly ledger: Ledger;
  readonly via: Through | undefined;
  /** More peers are about to join the cluster. */
  readonly growth: Growth | undefined;
  readonly now: Date;
  readonly periodicMs: number;
}

const NO_DRIFT: Drift = { patch: undefined, missing: [], immutable: [] };

export function situationOf(
  collection: QdrantCollection,
  observed: Observed,
  now: Date,
  periodicMs: number,
): Situation {
  const server = observed.server.known ? observed.server.value : undefined;
  const seen = server?.collection;
  const isFound = seen !== undefined && recorded(collection, observed).origin !== 'Created';
  const declared = isFound ? collection.spec : completed(collection.spec);
  const canAddVectors = isFrom(observed.cluster?.status?.version ?? '', 1, 18);
  const drift = seen ? driftOf(declared, seen.config, canAddVectors) : NO_DRIFT;
  const { namespace } = collection.metadata;
  return {
    collection,
    observed,
    server,
    seen,
    declared,
    drift,
    ledger: ledgerOf(collection, observed, drift),
    growth: observed.cluster && growthOf(observed.cluster, now),
    via: server && { namespace, cluster: collection.spec.cluster, pod: server.pod },
    now,
    periodicMs,
  };
}

export interface Growth {
  readonly because: string;
  /** After so long it is not waited for any longer. */
  readonly leftMs: number;
}

/** As long as peers of a cluster may take to join, all of them together, before what is new is made without the others. */
const GROWTH_MS = 2 * 60_000;

/** A cluster that is not ready and has fewer members than it should: not for long yet, so that they may well be coming. */
function growthOf({ spec, status }: QdrantCluster, now: Date): Growth | undefined {
  const ready = findCondition(status?.conditions, 'Ready');
  const since = ready?.status === 'True' ? undefined : ready?.lastTransitionTime;
  const leftMs = since === undefined ? 0 : Date.parse(since) + GROWTH_MS - now.getTime();
  if (leftMs <= 0 || (status?.peers ?? []).length >= spec.replicas) return undefined;
  return { because: `the cluster is growing to ${spec.replicas} peers`, leftMs };
}

/** What the cluster's own controller says of its peers, who looks at all of them. */
export const agreementIn = ({ observed: { cluster } }: Situation) =>
  findCondition(cluster?.status?.conditions, PEERS_AGREE);
