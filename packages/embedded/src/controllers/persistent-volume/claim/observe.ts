import { PersistentVolume, type PersistentVolumeClaim, Pod, StorageClass } from '@polder/kube';
import type { Provisioner } from '../provisioner.ts';
import type { VolumeWorld } from '../world.ts';

export interface Observed {
  readonly volumes: readonly PersistentVolume[];
  readonly classes: readonly StorageClass[];
  /** Pods of the namespace that name the claim. */
  readonly users: readonly Pod[];
  readonly pathOf: Provisioner['pathOf'];
}

export async function observe({ metadata }: PersistentVolumeClaim, world: VolumeWorld): Promise<Observed> {
  const { cluster, provisioner } = world;
  const pods = await cluster.list(Pod, metadata.namespace);
  return {
    volumes: await cluster.list(PersistentVolume),
    classes: await cluster.list(StorageClass),
    users: pods.filter((pod) => claimsOf(pod).includes(metadata.name)),
    pathOf: (name) => provisioner.pathOf(name),
  };
}

export function claimsOf({ spec }: Pod): readonly string[] {
  return (spec?.volumes ?? []).flatMap((volume) => volume.persistentVolumeClaim?.claimName ?? []);
}
