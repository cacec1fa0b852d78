/** The metrics of the Qdrant operator, under the names that its users know. */
import {
  type ElectionEvents,
  type Ending,
  findCondition,
  type Held,
  isTooManyRequests,
  type Kind,
  keyOf,
  type Meters,
  type ObjectRef,
  type Phase,
  type ProductEvents,
  type ReflectorEvents,
  type Registration,
  type RunnerEvents,
  resourceNameOf,
} from '@polder/kube';
import { rules } from './cluster/plan/index.ts';
import {
  kinds,
  QdrantCluster,
  QdrantCollection,
  QdrantCollectionBackup,
  QdrantCollectionRestore,
  QdrantCollectionTemplate,
} from './kinds/index.ts';
import { CLEANUP_FORCED, INVALID_SPEC } from './reasons.ts';

const ERRORS = [
  'validation',
  'reconcile',
  'cleanup',
  'cleanup_timeout',
  'cleanup_force_delete',
  'finalizer_add',
  'finalizer_remove',
  'api_read',
  'watch',
  'watch_start',
  // Always 0. There is no loop beside the queue: a resource whose time has come is reconciled like any other.
  'periodic_reconcile',
  'restore',
] as const;
const RESTARTS = ['normal', 'error', 'rate_limit'] as const;

const RECONCILE_BUCKETS = [0.1, 0.5, 1, 2, 5, 10, 30];
const CLEANUP_BUCKETS = [1, 2, 5, 10, 30, 60, 120, 300, 600];

/** What the runtime tells of these controllers, as series. Each is there, at zero, from the start, whoever leads. */
export class QdrantMetrics implements ProductEvents {
  readonly #series: Series;
  readonly #stores = new Map<string, { readonly size: number }>();
  readonly #queues = new Map<string, Queue>();
  /** Of each type, one for each namespace that is watched. */
  readonly #watches = new Map<string, Set<{ isOpen: boolean }>>();
  /** Which rules hold a resource back. */
  readonly #held = new Map<string, readonly string[]>();
  #isLeading = false;

  constructor(meters: Meters, controllers: readonly Registration[]) {
    this.#series = seriesIn(meters);
    zero(this.#series, controllers);
    const { reading } = meters;
    const managed = (kind: Kind) => () => (this.#isLeading ? (this.#stores.get(typeOf(kind))?.size ?? 0) : 0);
    reading('qdrant_operator_clusters_managed', 'QdrantClusters that this process looks after', managed(QdrantCluster));
    reading(
      'qdrant_operator_collections_managed',
      'QdrantCollections that this process looks after',
      managed(QdrantCollection),
    );
    reading('qdrant_operator_reconcile_queue_depth', 'Resources that could be reconciled now', () =>
      [...this.#queues.values()].flatMap((queue) => [...queue().depths.values()]).reduce((sum, one) => sum + one, 0),
    );
  }

  caching(kind: Kind, store: { readonly size: number }): void {
    this.#stores.set(typeOf(kind), store);
  }

  drifted(kind: Kind): void {
    this.#series.drifts.inc({ resource_type: typeOf(kind) });
  }

  leading(): ElectionEvents {
    return {
      gained: () => {
        this.#isLeading = true;
        this.#series.leader.set(1);
      },
      lost: () => {
        this.#isLeading = false;
        this.#series.leader.set(0);
        this.#queues.clear();
        for (const key of this.#held.keys()) this.#hold(key, []);
      },
    };
  }

  reflecting(kind: Kind): ReflectorEvents {
    const { watchRestarts, watchActive } = this.#series;
    const labels = { resource_type: typeOf(kind) };
    const watch = { isOpen: false };
    const all = this.#watches.get(labels.resource_type) ?? new Set();
    this.#watches.set(labels.resource_type, all.add(watch));
    const is = (isOpen: boolean) => {
      watch.isOpen = isOpen;
      watchActive.set(labels, [...all].every((one) => one.isOpen) ? 1 : 0);
    };
    return {
      opened: () => is(true),
      ended: (ending, during) => {
        is(false);
        // What follows a list is the first watch.
        if (ending.ended === 'listed') return;
        watchRestarts.inc({ ...labels, reason: restartReasonOf(ending) });
        if (ending.ended !== 'closed') this.#count(FAILURES[during]);
      },
    };
  }

  running(kind: Kind): RunnerEvents {
    const { reconciles, reconcileSeconds, conflicts, cleanupSeconds } = this.#series;
    const type = typeOf(kind);
    const labels = { resource_type: type };
    const keyIn = (ref: ObjectRef) => `${type} ${keyOf(ref)}`;
    return {
      queue: (queue) => {
        this.#queues.set(type, queue);
        return {};
      },
      passEnded: (result, ms, isCleanup) => {
        const isGood = result === 'success' || result === 'requeue_after';
        reconciles.inc({ ...labels, result: isGood ? 'success' : 'error' });
        reconcileSeconds.observe(labels, ms / 1000);
        if (isGood) return;
        if (!isCleanup) this.#count('reconcile');
        else this.#count(result === 'timeout' ? 'cleanup_timeout' : 'cleanup');
      },
      reported: ({ metadata, status = {} }, { summary, held, status: told }) => {
        const before = findCondition(status.conditions, 'Ready');
        const wasRefused = before?.reason === INVALID_SPEC && before.observedGeneration === metadata.generation;
        // What is found again and was told already is no further error.
        if (summary?.is === 'stalled' && summary.reason === INVALID_SPEC && !wasRefused) this.#count('validation');
        if (type === 'restore' && hasFailed(told) && !hasFailed(status)) this.#count('restore');
        // A pass that was under way when another process took over has no say any more.
        if (this.#isLeading) this.#hold(keyIn(metadata), held);
      },
      forgotten: (ref) => this.#hold(keyIn(ref), []),
      conflicted: () => conflicts.inc(labels),
      finalizerFailed: (doing) => this.#count(doing === 'add' ? 'finalizer_add' : 'finalizer_remove'),
      cleanedUp: (_, { events }, ms) => {
        cleanupSeconds.observe(labels, ms / 1000);
        if (events?.some(({ reason }) => reason === CLEANUP_FORCED)) this.#count('cleanup_force_delete');
      },
    };
  }

  #count(type: (typeof ERRORS)[number]): void {
    this.#series.errors.inc({ type });
  }

  #hold(key: string, held: readonly Held[]): void {
    for (const rule of this.#held.get(key) ?? []) this.#series.held.dec({ rule });
    for (const { rule } of held) this.#series.held.inc({ rule });
    if (held.length === 0) this.#held.delete(key);
    else
      this.#held.set(
        key,
        held.map(({ rule }) => rule),
      );
  }
}

type Queue = Parameters<NonNullable<RunnerEvents['queue']>>[0];

const TYPES: ReadonlyMap<string, string> = new Map(
  [
    [QdrantCluster, 'cluster'] as const,
    [QdrantCollection, 'collection'] as const,
    [QdrantCollectionBackup, 'backup'] as const,
    [QdrantCollectionRestore, 'restore'] as const,
    [QdrantCollectionTemplate, 'template'] as const,
  ].map(([kind, type]) => [resourceNameOf(kind), type]),
);

/** `cluster`, `collection`, …; `statefulset` for those that are not ours. */
const typeOf = (kind: Kind): string => TYPES.get(resourceNameOf(kind)) ?? kind.kind.toLowerCase();

const FAILURES = { fetching: 'api_read', opening: 'watch_start', open: 'watch' } as const satisfies Record<
  Phase,
  string
>;

function restartReasonOf(ending: Ending): (typeof RESTARTS)[number] {
  if (ending.ended === 'closed') return 'normal';
  return ending.ended === 'failed' && isTooManyRequests(ending.error) ? 'rate_limit' : 'error';
}

const hasFailed = (status: object) => 'phase' in status && status.phase === 'Failed';

type Series = ReturnType<typeof seriesIn>;

function seriesIn({ counter, gauge, histogram }: Meters) {
  return {
    reconciles: counter(
      'qdrant_operator_reconcile_total',
      'Reconciliations by how they ended',
      'resource_type',
      'result',
    ),
    reconcileSeconds: histogram(
      'qdrant_operator_reconcile_duration_seconds',
      'How long reconciliations took',
      RECONCILE_BUCKETS,
      'resource_type',
    ),
    watchRestarts: counter(
      'qdrant_operator_watch_restarts_total',
      'Watches that were begun again, by how the one before ended',
      'resource_type',
      'reason',
    ),
    watchActive: gauge('qdrant_operator_watch_active', '1 while changes are heard of, else 0', 'resource_type'),
    errors: counter('qdrant_operator_errors_total', 'What went wrong', 'type'),
    leader: gauge('qdrant_operator_leader', '1 if this process leads, else 0'),
    drifts: counter(
      'qdrant_operator_drift_detected_total',
      'Objects that somebody had changed or deleted, and that are as they were again',
      'resource_type',
    ),
    cleanupSeconds: histogram(
      'qdrant_operator_cleanup_duration_seconds',
      'From the deletion of a resource until nothing of it was left to clean up',
      CLEANUP_BUCKETS,
      'resource_type',
    ),
    conflicts: counter(
      'qdrant_operator_status_update_conflicts_total',
      'Statuses that were not written because the resource had changed meanwhile',
      'resource_type',
    ),
    held: gauge('qdrant_operator_held', 'Steps that a rule holds back', 'rule'),
  };
}

function zero(series: Series, controllers: readonly Registration[]): void {
  for (const resource_type of kinds.map(typeOf)) {
    for (const result of ['success', 'error']) series.reconciles.inc({ resource_type, result }, 0);
    series.reconcileSeconds.zero({ resource_type });
    series.cleanupSeconds.zero({ resource_type });
    series.conflicts.inc({ resource_type }, 0);
  }
  for (const resource_type of controllers.flatMap((one) => one.kinds).map(typeOf)) {
    for (const reason of RESTARTS) series.watchRestarts.inc({ resource_type, reason }, 0);
    series.watchActive.set({ resource_type }, 0);
  }
  for (const resource_type of controllers.flatMap(({ owns }) => owns).map(typeOf)) {
    series.drifts.inc({ resource_type }, 0);
  }
  for (const type of ERRORS) series.errors.inc({ type }, 0);
  for (const { name: rule } of rules) series.held.set({ rule }, 0);
}
