import type {
  Happening,
  NewObject,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeClaimStatus,
  Plan,
  Pod,
  StorageClass,
} from '@polder/kube';
import {
  BIND_COMPLETED,
  BOUND_BY_CONTROLLER,
  bestMatch,
  capacityOf,
  classOf,
  defaultClass,
  hasAnnotation,
  isFor,
  isSmaller,
  objectionTo,
  PROVISIONERS,
  referenceTo,
  requestOf,
  SELECTED_NODE,
} from '../binding.ts';
import type { Change } from '../change.ts';
import { isOurs, PROVISIONER, volumeFor, volumeNameFor } from '../provisioner.ts';
import type { Observed } from './observe.ts';

export type ClaimStep =
  | {
      readonly do: 'change-claim';
      readonly because: string;
      readonly claim: PersistentVolumeClaim;
      readonly change: Change;
    }
  | {
      readonly do: 'change-volume';
      readonly because: string;
      readonly volume: PersistentVolume;
      readonly change: Change;
    }
  | { readonly do: 'provision'; readonly because: string; readonly volume: NewObject<PersistentVolume> }
  | { readonly do: 'tell'; readonly because: string; readonly happening: Happening };

export type ClaimPlan = Plan<ClaimStep, PersistentVolumeClaimStatus>;

/** A claim that a pod uses is not taken from under it. */
export const PROTECTION = 'kubernetes.io/pvc-protection';

/** Why a claim waits is told now and then, for those who ask later. */
const TELL_AGAIN_MS = 300_000;

export function planClaim(claim: PersistentVolumeClaim, observed: Observed): ClaimPlan {
  const { metadata, status = {} } = claim;
  const idle: ClaimPlan = { objects: [], steps: [], held: [], status };
  const { finalizers = [] } = metadata;
  if (metadata.deletionTimestamp !== undefined) {
    if (!finalizers.includes(PROTECTION) || observed.users.some(isPlaced)) return idle;
    const change = { metadata: { finalizers: finalizers.filter((one) => one !== PROTECTION) } };
    return { ...idle, steps: [{ do: 'change-claim', because: 'no pod uses the claim any more', claim, change }] };
  }
  if (!finalizers.includes(PROTECTION)) {
    const change = { metadata: { finalizers: [...finalizers, PROTECTION] } };
    return { ...idle, steps: [{ do: 'change-claim', because: 'a pod may use the claim', claim, change }] };
  }
  return hasAnnotation(claim, BIND_COMPLETED) ? planBound(claim, observed) : planUnbound(claim, observed);
}

/** A pod without a node uses nothing yet, and none will start one with a claim that is being deleted. */
const isPlaced = ({ spec }: Pod) => spec?.nodeName !== undefined && spec.nodeName !== '';

function planUnbound(claim: PersistentVolumeClaim, observed: Observed): ClaimPlan {
  const { volumeName = '' } = claim.spec ?? {};
  if (volumeName !== '')
    return planNamed(
      claim,
      observed.volumes.find(({ metadata }) => metadata.name === volumeName),
    );

  const className = classOf(claim);
  const storageClass = observed.classes.find(({ metadata }) => metadata.name === className);
  const waitsForPod = storageClass?.volumeBindingMode === 'WaitForFirstConsumer';
  const volume = bestMatch(claim, observed.volumes, waitsForPod);
  if (volume !== undefined) return bind(claim, volume);

  const standard = defaultClass(observed.classes);
  if (className === undefined && standard !== undefined) {
    const change = { spec: { storageClassName: standard.metadata.name } };
    return pending(claim, [
      { do: 'change-claim', because: 'it names no class and now there is a default', claim, change },
    ]);
  }
  if (waitsForPod && !hasAnnotation(claim, SELECTED_NODE)) return wait(claim, awaitedPod(observed.users));
  if (className !== undefined && className !== '') return provision(claim, className, storageClass, observed);
  const note = 'no persistent volumes available for this claim and no storage class is set';
  return wait(claim, { type: 'Normal', reason: 'FailedBinding', action: 'Bind', note });
}

function awaitedPod(users: readonly Pod[]): Happening {
  const isOver = ({ status }: Pod) => status?.phase === 'Succeeded' || status?.phase === 'Failed';
  const names = users.filter((pod) => !isPlaced(pod) && !isOver(pod)).map(({ metadata }) => metadata.name);
  const event = { type: 'Normal', action: 'Bind' } as const;
  if (names.length === 0) {
    return {
      ...event,
      reason: 'WaitForFirstConsumer',
      note: 'waiting for first consumer to be created before binding',
    };
  }
  const note = `waiting for ${names.length > 1 ? 'pods' : 'pod'} ${names.join(',')} to be scheduled`;
  return { ...event, reason: 'WaitForPodScheduled', note };
}

/** The user chose the volume. */
function planNamed(claim: PersistentVolumeClaim, volume: PersistentVolume | undefined): ClaimPlan {
  if (volume === undefined) return pending(claim, []);
  if (isFor(volume, claim)) return bind(claim, volume);
  const name = JSON.stringify(volume.metadata.name);
  if (volume.spec?.claimRef !== undefined) {
    const note = `volume ${name} already bound to a different claim.`;
    return wait(claim, { type: 'Warning', reason: 'FailedBinding', action: 'Bind', note });
  }
  const objection = objectionTo(volume, claim);
  if (objection === undefined) return bind(claim, volume);
  const note = `Cannot bind to requested volume ${name}: ${objection}`;
  return wait(claim, { type: 'Warning', reason: 'VolumeMismatch', action: 'Bind', note });
}

function provision(
  claim: PersistentVolumeClaim,
  className: string,
  storageClass: StorageClass | undefined,
  { pathOf }: Observed,
): ClaimPlan {
  if (storageClass === undefined) {
    const note = `storageclass.storage.k8s.io ${JSON.stringify(className)} not found`;
    return wait(claim, { type: 'Warning', reason: 'ProvisioningFailed', action: 'Provision', note });
  }
  const { provisioner } = storageClass;
  if (provisioner === 'kubernetes.io/no-provisioner') {
    const note = 'no volume plugin matched name: kubernetes.io/no-provisioner';
    return wait(claim, { type: 'Warning', reason: 'ProvisioningFailed', action: 'Provision', note });
  }
  const isNamed = PROVISIONERS.every((annotation) => claim.metadata.annotations?.[annotation] === provisioner);
  if (!isNamed) {
    const annotations = Object.fromEntries(PROVISIONERS.map((annotation) => [annotation, provisioner]));
    const because = `its class is provisioned by ${provisioner}`;
    return pending(claim, [{ do: 'change-claim', because, claim, change: { metadata: { annotations } } }]);
  }
  if (provisioner === PROVISIONER) {
    const volume = volumeFor(claim, storageClass, pathOf(volumeNameFor(claim)));
    return pending(claim, [{ do: 'provision', because: 'no volume suits the claim', volume }]);
  }
  const note = `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`;
  return wait(claim, { type: 'Normal', reason: 'ExternalProvisioning', action: 'Provision', note });
}

/** What was bound once stays so, or is lost: nobody looks for another volume in place of one with data. */
function planBound(claim: PersistentVolumeClaim, { volumes }: Observed): ClaimPlan {
  const { volumeName = '' } = claim.spec ?? {};
  if (volumeName === '') {
    return lost(claim, 'ClaimLost', 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!');
  }
  const volume = volumes.find(({ metadata }) => metadata.name === volumeName);
  if (volume === undefined) {
    return lost(claim, 'ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!');
  }
  const { claimRef } = volume.spec ?? {};
  if (claimRef !== undefined && claimRef.uid !== claim.metadata.uid) {
    const note = 'Two claims are bound to the same volume, this one is bound incorrectly';
    return lost(claim, 'ClaimMisbound', note);
  }
  return bind(claim, volume);
}

/**
 * First the volume, which only one claim can win; then the claim; then its status. Whoever was interrupted goes on where it
 * stopped: what is written already is not written again.
 */
function bind(claim: PersistentVolumeClaim, volume: PersistentVolume): ClaimPlan {
  const { name } = volume.metadata;
  const steps: ClaimStep[] = [];
  if (volume.spec?.claimRef?.uid !== claim.metadata.uid) {
    const annotations = { [BOUND_BY_CONTROLLER]: 'yes' };
    const isChosen = !isFor(volume, claim) && !hasAnnotation(volume, BOUND_BY_CONTROLLER);
    const change = { spec: { claimRef: referenceTo(claim) }, ...(isChosen && { metadata: { annotations } }) };
    steps.push({ do: 'change-volume', because: `it suits ${claim.metadata.name}`, volume, change });
  }
  const isNamed = claim.spec?.volumeName === name;
  if (!isNamed || !hasAnnotation(claim, BIND_COMPLETED)) {
    const annotations = { [BIND_COMPLETED]: 'yes', ...(!isNamed && { [BOUND_BY_CONTROLLER]: 'yes' }) };
    const change = { metadata: { annotations }, spec: { volumeName: name } };
    steps.push({ do: 'change-claim', because: `${name} is its volume`, claim, change });
  }
  const growth = steps.length === 0 ? grow(claim, volume) : [];
  const capacity = growth.length > 0 ? { storage: requestOf(claim) ?? '0' } : volume.spec?.capacity;
  return { objects: [], steps: [...steps, ...growth], held: [], status: boundStatus(claim, volume, capacity) };
}

/** A directory has room for whatever is asked; that the class allows it was checked when the claim was changed. */
function grow(claim: PersistentVolumeClaim, volume: PersistentVolume): readonly ClaimStep[] {
  const storage = requestOf(claim);
  if (!isOurs(volume) || storage === undefined || !isSmaller(capacityOf(volume), storage)) return [];
  const because = `the claim asks for ${storage}`;
  const note = 'Resize volume succeeded';
  return [
    { do: 'change-volume', because, volume, change: { spec: { capacity: { storage } } } },
    { do: 'tell', because, happening: { type: 'Normal', reason: 'VolumeResizeSuccessful', action: 'Resize', note } },
  ];
}

type Capacity = PersistentVolumeClaimStatus['capacity'];

/** Once bound, the capacity is for whoever resizes the volume to say: for ours that is us. */
function boundStatus(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
  now: Capacity,
): PersistentVolumeClaimStatus {
  const { status = {} } = claim;
  const isNew = status.phase !== 'Bound';
  const capacity = isNew || isOurs(volume) ? now : status.capacity;
  const { accessModes = [], volumeAttributesClassName } = volume.spec ?? {};
  return {
    ...status,
    phase: 'Bound',
    accessModes,
    ...(capacity && { capacity }),
    ...(isNew && volumeAttributesClassName && { currentVolumeAttributesClassName: volumeAttributesClassName }),
  };
}

/** Without a volume there is nothing to say of it. */
function statusWithout({ status = {} }: PersistentVolumeClaim, phase: 'Pending' | 'Lost'): PersistentVolumeClaimStatus {
  const { accessModes: _, capacity: __, currentVolumeAttributesClassName: ___, ...others } = status;
  return { ...others, phase };
}

const pending = (claim: PersistentVolumeClaim, steps: readonly ClaimStep[]): ClaimPlan => ({
  objects: [],
  steps,
  held: [],
  status: statusWithout(claim, 'Pending'),
});

function wait(claim: PersistentVolumeClaim, happening: Happening): ClaimPlan {
  const because = happening.note;
  const lookAgain = { afterMs: TELL_AGAIN_MS, because };
  return { ...pending(claim, [{ do: 'tell', because, happening }]), lookAgain };
}

function lost(claim: PersistentVolumeClaim, reason: string, note: string): ClaimPlan {
  const events: readonly Happening[] = [{ type: 'Warning', reason, action: 'Bind', note }];
  return { ...pending(claim, []), status: statusWithout(claim, 'Lost'), events };
}
