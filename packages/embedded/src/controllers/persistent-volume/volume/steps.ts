import { messageOf, PersistentVolume, type Steps } from '@polder/kube';
import { guarded } from '../change.ts';
import type { VolumeWorld } from '../world.ts';
import type { VolumeStep } from './plan.ts';

export const volumeSteps: Steps<VolumeStep, VolumeWorld> = {
  'change-volume': async ({ volume, change }, { cluster }) => {
    await cluster.patch(PersistentVolume, volume.metadata, guarded(volume, change));
  },
  // First the data: once the object is gone, nobody would know of it.
  'delete-volume': async ({ volume }, { cluster, provisioner, tell }) => {
    try {
      await provisioner.onVolumeDeleted(volume);
    } catch (error) {
      tell({ type: 'Warning', reason: 'VolumeFailedDelete', action: 'Reclaim', note: messageOf(error) });
      throw error;
    }
    await cluster.delete(PersistentVolume, volume);
  },
};
