import { createHash } from 'node:crypto';
import { type KubernetesObject, keyOf, type Secret } from '@polder/kube';
import type { QdrantCluster } from '../../kinds/index.ts';
import { INVALID_SPEC } from '../../reasons.ts';
import { problemsOf, problemsOfChange, type Standing } from '../judgement.ts';
import {
  type ApiKey,
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
import { isOutdated } from './rules.ts';
import { type Situation, sizeOfMembers } from './situation.ts';
import type { ClusterStep } from './step.ts';
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
  if (tls?.enabled && !certificate) {
    if (tls.secretName !== undefined) {
      const because = `there is no Secret ${secretName} with cert.pem, key.pem and cacert.pem`;
      return { is: 'refused', reason: 'CertificateMissing', because };
    }
    steps.push({ do: 'issue-certificate', because: `there is no Secret ${secretName} yet`, cluster });
  }
  if (steps.length > 0) return { is: 'unprepared', steps };
  const hash = createHash('sha256')
    .update(JSON.stringify(certificate?.data ?? {}))
    .digest('hex');
  const credentials = { apiKey, readKey, tls: tls?.enabled ? { secretName, hash } : undefined };
  if (!apiKey?.isGiven) return { is: 'admitted', credentials };
  const previous = previousKey(situation, credentials);
  return { is: 'admitted', credentials: { ...credentials, apiKey: { ...apiKey, previous } } };
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
