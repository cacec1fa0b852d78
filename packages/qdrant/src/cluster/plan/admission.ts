import { createHash } from 'node:crypto';
import { type KubernetesObject, keyOf, type Secret } from '@polder/kube';
import { LONGEST_NAME, type QdrantCluster } from '../../kinds/index.ts';
import {
  type ApiKey,
  BUNDLE,
  CERTIFICATE,
  CERTIFICATE_KEY,
  type Certificates,
  decoded,
  HASH_ANNOTATION,
  KEY,
  NAME_LABEL,
  namesOf,
  PREVIOUS_KEY,
  peerHash,
  VOLUMES,
  type Workload,
} from '../objects/index.ts';
import type { Children, PodSeen } from '../observe.ts';
import { cutOffBy, isWhole, problemWith, renewing, trustIn } from './certificate.ts';
import { compareSizes, milliBytes } from './quantity.ts';
import { isOutdated, isReady } from './rules.ts';
import { type Situation, sizeOfMembers } from './situation.ts';
import type { ClusterStep } from './step.ts';
import { isFrom } from './versions.ts';
import { templateSize } from './volumes.ts';

/** What peers are opened with, and what is to be made before any of them can run. */
export type Credentials = Pick<Workload, 'apiKey' | 'readKey' | 'tls'>;

export type Admission =
  | { readonly is: 'admitted'; readonly credentials: Credentials }
  /** Something has to be made first that can't be made twice. */
  | { readonly is: 'unprepared'; readonly steps: readonly ClusterStep[] }
  /** What is in the way. Whatever runs keeps running as it was: an error in a spec is no reason to stop a cluster. */
  | { readonly is: 'refused'; readonly reason: string; readonly because: string };

/** Whether a cluster can be made as its spec says: the same judgement as at the door of the cluster, which may have been open. */
export function admit(situation: Situation): Admission {
  const { cluster, observed } = situation;
  const problem = problemOf(cluster) ?? changeOf(situation);
  if (problem !== undefined) return { is: 'refused', reason: 'InvalidSpec', because: problem };
  const stranger = strangerAmong(cluster, observed.children);
  if (stranger !== undefined) return { is: 'refused', reason: 'NameTaken', because: stranger };
  return credentialsOf(situation);
}

function problemOf({ metadata, spec }: QdrantCluster): string | undefined {
  if (metadata.name.length > LONGEST_NAME) return `metadata.name must have at most ${LONGEST_NAME} characters`;
  if (!(spec.replicas >= 1)) return `spec.replicas is ${spec.replicas}; it must be at least 1`;
  if (spec.image.trim() === '') return 'spec.image is empty; name an image with its tag';
  const { apikey = 'false', readApikey = 'false' } = spec;
  if (readApikey !== 'false' && apikey === 'false') return 'spec.readApikey may be set only if spec.apikey is enabled';
  const size = spec.persistence?.size;
  if (size !== undefined && milliBytes(size) === undefined) return `spec.persistence.size is ${size}, which is no size`;
  return undefined;
}

/** What can't be changed while there are peers that were started the other way. */
function changeOf(situation: Situation): string | undefined {
  const { cluster, observed } = situation;
  const { set } = observed.children;
  if (!set) return undefined;
  const isOnVolumes = templateSize(set, VOLUMES.storage) !== undefined;
  if (isOnVolumes !== (cluster.spec.persistence !== undefined)) {
    return `spec.persistence can not be ${isOnVolumes ? 'taken away' : 'added'}: every peer would lose its data. Make another cluster and copy the collections`;
  }
  if (compareSizes(cluster.spec.persistence?.size, templateSize(set, VOLUMES.storage)) < 0) {
    return `spec.persistence.size is ${cluster.spec.persistence?.size}, less than ${templateSize(set, VOLUMES.storage)}: a volume can not shrink`;
  }
  const env = set.spec?.template?.spec?.containers[0]?.env ?? [];
  const hasTls = env.some(({ name }) => name === 'QDRANT__CLUSTER__P2P__ENABLE_TLS');
  if (hasTls !== (cluster.spec.tls?.enabled ?? false) && sizeOfMembers(situation) > 1) {
    return 'spec.tls.enabled can not change while there are several peers: those with and those without it do not reach each other';
  }
  return undefined;
}

/** An object that has the name of one of ours and is somebody else's. What upstream made names no controller. */
function strangerAmong(cluster: QdrantCluster, children: Children): string | undefined {
  const { uid, name } = cluster.metadata;
  const { certificate } = children;
  const all: readonly (KubernetesObject | undefined)[] = Object.values(children);
  for (const child of all) {
    const owners = child?.metadata.ownerReferences ?? [];
    const owner = owners.find(({ controller }) => controller) ?? owners[0];
    const isOurs = owner ? owner.uid === uid : child?.metadata.labels?.[NAME_LABEL] === name;
    // A certificate may be the user's own.
    if (!child || isOurs || child === certificate) continue;
    const whose = owner ? `${owner.kind} ${owner.name}` : 'nobody we know';
    const what = `${child.kind} ${keyOf(child.metadata)}`;
    return `${what} belongs to ${whose}; delete it, or give the cluster another name`;
  }
  return undefined;
}

function credentialsOf(situation: Situation): Admission {
  const { cluster, observed } = situation;
  const { apikey = 'false', readApikey = 'false', tls } = cluster.spec;
  const { certificate, ...children } = observed.children;
  const names = namesOf(cluster);
  const steps: ClusterStep[] = [];
  const keyIn = (wanted: string, secret: Secret | undefined, name: string): ApiKey | undefined => {
    if (wanted === 'false') return undefined;
    if (wanted !== 'true') return { value: wanted, isGiven: true };
    const value = decoded(secret, KEY);
    if (value !== undefined) return { value, isGiven: false };
    steps.push({ do: 'create-key', because: `there is no Secret ${name} yet`, cluster, name });
    return undefined;
  };
  const apiKey = keyIn(apikey, children.apiKey, names.apiKey);
  const readKey = keyIn(readApikey, children.readKey, names.readKey);
  const secretName = tls?.secretName ?? names.certificate;
  if (tls?.enabled && tls.secretName !== undefined) {
    const trouble = troubleWith(certificate, tls.secretName, situation);
    if (trouble) return trouble;
  }
  // Without a pair and somebody to trust, no peer could start.
  if (tls?.enabled && tls.secretName === undefined && !isWhole(observed.children)) steps.push(...renewing(situation));
  if (steps.length > 0) return { is: 'unprepared', steps };
  const credentials = { apiKey, readKey, tls: tls?.enabled ? certificatesOf(secretName, certificate) : undefined };
  if (!apiKey?.isGiven) return { is: 'admitted', credentials };
  const announced = announcing(situation, credentials, apiKey);
  if (announced) return { is: 'admitted', credentials: announced };
  const previous = previousKey(situation, credentials);
  return { is: 'admitted', credentials: { ...credentials, apiKey: { ...apiKey, previous } } };
}

/**
 * Another key is taken by every peer beside the one that clients have, before it takes its place: so at every moment the key
 * in the Secret opens all peers. Undefined if it may take its place now, or if peers are too old to have two.
 */
function announcing(situation: Situation, credentials: Credentials, apiKey: ApiKey): Credentials | undefined {
  const { members } = situation.sight;
  const current = decoded(situation.observed.children.apiKey, KEY);
  const canHaveTwo = members.length > 0 && members.every(({ view }) => isFrom(view.version, 1, 17));
  if (current === undefined || current === apiKey.value || !canHaveTwo) return undefined;
  const both = { ...credentials, apiKey: { value: current, next: apiKey.value, isGiven: true } };
  return isRolledOut(situation, both) ? undefined : both;
}

/** A Secret of the user's own that peers can't use, or could not all go over to. */
function troubleWith(secret: Secret | undefined, name: string, situation: Situation): Admission | undefined {
  const refused = (reason: string, because: string) => ({ is: 'refused' as const, reason, because });
  if (!secret) {
    return refused(
      'CertificateMissing',
      `there is no Secret ${name} with ${CERTIFICATE}, ${CERTIFICATE_KEY} and ${BUNDLE}`,
    );
  }
  const problem = problemWith(secret, situation.cluster, situation.now);
  if (problem !== undefined) return refused('CertificateInvalid', problem);
  const pod = cutOffBy(trustIn(secret), situation);
  if (pod === undefined) return undefined;
  return refused(
    'CertificateUnknown',
    `Secret ${name} has another authority, and ${pod} would not know who has it; put both authorities into ${BUNDLE} first, and let the new one sign once all peers have restarted`,
  );
}

function certificatesOf(secretName: string, secret: Secret | undefined): Certificates {
  const files = [CERTIFICATE, CERTIFICATE_KEY, BUNDLE].map((file) => secret?.data?.[file]);
  const hash = createHash('sha256').update(JSON.stringify(files)).digest('hex');
  return { secretName, hash, trust: trustIn(secret) };
}

/** Whether every pod has restarted with what it would be given now, and is well. */
export function isRolledOut({ cluster, observed, size }: Situation, credentials: Credentials): boolean {
  const { set } = observed.children;
  if (!set) return observed.pods.length === 0;
  const isApplied = set.spec?.template?.metadata?.annotations?.[HASH_ANNOTATION] === peerHash(cluster, credentials);
  const isObserved = (set.status?.observedGeneration ?? 0) >= (set.metadata.generation ?? 0);
  const { length } = observed.pods.filter((one) => !isOutdated(set.status?.updateRevision, one) && isReady(one.pod));
  return isApplied && isObserved && length === size && length === observed.pods.length;
}

/**
 * The key that peers have which did not restart yet: without it they would be out of reach, and so never be restarted. The
 * Secret is written before the StatefulSet: only one that was applied with the new key tells which pods have it.
 */
function previousKey({ cluster, observed }: Situation, credentials: Credentials): string | undefined {
  const { apiKey, set } = observed.children;
  const [value, previous] = [decoded(apiKey, KEY), decoded(apiKey, PREVIOUS_KEY)];
  if (value !== undefined && value !== credentials.apiKey?.value) return value;
  const isApplied = set?.spec?.template?.metadata?.annotations?.[HASH_ANNOTATION] === peerHash(cluster, credentials);
  const isObserved = (set?.status?.observedGeneration ?? 0) >= (set?.metadata.generation ?? 0);
  const hasIt = (one: PodSeen) => one.peer.known && !isOutdated(set?.status?.updateRevision, one);
  return isApplied && isObserved && observed.pods.every(hasIt) ? undefined : previous;
}
