import type { Happening, PersistentVolume, PersistentVolumeClaim, PersistentVolumeStatus, Plan } from '@polder/kube';
import { BOUND_BY_CONTROLLER, hasAnnotation, PROVISIONED_BY } from '../binding.ts';
import type { Change } from '../change.ts';
import { isOurs } from '../provisioner.ts';
import type { Observed } from './observe.ts';

export type VolumeStep =
  | {
      readonly do: 'change-volume';
      readonly because: string;
      readonly volume: PersistentVolume;
      readonly change: Change;
    }
  | { readonly do: 'delete-volume'; readonly because: string; readonly volume: PersistentVolume };

export type VolumePlan = Plan<VolumeStep, PersistentVolumeStatus>;

/** A volume that a claim has is not taken from it. */
export const PROTECTION = 'kubernetes.io/pv-protection';

type Phase = NonNullable<PersistentVolumeStatus['phase']>;

export function planVolume(volume: PersistentVolume, { claim }: Observed, now: Date): VolumePlan {
  const { finalizers = [], deletionTimestamp } = volume.metadata;
  const isProtected = finalizers.includes(PROTECTION);
  const judged = judge(volume, claim, now);
  if (deletionTimestamp === undefined && !isProtected) {
    const change = { metadata: { finalizers: [...finalizers, PROTECTION] } };
    return { ...judged, steps: [{ do: 'change-volume', because: 'a claim may have the volume', volume, change }] };
  }
  if (deletionTimestamp === undefined || !isProtected || judged.status.phase === 'Bound') return judged;
  if (judged.status.phase !== volume.status?.phase) return judged;
  const change = { metadata: { finalizers: finalizers.filter((one) => one !== PROTECTION) } };
  return { ...judged, steps: [{ do: 'change-volume', because: 'no claim has the volume', volume, change }] };
}

/** The phase, and what follows from it. */
function judge(volume: PersistentVolume, claim: PersistentVolumeClaim | undefined, now: Date): VolumePlan {
  if (!volume.spec?.claimRef?.uid) return become(volume, 'Available', now);
  if (claim === undefined) return release(volume, now);
  const { volumeName = '' } = claim.spec ?? {};
  // The claim's own controller binds it, and is told of the volume.
  if (volumeName === '') return { objects: [], steps: [], held: [], status: volume.status ?? {} };
  if (volumeName === volume.metadata.name) return become(volume, 'Bound', now);
  const isMadeForIt = hasAnnotation(volume, PROVISIONED_BY) && volume.spec.persistentVolumeReclaimPolicy === 'Delete';
  return isMadeForIt ? release(volume, now) : unbind(volume, now);
}

/** The claim is gone. What is on the volume is for nobody else, so it is never handed out again by itself. */
function release(volume: PersistentVolume, now: Date): VolumePlan {
  const { phase } = volume.status ?? {};
  if (phase !== 'Released' && phase !== 'Failed') return become(volume, 'Released', now);
  const idle = { objects: [], steps: [], held: [], status: volume.status ?? {} };
  if (phase === 'Failed' || volume.metadata.deletionTimestamp !== undefined) return idle;
  switch (volume.spec?.persistentVolumeReclaimPolicy) {
    case 'Delete':
      if (isOurs(volume)) {
        return { ...idle, steps: [{ do: 'delete-volume', because: 'its claim is gone', volume }] };
      }
      // Whoever made it deletes it.
      if (hasAnnotation(volume, PROVISIONED_BY) || volume.spec.csi !== undefined) return idle;
      return fail(
        volume,
        now,
        'VolumeFailedDelete',
        `error getting deleter volume plugin for volume ${JSON.stringify(volume.metadata.name)}: no deletable volume plugin matched`,
      );
    case 'Recycle':
      return fail(volume, now, 'VolumeFailedRecycle', 'No recycler plugin found for the volume!');
    case 'Retain':
    case undefined:
      return idle;
  }
}

/** The claim took another volume. One that was chosen for it is free again; one that named it waits for it. */
function unbind(volume: PersistentVolume, now: Date): VolumePlan {
  const isChosen = hasAnnotation(volume, BOUND_BY_CONTROLLER);
  const change = isChosen
    ? { spec: { claimRef: null }, metadata: { annotations: { [BOUND_BY_CONTROLLER]: null } } }
    : { spec: { claimRef: { uid: null, resourceVersion: null } } };
  const because = 'its claim has another volume';
  return { ...become(volume, 'Available', now), steps: [{ do: 'change-volume', because, volume, change }] };
}

function become(volume: PersistentVolume, phase: Phase, now: Date, message = ''): VolumePlan {
  const { status = {} } = volume;
  const lastPhaseTransitionTime = now.toISOString().replace(/\.\d+/, '');
  const changed = { phase, lastPhaseTransitionTime, ...(message !== '' && { message }) };
  return { objects: [], steps: [], held: [], status: status.phase === phase ? status : changed };
}

function fail(volume: PersistentVolume, now: Date, reason: string, note: string): VolumePlan {
  const events: readonly Happening[] = [{ type: 'Warning', reason, action: 'Reclaim', note }];
  return { ...become(volume, 'Failed', now, note), events };
}
