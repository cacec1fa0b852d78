/** Which volume is for which claim: the rules of the real binder, on plain data. */
import type { ObjectReference, PersistentVolume, PersistentVolumeClaim, StorageClass } from '@polder/kube';
import { parseQuantity } from '../../apiserver/builtin/index.ts';
import { structuredLabelSelector } from '../../apiserver/selectors/index.ts';

/** On both sides: the binder chose the other one, so it may take that back. */
export const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller';
/** On the claim: both sides have been written. What is not so now was lost. */
export const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
/** On the volume: who made it, and will delete it. */
export const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';
/** On the claim: who is to make its volume. The second name is for provisioners of old. */
export const PROVISIONERS = [
  'volume.kubernetes.io/storage-provisioner',
  'volume.beta.kubernetes.io/storage-provisioner',
];
/** On a claim that is bound late, by the scheduler: where its first pod will run, and its volume is to be made. */
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
const CLASS = 'volume.beta.kubernetes.io/storage-class';
const DEFAULT_CLASS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

export const hasAnnotation = ({ metadata }: PersistentVolume | PersistentVolumeClaim, name: string) =>
  metadata.annotations?.[name] !== undefined;

/** Undefined if nothing is said, which is not the same as saying that there is none (`''`). */
export const classOf = ({ metadata, spec }: PersistentVolumeClaim | PersistentVolume): string | undefined =>
  metadata.annotations?.[CLASS] ?? spec?.storageClassName;

/** The newest of those that are marked. */
export function defaultClass(classes: readonly StorageClass[]): StorageClass | undefined {
  const marked = classes.filter(({ metadata }) =>
    DEFAULT_CLASS.some((annotation) => metadata.annotations?.[annotation] === 'true'),
  );
  const [newest] = marked.toSorted((a, b) => {
    const [x, y] = [a.metadata, b.metadata];
    if (x.creationTimestamp !== y.creationTimestamp)
      return (x.creationTimestamp ?? '') < (y.creationTimestamp ?? '') ? 1 : -1;
    return x.name < y.name ? -1 : 1;
  });
  return newest;
}

const bytes = (amount: unknown) => parseQuantity(amount)?.nanos ?? 0n;
export const requestOf = ({ spec }: PersistentVolumeClaim) => spec?.resources?.requests?.['storage'];
export const capacityOf = ({ spec }: PersistentVolume) => spec?.capacity?.['storage'];
export const isSmaller = (a: unknown, b: unknown) => bytes(a) < bytes(b);

/** The volume names the claim; before the two were ever bound it may do so without a uid. */
export function isFor({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const { name, namespace, uid } = spec?.claimRef ?? {};
  if (name !== metadata.name || namespace !== metadata.namespace) return false;
  return !uid || uid === metadata.uid;
}

export function referenceTo({ metadata }: PersistentVolumeClaim): ObjectReference {
  const { name, namespace = '', uid = '', resourceVersion = '' } = metadata;
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion };
}

/** Why a claim cannot have the volume that it names; undefined if it can. */
export function objectionTo(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  if (volume.metadata.deletionTimestamp !== undefined) {
    return `the volume is marked for deletion ${JSON.stringify(volume.metadata.name)}`;
  }
  if (isSmaller(capacityOf(volume), requestOf(claim))) return 'requested PV is too small';
  if ((classOf(volume) ?? '') !== (classOf(claim) ?? '')) return 'storageClassName does not match';
  if (attributesOf(volume) !== attributesOf(claim)) return 'volumeAttributesClassName does not match';
  if (modeOf(volume) !== modeOf(claim)) return 'incompatible volumeMode';
  return allows(volume, claim) ? undefined : 'incompatible accessMode';
}

const attributesOf = ({ spec }: PersistentVolume | PersistentVolumeClaim) => spec?.volumeAttributesClassName ?? '';
const modeOf = ({ spec }: PersistentVolume | PersistentVolumeClaim) => spec?.volumeMode ?? 'Filesystem';

const allows = (volume: PersistentVolume, claim: PersistentVolumeClaim) =>
  (claim.spec?.accessModes ?? []).every((mode) => volume.spec?.accessModes?.includes(mode));

/**
 * The volume that suits best: one that names the claim; else, of those that nobody has, the one that allows the least beyond
 * what is asked for, and of these the smallest. A claim that waits for its first pod takes none by itself.
 */
export function bestMatch(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  waitsForPod: boolean,
): PersistentVolume | undefined {
  const suitable = volumes.filter(
    (volume) =>
      (volume.spec?.claimRef === undefined || isFor(volume, claim)) &&
      volume.metadata.deletionTimestamp === undefined &&
      !isSmaller(capacityOf(volume), requestOf(claim)) &&
      modeOf(volume) === modeOf(claim) &&
      attributesOf(volume) === attributesOf(claim) &&
      allows(volume, claim),
  );
  const own = suitable.find((volume) => isFor(volume, claim));
  if (own !== undefined || waitsForPod) return own;
  const selects = claim.spec?.selector && structuredLabelSelector(claim.spec.selector);
  const free = suitable.filter(
    (volume) =>
      volume.status?.phase === 'Available' &&
      (classOf(volume) ?? '') === (classOf(claim) ?? '') &&
      (selects?.(volume.metadata.labels ?? {}) ?? true),
  );
  const modes = ({ spec }: PersistentVolume) => spec?.accessModes?.length ?? 0;
  const [best] = free.toSorted((a, b) => {
    if (modes(a) !== modes(b)) return modes(a) - modes(b);
    if (isSmaller(capacityOf(a), capacityOf(b))) return -1;
    if (isSmaller(capacityOf(b), capacityOf(a))) return 1;
    return a.metadata.name < b.metadata.name ? -1 : 1;
  });
  return best;
}
