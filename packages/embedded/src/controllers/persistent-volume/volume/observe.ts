import { type PersistentVolume, PersistentVolumeClaim } from '@polder/kube';
import type { VolumeWorld } from '../world.ts';

export interface Observed {
  /** The one that the volume is for; undefined if it is gone, or if another one has its name. */
  readonly claim: PersistentVolumeClaim | undefined;
}

export async function observe({ spec }: PersistentVolume, { cluster }: VolumeWorld): Promise<Observed> {
  const { name, namespace, uid } = spec?.claimRef ?? {};
  if (name === undefined || !uid) return { claim: undefined };
  const claim = await cluster.get(PersistentVolumeClaim, { name, namespace });
  return { claim: claim?.metadata.uid === uid ? claim : undefined };
}
