/**
 * The certificates of peers. They talk to each other by mutual TLS with one pair, and read it once, at their start: so what
 * changes is rolled out pod by pod, and at every moment each peer has to take what any other one shows. A new authority is
 * trusted by all before it signs, and the one before is trusted until nobody shows what it signed: three rollouts, and a
 * peer that restarts by itself in between finds nothing that the others would not take.
 */
import { createHash, X509Certificate } from 'node:crypto';
import {
  certificatesIn,
  expiryOf,
  type HeldCertificates,
  isForAll,
  isIssuedBy,
  isPair,
  nextRotation,
  type Pod,
  type Rotation,
  type RotationTerms,
  type Secret,
} from '@polder/kube';
import type { QdrantCluster } from '../../kinds/index.ts';
import {
  AUTHORITY,
  BUNDLE,
  CERTIFICATE,
  CERTIFICATE_KEY,
  certificateHosts,
  decoded,
  ENDS_ANNOTATION,
  hostOf,
  namesOf,
  namespaceOf,
  QDRANT,
  TRUST_ANNOTATION,
} from '../objects/index.ts';
import type { Children } from '../observe.ts';
import type { Situation } from './situation.ts';
import type { ClusterStep } from './step.ts';

const DAY_MS = 24 * 3_600_000;

/** Renewed after two thirds of their time; an authority outlives what it signs. */
export const PEER_TERMS: RotationTerms = {
  name: 'Qdrant peers',
  use: 'peer',
  authority: { validMs: 3_650 * DAY_MS, renewBeforeMs: 3_650 * (DAY_MS / 3) },
  leaf: { validMs: 365 * DAY_MS, renewBeforeMs: 365 * (DAY_MS / 3) },
  former: 'while-it-is-shown',
};

/** What is written next; `publish`: the authorities that are kept are not those that peers are given. */
export type Renewal = Exclude<Rotation['do'], 'nothing'> | 'publish';

/** What the two Secrets of a cluster hold together, and what is missing in them. */
export interface Issued {
  readonly held: HeldCertificates | undefined;
  /** What has to be mended before anything else. */
  readonly mend: Renewal | undefined;
}

export function issuedIn({ certificate, authority }: Pick<Children, 'certificate' | 'authority'>): Issued {
  const serving = {
    certificate: decoded(certificate, CERTIFICATE) ?? '',
    key: decoded(certificate, CERTIFICATE_KEY) ?? '',
  };
  const given = certificatesIn(decoded(certificate, BUNDLE) ?? '');
  const kept = certificatesIn(decoded(authority, AUTHORITY.certificates) ?? '');
  const authorityKey = decoded(authority, AUTHORITY.key) ?? '';
  const [signing, ...older] = kept;
  if (signing === undefined || !isPair({ certificate: signing, key: authorityKey })) {
    // Who lost the key of an authority can't sign with it any more; what it signed is still shown and has to be trusted.
    const [first, ...rest] = given;
    if (first === undefined || !isPair(serving)) return { held: undefined, mend: 'start-over' };
    return { held: { authorities: [first, ...rest], authorityKey, serving }, mend: 'add-authority' };
  }
  const held: HeldCertificates = { authorities: [signing, ...older], authorityKey, serving };
  if (!isPair(serving)) return { held, mend: 'issue' };
  return { held, mend: given.join('') === kept.join('') ? undefined : 'publish' };
}

/** Whether peers can start with what there is: a pair, and somebody to trust. */
export function isWhole(children: Pick<Children, 'certificate' | 'authority'>): boolean {
  const { mend } = issuedIn(children);
  return mend !== 'start-over' && mend !== 'issue';
}

/** The next step of the rotation of certificates that are ours. What waits for a rollout is for a rule to say. */
export function renewing({ cluster, observed, now }: Situation): readonly ClusterStep[] {
  const { tls } = cluster.spec;
  if (!tls?.enabled || tls.secretName !== undefined) return [];
  const { held, mend } = issuedIn(observed.children);
  const next = mend ?? nextRotation(held, certificateHosts(cluster), true, now.getTime(), PEER_TERMS).do;
  if (next === 'nothing') return [];
  return [{ do: 'renew-certificate', because: WHY[next], cluster, next }];
}

const WHY: Readonly<Record<Renewal, string>> = {
  'start-over': 'there is none that anybody could trust',
  'add-authority': 'the authority ends soon, or its key is lost: a new one is trusted before it signs',
  issue: 'the certificate ends soon, or is of an authority that ends soon',
  publish: 'peers are given the authorities that are kept',
  'drop-former': 'nobody shows what the authority before has signed',
};

/** Why a renewal has to wait; undefined if it need not. One that has ended is refused by everybody: it waits for nothing. */
export function waitsFor(next: Renewal, { observed, isRolledOut, now }: Situation): string | undefined {
  if (isRolledOut || next === 'start-over' || next === 'publish') return undefined;
  const { held } = issuedIn(observed.children);
  if (next === 'issue' && held && !(isPair(held.serving) && expiryOf(held.serving.certificate) > now.getTime())) {
    return undefined;
  }
  return 'not every peer has restarted with what was written last';
}

/** What is wrong with a Secret that peers are to use, in the words of whoever has to mend it. */
export function problemWith(secret: Secret, cluster: QdrantCluster, now: Date): string | undefined {
  const name = `Secret ${secret.metadata.name}`;
  const [cert, key, bundle] = [CERTIFICATE, CERTIFICATE_KEY, BUNDLE].map((file) => decoded(secret, file) ?? '');
  const files = { [CERTIFICATE]: cert, [CERTIFICATE_KEY]: key, [BUNDLE]: bundle };
  const missing = Object.entries(files).find(([, text]) => !text)?.[0];
  if (missing !== undefined) return `${name} has no ${missing}; it needs ${Object.keys(files).join(', ')}`;
  const [chain, authorities] = [certificatesIn(cert ?? ''), certificatesIn(bundle ?? '')];
  const leaf = parsed(chain[0]);
  if (!leaf) return `${CERTIFICATE} of ${name} is no certificate in PEM`;
  if (authorities.length === 0 || !authorities.every(parsed)) return `${BUNDLE} of ${name} is no certificate in PEM`;
  if (!isPair({ certificate: chain[0] ?? '', key: key ?? '' })) {
    return `${CERTIFICATE_KEY} of ${name} is not the key of its ${CERTIFICATE}`;
  }
  if (leaf.validToDate <= now) return `${CERTIFICATE} of ${name} has ended on ${leaf.validToDate.toISOString()}`;
  if (anchorOf(chain, authorities) === undefined) {
    return `${CERTIFICATE} of ${name} is not signed by any authority in its ${BUNDLE}: peers would refuse each other`;
  }
  const uncovered = hostsOf(cluster).find((host) => !isForAll(chain[0] ?? '', [host]));
  if (uncovered !== undefined) {
    return `${CERTIFICATE} of ${name} is not good for ${uncovered}; its names must cover ${hostsOf(cluster).join(', ')}`;
  }
  const unusable = USES.find(([, oid]) => leaf.keyUsage !== undefined && !leaf.keyUsage.includes(oid));
  return unusable && `${CERTIFICATE} of ${name} may not be used for ${unusable[0]}: a peer is both server and client`;
}

/** Extended key usages that a certificate has to have, if it has any. */
const USES = [
  ['serverAuth', '1.3.6.1.5.5.7.3.1'],
  ['clientAuth', '1.3.6.1.5.5.7.3.2'],
] as const;

/** By which peers call each other, those that join the cluster, and clients one of them. */
function hostsOf(cluster: QdrantCluster): readonly string[] {
  const { headless, service } = namesOf(cluster);
  const namespace = namespaceOf(cluster);
  const peers = Array.from({ length: cluster.spec.replicas }, (_, ordinal) => hostOf(cluster, ordinal));
  return [...peers, `${headless}.${namespace}`, `${service}.${namespace}`];
}

/** The authority in a bundle to which a certificate leads, over those that come with it. */
function anchorOf(chain: readonly string[], authorities: readonly string[]): string | undefined {
  let [current] = chain;
  for (let steps = 0; current !== undefined && steps <= chain.length; steps++) {
    const subject = current;
    const anchor = authorities.find((one) => isIssuedBy(subject, one));
    if (anchor !== undefined) return anchor;
    current = chain.find((one) => one !== subject && isIssuedBy(subject, one));
  }
  return undefined;
}

/** For the annotation of pods: who signed what a peer shows, and whom it trusts. */
export function trustIn(secret: Secret | undefined): string {
  const [chain, authorities] = [CERTIFICATE, BUNDLE].map((file) => certificatesIn(decoded(secret, file) ?? ''));
  const anchor = anchorOf(chain ?? [], authorities ?? []);
  return [anchor, ...(authorities ?? [])].map((one) => (one === undefined ? 'nobody' : fingerprintOf(one))).join(' ');
}

/** For the annotation of pods: when what a peer shows ends. */
export function endOf(secret: Secret | undefined): string {
  const [leaf] = certificatesIn(decoded(secret, CERTIFICATE) ?? '');
  return parsed(leaf)?.validToDate.toISOString() ?? '';
}

/**
 * Whether a peer shows a certificate that has ended, though there is another one by now. Nobody takes a new connection from
 * it, and it makes none, until it starts anew: whatever it has is on its volume, and comes back with it. A peer whose
 * container has started since then shows the new one, whatever its pod was made with.
 */
export function showsEnded(pod: Pod, { observed, now }: Situation): boolean {
  const ends = pod.metadata.annotations?.[ENDS_ANNOTATION];
  const [leaf] = certificatesIn(decoded(observed.children.certificate, CERTIFICATE) ?? '');
  const renewal = parsed(leaf);
  if (!ends || !renewal || Date.parse(ends) > now.getTime() || renewal.validToDate <= now) return false;
  const { state } = pod.status?.containerStatuses?.find(({ name }) => name === QDRANT) ?? {};
  return state?.running?.startedAt !== undefined && new Date(state.running.startedAt) < renewal.validFromDate;
}

const fingerprintOf = (certificate: string) =>
  createHash('sha256').update(new X509Certificate(certificate).raw).digest('hex').slice(0, 16);

/** A pod whose peer would not take what the Secret has, or the other way round: between the two there is no rollout. */
export function cutOffBy(trust: string, { observed }: Situation): string | undefined {
  const [signer = '', ...trusted] = trust.split(' ');
  const cutOff = observed.pods.find(({ pod }) => {
    const before = pod.metadata.annotations?.[TRUST_ANNOTATION];
    const [itsSigner = '', ...itsTrusted] = before?.split(' ') ?? [];
    return before !== undefined && !(trusted.includes(itsSigner) && itsTrusted.includes(signer));
  });
  return cutOff?.pod.metadata.name;
}

function parsed(certificate: string | undefined): X509Certificate | undefined {
  try {
    return new X509Certificate(certificate ?? '');
  } catch {
    return undefined;
  }
}
