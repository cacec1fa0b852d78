import { isAlreadyExists, PersistentVolume, PersistentVolumeClaim, type Steps } from '@polder/kube';
import { guarded } from '../change.ts';
import { PROVISIONER } from '../provisioner.ts';
import type { VolumeWorld } from '../world.ts';
import type { ClaimStep } from './plan.ts';

export const claimSteps: Steps<ClaimStep, VolumeWorld> = {
  'change-claim': async ({ claim, change }, { cluster }) => {
    await cluster.patch(PersistentVolumeClaim, claim.metadata, guarded(claim, change));
  },
  'change-volume': async ({ volume, change }, { cluster }) => {
    await cluster.patch(PersistentVolume, volume.metadata, guarded(volume, change));
  },
  provision: async ({ volume }, { cluster, tell }) => {
    try {
      await cluster.create(PersistentVolume, volume);
    } catch (error) {
      // The watch will bring it: its name is made from the uid of the claim, so it can be nobody else's.
      if (isAlreadyExists(error)) return;
      throw error;
    }
    const note = `Successfully provisioned volume ${volume.metadata.name} using ${PROVISIONER}`;
    tell({ type: 'Normal', reason: 'ProvisioningSucceeded', action: 'Provision', note });
  },
  tell: async ({ happening }, { tell }) => tell(happening),
};
