import type { PersistentVolumeClaim, Pod, StatefulSet } from '@polder/kube';
import { VOLUMES } from '../objects/index.ts';
import type { ClaimSeen } from '../observe.ts';
import { compareSizes } from './quantity.ts';
import type { Situation } from './situation.ts';
import type { ClusterStep } from './step.ts';

/** The size in the template of a StatefulSet's claims. */
export function templateSize(set: StatefulSet | undefined, volume: string): string | undefined {
  const template = set?.spec?.volumeClaimTemplates?.find(({ metadata }) => metadata.name === volume);
  return template && sizeOf(template);
}

function sizeOf({ spec }: PersistentVolumeClaim): string | undefined {
  const size = spec?.resources?.requests?.['storage'];
  return size === undefined ? undefined : String(size);
}

/** Volumes grow in place: each claim, then the template, which can't be changed and is made anew around the pods. */
export function expanding({ cluster, observed }: Situation): readonly ClusterStep[] {
  const { persistence, snapshotsStorage } = cluster.spec;
  const wanted = { storage: persistence?.size, snapshots: snapshotsStorage?.size };
  return observed.claims.flatMap(({ claim, volume }): ClusterStep[] => {
    const size = wanted[volume];
    const now = sizeOf(claim);
    if (size === undefined || compareSizes(now, size) >= 0) return [];
    return [{ do: 'expand-volume', because: `it has ${now}, and ${size} is wanted`, claim, size }];
  });
}

/** Claims whose file system grows only when the pod that uses it starts anew; one that did since is not asked again. */
export function awaitsRestart({ claim }: ClaimSeen, { metadata }: Pod): boolean {
  const pending = claim.status?.conditions?.find(({ type }) => type === 'FileSystemResizePending');
  const { creationTimestamp } = metadata;
  if (pending?.status !== 'True' || creationTimestamp === undefined) return false;
  return Date.parse(creationTimestamp) < Date.parse(pending.lastTransitionTime ?? creationTimestamp);
}

/** Why a volume does not grow, in the words of whoever should have made it. */
export function unexpandedIn({ observed }: Situation): string | undefined {
  for (const { claim } of observed.claims) {
    const { conditions = [], allocatedResourceStatuses } = claim.status ?? {};
    const failed = conditions.find(({ type, status }) => type.endsWith('ResizeError') && status === 'True');
    const state = allocatedResourceStatuses?.['storage'];
    const because = failed?.message ?? (state?.endsWith('Infeasible') ? state : undefined);
    if (because !== undefined) return `${claim.metadata.name} is not expanded: ${because}`;
  }
  return undefined;
}

/** What a StatefulSet is stuck with differs from what is wanted: applying it would be refused. */
export function recreating({ cluster, observed, size = 0 }: Situation): readonly ClusterStep[] {
  const { set } = observed.children;
  if (!set) return [];
  const { persistence, snapshotsStorage } = cluster.spec;
  const grown = [
    [VOLUMES.storage, persistence?.size] as const,
    [VOLUMES.snapshots, snapshotsStorage?.size] as const,
  ].filter(([volume, wanted]) => compareSizes(templateSize(set, volume), wanted) < 0);
  const isBehind = grown.some(([volume, wanted]) =>
    observed.claims.some(
      ({ claim }) => claim.metadata.name.startsWith(volume) && compareSizes(sizeOf(claim), wanted) < 0,
    ),
  );
  const isParallel = set.spec?.podManagementPolicy === 'Parallel';
  if ((grown.length === 0 || isBehind) && isParallel) return [];
  if (observed.pods.length !== size) return [];
  const because = isParallel ? 'the template of its volumes can not be changed' : 'its pods start in order, one by one';
  return [{ do: 'recreate-set', because, set }];
}
