import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '@polder/kube';
import { structuredLabelSelector } from '../apiserver/selectors/index.ts';
import { SELECTED_NODE } from '../controllers/persistent-volume/index.ts';
import { amountsOf } from './amounts.ts';
import { matchesSelector } from './node-selection.ts';
import type { PodFacts } from './pod-facts.ts';
import type { Filter, Refusal } from './refusal.ts';

const NO_PROVISIONER = 'kubernetes.io/no-provisioner';

export interface Storage {
  readonly claims: readonly PersistentVolumeClaim[];
  readonly volumes: readonly PersistentVolume[];
  readonly classes: readonly StorageClass[];
}

export const NO_STORAGE: Storage = { claims: [], volumes: [], classes: [] };

/** What has to be done about a claim before the pod can have its node: take this volume, or have one made. */
export interface ClaimChoice {
  readonly claim: PersistentVolumeClaim;
  readonly volume: PersistentVolume | undefined;
}

/** The names of the claims that a pod uses, those made for it alone included. */
export function claimNamesOf({ metadata, spec }: Pod): readonly string[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim) return [persistentVolumeClaim.claimName];
    return ephemeral ? [`${metadata.name}-${name}`] : [];
  });
}

/** Why no node at all will do before something happens to the pod's claims; undefined if they are fine. */
export function claimProblem(pod: Pod, storage: Storage): string | undefined {
  const names = claimNamesOf(pod);
  if (names.length === 0) return undefined;
  const ephemeral = new Set(pod.spec?.volumes?.filter((one) => one.ephemeral).map(({ name }) => name));
  const own = (name: string) => [...ephemeral].some((volume) => `${pod.metadata.name}-${volume}` === name);
  for (const name of names) {
    const claim = storage.claims.find(({ metadata }) => metadata.name === name);
    const quoted = `persistentvolumeclaim ${JSON.stringify(name)}`;
    if (!claim && own(name)) return `waiting for ephemeral volume controller to create the ${quoted}`;
    if (!claim) return `${quoted} not found`;
    if (claim.status?.phase === 'Lost') {
      return `${quoted} bound to non-existent persistentvolume ${JSON.stringify(claim.spec?.volumeName ?? '')}`;
    }
    if (claim.metadata.deletionTimestamp !== undefined) return `${quoted} is being deleted`;
    const owners = claim.metadata.ownerReferences ?? [];
    if (own(name) && !owners.some(({ uid }) => uid === pod.metadata.uid)) {
      return `PVC ${claim.metadata.namespace}/${name} was not created for pod ${pod.metadata.namespace}/${pod.metadata.name} (pod is not owner)`;
    }
  }
  const waits = claimsOf(pod, storage).some((claim) => !isBound(claim) && !isBoundLate(claim, storage));
  return waits ? 'pod has unbound immediate PersistentVolumeClaims' : undefined;
}

export const volumes: Filter = (pod, { storage }) => {
  const claims = claimsOf(pod.pod, storage);
  if (claims.length === 0) return () => undefined;
  return ({ node }) => {
    const reasons = new Set<string>();
    for (const claim of claims.filter(isBound)) {
      const volume = storage.volumes.find(({ metadata }) => metadata.name === claim.spec?.volumeName);
      if (!volume) reasons.add('node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)');
      else if (!isReachable(volume, node)) reasons.add("node(s) didn't match PersistentVolume's node affinity");
    }
    if (choose(claims, node, storage) === undefined) {
      reasons.add("node(s) didn't find available persistent volumes to bind");
    }
    return reasons.size === 0 ? undefined : final([...reasons]);
  };
};

/** What each unbound claim of a pod would get if the pod went to this node; undefined if one would get nothing. */
export function claimChoices(pod: Pod, node: Node, storage: Storage): readonly ClaimChoice[] {
  return choose(claimsOf(pod, storage), node, storage) ?? [];
}

/** Some claims are for one pod in the whole cluster: while another has it, no node will do. */
export const soleUse: Filter = ({ pod, namespace }, { storage, occupancy }) => {
  const sole = claimsOf(pod, storage).filter(({ spec }) => spec?.accessModes?.includes('ReadWriteOncePod'));
  const isTaken = sole.some(({ metadata: { name } }) => {
    const isAbout = (one: PodFacts) => one.namespace === namespace && claimNamesOf(one.pod).includes(name);
    return occupancy.count({ key: JSON.stringify(['claim', namespace, name]), isAbout }).size > 0;
  });
  return () => (isTaken ? { reasons: [IN_USE], isFinal: false } : undefined);
};

const IN_USE =
  'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod';

const final = (reasons: readonly string[]): Refusal => ({ reasons, isFinal: true });

const claimsOf = (pod: Pod, { claims }: Storage) =>
  claimNamesOf(pod).flatMap((name) => claims.find(({ metadata }) => metadata.name === name) ?? []);

function isBound({ spec, status }: PersistentVolumeClaim): boolean {
  return (spec?.volumeName ?? '') !== '' && status?.phase === 'Bound';
}

/** A claim that already names its volume is on its way: whoever binds it finishes that. */
function isBoundLate({ spec }: PersistentVolumeClaim, { classes }: Storage): boolean {
  const found = classes.find(({ metadata }) => metadata.name === spec?.storageClassName);
  return found?.volumeBindingMode === 'WaitForFirstConsumer' && (spec?.volumeName ?? '') === '';
}

/** Small claims choose first, so that they do not take what only a large volume could have given to a large one. */
function choose(
  claims: readonly PersistentVolumeClaim[],
  node: Node,
  storage: Storage,
): readonly ClaimChoice[] | undefined {
  const taken = new Set<PersistentVolume>();
  const choices: ClaimChoice[] = [];
  const unbound = claims.filter((claim) => !isBound(claim)).toSorted((a, b) => wantedBy(a) - wantedBy(b));
  for (const claim of unbound) {
    const selected = claim.metadata.annotations?.[SELECTED_NODE];
    if (selected !== undefined && selected !== node.metadata.name) return undefined;
    const volume = selected === undefined ? findVolume(claim, node, storage, taken) : undefined;
    if (!volume && !canBeMade(claim, node, storage)) return undefined;
    if (volume) taken.add(volume);
    choices.push({ claim, volume });
  }
  return choices;
}

/** The volume that is already reserved for the claim, else the smallest that satisfies it. */
function findVolume(
  claim: PersistentVolumeClaim,
  node: Node,
  { volumes: all }: Storage,
  taken: ReadonlySet<PersistentVolume>,
): PersistentVolume | undefined {
  const fitting = all.filter((volume) => !taken.has(volume) && satisfies(volume, claim) && isReachable(volume, node));
  const reserved = fitting.find(({ spec }) => spec?.claimRef !== undefined);
  return reserved ?? fitting.toSorted((a, b) => sizeOf(a) - sizeOf(b) || byName(a, b))[0];
}

function satisfies(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const { metadata, spec } = claim;
  const { claimRef, storageClassName = '', accessModes = [], volumeMode = 'Filesystem' } = volume.spec ?? {};
  if (volume.metadata.deletionTimestamp !== undefined) return false;
  if (claimRef !== undefined) {
    const isOurs = claimRef.namespace === metadata.namespace && claimRef.name === metadata.name;
    return isOurs && (claimRef.uid === undefined || claimRef.uid === metadata.uid);
  }
  return (
    volume.status?.phase === 'Available' &&
    storageClassName === (spec?.storageClassName ?? '') &&
    volumeMode === (spec?.volumeMode ?? 'Filesystem') &&
    (spec?.accessModes ?? []).every((mode) => accessModes.includes(mode)) &&
    structuredLabelSelector(spec?.selector ?? {})(volume.metadata.labels) &&
    sizeOf(volume) >= wantedBy(claim)
  );
}

function canBeMade({ spec }: PersistentVolumeClaim, { metadata }: Node, { classes }: Storage): boolean {
  const found = classes.find((one) => one.metadata.name === spec?.storageClassName);
  if (!found || found.provisioner === NO_PROVISIONER) return false;
  const { allowedTopologies = [] } = found;
  return (
    allowedTopologies.length === 0 ||
    allowedTopologies.some(({ matchLabelExpressions = [] }) =>
      matchLabelExpressions.every(({ key, values }) => values.includes(metadata.labels?.[key] ?? '')),
    )
  );
}

const isReachable = ({ spec }: PersistentVolume, node: Node) => matchesSelector(spec?.nodeAffinity?.required, node);
const sizeOf = ({ spec }: PersistentVolume) => amountsOf(spec?.capacity).get('storage') ?? 0;
const wantedBy = ({ spec }: PersistentVolumeClaim) => amountsOf(spec?.resources?.requests).get('storage') ?? 0;
const byName = (a: PersistentVolume, b: PersistentVolume) => (a.metadata.name < b.metadata.name ? -1 : 1);
