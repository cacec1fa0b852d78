import {
  type Client,
  isAlreadyExists,
  type NewObject,
  type PersistentVolume,
  type PersistentVolumeClaim,
  StorageClass,
} from '@polder/kube';
import { PROVISIONED_BY, referenceTo, requestOf } from './binding.ts';

export const PROVISIONER = 'polder.io/host-path';

/** What makes volumes: directories of this machine. */
export interface Provisioner {
  /** Where the directory of a volume is. It is made by whoever mounts it first. */
  pathOf(volumeName: string): string;
  /** The volume is about to go: its data may be removed. Called again if it fails, or if the program ended meanwhile. */
  onVolumeDeleted(volume: PersistentVolume): Promise<void>;
}

/**
 * The class of claims that name none. Volumes are made at once, without waiting for a pod: every node of this cluster is this
 * very machine, so there is no wrong place for a directory.
 */
export const standardClass: StorageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: PROVISIONER,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'Immediate',
  allowVolumeExpansion: true,
};

/** Once, when the cluster begins: whoever changes or deletes the class means it. */
export async function installStandardClass(client: Client): Promise<void> {
  try {
    await client.create(StorageClass, standardClass);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** The name is the claim's for ever: whoever tries to make the volume twice finds it there. */
export const volumeNameFor = ({ metadata }: PersistentVolumeClaim) => `pvc-${metadata.uid}`;

export function volumeFor(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  path: string,
): NewObject<PersistentVolume> {
  const { accessModes = [], volumeMode = 'Filesystem' } = claim.spec ?? {};
  const { reclaimPolicy = 'Delete', mountOptions } = storageClass;
  return {
    metadata: { name: volumeNameFor(claim), annotations: { [PROVISIONED_BY]: PROVISIONER } },
    spec: {
      capacity: { storage: requestOf(claim) ?? '0' },
      accessModes,
      volumeMode,
      storageClassName: storageClass.metadata.name,
      persistentVolumeReclaimPolicy: reclaimPolicy,
      ...(mountOptions && { mountOptions }),
      hostPath: { path, type: 'DirectoryOrCreate' },
      claimRef: referenceTo(claim),
    },
  };
}

export const isOurs = ({ metadata }: PersistentVolume) => metadata.annotations?.[PROVISIONED_BY] === PROVISIONER;
