import { type NamespaceCondition, timestamp } from '@polder/kube';

/** Every condition of a namespace that is being deleted, with what it says while there is nothing to complain about. */
const CONDITIONS = {
  NamespaceDeletionDiscoveryFailure: {
    reason: 'ResourcesDiscovered',
    message: 'All resources successfully discovered',
  },
  NamespaceDeletionGroupVersionParsingFailure: {
    reason: 'ParsedGroupVersions',
    message: 'All legacy kube types successfully parsed',
  },
  NamespaceDeletionContentFailure: {
    reason: 'ContentDeleted',
    message: 'All content successfully deleted, may be waiting on finalization',
  },
  NamespaceContentRemaining: { reason: 'ContentRemoved', message: 'All content successfully removed' },
  NamespaceFinalizersRemaining: {
    reason: 'ContentHasNoFinalizers',
    message: 'All content-preserving finalizers finished',
  },
} as const;

/** What keeps a namespace from going. */
export interface Findings {
  /** Why contents could not be deleted. */
  readonly failures?: readonly string[];
  /** How many objects are left, by resource. */
  readonly remaining?: ReadonlyMap<string, number>;
  /** How many of them each finalizer keeps. */
  readonly finalizers?: ReadonlyMap<string, number>;
}

export function conditionsOf(
  before: readonly NamespaceCondition[],
  findings: Findings,
  now: Date,
): readonly NamespaceCondition[] {
  const complaints = complaintsIn(findings);
  const others = before.filter(({ type }) => !(type in CONDITIONS));
  const kept = Object.entries(CONDITIONS).map(([type, contentment]): NamespaceCondition => {
    const complaint = complaints.get(type);
    const status = complaint ? 'True' : 'False';
    const old = before.find((condition) => condition.type === type);
    const isOld = old?.status === status && old.lastTransitionTime !== undefined;
    const lastTransitionTime = isOld ? old.lastTransitionTime : timestamp(now);
    return { type, status, lastTransitionTime, ...(complaint ?? contentment) };
  });
  return [...others, ...kept];
}

/** `services.` for the core group: the real messages have the dot, too. */
const dotted = (resource: string) => (resource.includes('.') ? resource : `${resource}.`);

function complaintsIn({ failures = [], remaining, finalizers }: Findings) {
  const complaints = new Map<string, { readonly reason: string; readonly message: string }>();
  if (failures.length > 0) {
    complaints.set('NamespaceDeletionContentFailure', {
      reason: 'ContentDeletionFailed',
      message: `Failed to delete all resource types, ${failures.length} remaining: ${failures.toSorted().join(', ')}`,
    });
  }
  if (remaining !== undefined && remaining.size > 0) {
    const list = [...remaining].map(([resource, count]) => `${dotted(resource)} has ${count} resource instances`);
    complaints.set('NamespaceContentRemaining', {
      reason: 'SomeResourcesRemain',
      message: `Some resources are remaining: ${list.toSorted().join(', ')}`,
    });
  }
  if (finalizers !== undefined && finalizers.size > 0) {
    const list = [...finalizers].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`);
    complaints.set('NamespaceFinalizersRemaining', {
      reason: 'SomeFinalizersRemain',
      message: `Some content in the namespace has finalizers remaining: ${list.toSorted().join(', ')}`,
    });
  }
  return complaints;
}
