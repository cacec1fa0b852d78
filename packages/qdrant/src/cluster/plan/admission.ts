import { createHash } from 'node:crypto';
import { type KubernetesObject, keyOf, type Secret } from '@polder/kube';
import type { QdrantCluster } from '../../kinds/index.ts';
import { INVALID_SPEC } from '../../reasons.ts';
import { problemsOf, problemsOfChange, type Standing } from '../judgement.ts';
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
import { cutOffBy, endOf, isWhole, problemWith, renewing, trustIn } from './certificate.ts';
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
  const standing = standingOf(situation);
  const problems = [...problemsOf(cluster), ...(standing ? problemsOfChange(standing, cluster) : [])];
  if (problems.length > 0) return { is: 'refused', reason: INVALID_SPEC, because: problems.join('; ') };
  const stranger = strangerAmong(cluster, observed.children);
  if (stranger !== undefined) return { is: 'refused', reason: 'NameTaken', because: stranger };
  return credentialsOf(situation);
}

/** As the StatefulSet has started them: a spec may have changed several times since. */
function standingOf(situation: Situation): Standing | undefined {
  const { set } = situation.observed.children;
  if (!set) return undefined;
  const env = set.spec?.template?.spec?.containers[0]?.env ?? [];
  return {
    size: templateSize(set, VOLUMES.storage),
    hasTls: env.some(({ name }) => name === 'QDRANT__CLUSTER__P2P__ENABLE_TLS'),
    peers: sizeOfMembers(situation),
  };
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
  return { secretName, hash, trust: trustIn(secret), ends: endOf(secret) };
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
