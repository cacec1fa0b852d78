import type { PersistentVolumeClaim, StatefulSet } from '@polder/kube';

/** What a set's spec asks for, with the API server's defaults. */
export interface Wanted {
  readonly replicas: number;
  /** The ordinal of the first member. */
  readonly start: number;
  /** One member at a time, in order, up and down. */
  readonly isOrdered: boolean;
  readonly minReadySeconds: number;
  /** How many members, from the first one on, stay at the current revision; undefined: none is updated by us at all. */
  readonly partition: number | undefined;
  readonly claimTemplates: readonly PersistentVolumeClaim[];
  readonly retention: Retention;
  readonly serviceName: string;
  /** How many revisions are kept beyond those in use. */
  readonly historyLimit: number;
}

/** What is to become of a member's claims when the set, or the member, goes: true if they go as well. */
export interface Retention {
  readonly deleteWithSet: boolean;
  readonly deleteWithMember: boolean;
}

export function wantedOf({ spec }: StatefulSet): Wanted {
  const { updateStrategy: { type = 'RollingUpdate', rollingUpdate } = {}, ordinals } = spec ?? {};
  const { whenDeleted, whenScaled } = spec?.persistentVolumeClaimRetentionPolicy ?? {};
  return {
    replicas: spec?.replicas ?? 1,
    start: ordinals?.start ?? 0,
    isOrdered: spec?.podManagementPolicy !== 'Parallel',
    minReadySeconds: spec?.minReadySeconds ?? 0,
    partition: type === 'OnDelete' ? undefined : (rollingUpdate?.partition ?? 0),
    claimTemplates: spec?.volumeClaimTemplates ?? [],
    retention: { deleteWithSet: whenDeleted === 'Delete', deleteWithMember: whenScaled === 'Delete' },
    serviceName: spec?.serviceName ?? '',
    historyLimit: spec?.revisionHistoryLimit ?? 10,
  };
}
