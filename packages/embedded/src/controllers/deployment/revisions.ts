/** What the sets of a deployment say about its history, in their annotations. `kubectl rollout` reads them. */
import type { Deployment, ReplicaSet } from '@polder/kube';
import { maxSurge, sizeOf } from './limits.ts';

export type Annotations = Readonly<Record<string, string>>;

export const REVISION = 'deployment.kubernetes.io/revision';
const HISTORY = 'deployment.kubernetes.io/revision-history';
const DESIRED = 'deployment.kubernetes.io/desired-replicas';
const MOST = 'deployment.kubernetes.io/max-replicas';
/** What `apps/v1beta1` had as a field. */
export const ROLLBACK_TO = 'deprecated.deployment.rollback.to';

/** Those that a deployment and its sets do not share. */
const OWN = [REVISION, HISTORY, DESIRED, MOST, ROLLBACK_TO, 'kubectl.kubernetes.io/last-applied-configuration'];

const LONGEST_HISTORY = 2000;

/** 0 if it has none. */
export function revisionOf({ metadata }: ReplicaSet): number {
  return integer(metadata.annotations?.[REVISION]) ?? 0;
}

/** The size of the deployment when it last scaled the set; undefined if it never did. */
export const desiredReplicas = ({ metadata }: ReplicaSet) => count(metadata.annotations?.[DESIRED]);

/** The most pods the deployment allowed itself when it last scaled the set. */
export const mostReplicas = ({ metadata }: ReplicaSet) => count(metadata.annotations?.[MOST]);

/** How a set remembers for which size of the deployment it was scaled. Tells scaling from rolling out. */
export function sizeAnnotations(deployment: Deployment): Annotations {
  const size = sizeOf(deployment);
  return { [DESIRED]: String(size), [MOST]: String(size + maxSurge(deployment)) };
}

/**
 * The annotations of the current set: the deployment's, and its place in the history. A set that served before and is used
 * again gets a new revision and keeps the old ones in its history.
 */
export function currentAnnotations(deployment: Deployment, set: Annotations, revision: number): Annotations {
  const before = integer(set[REVISION] ?? '0');
  if (before === undefined) return set; // somebody else numbers it
  const shared = { ...set, ...sharedOf(deployment.metadata.annotations) };
  if (before >= revision) return shared;
  const history = REVISION in set ? { [HISTORY]: extended(set[HISTORY], String(before)) } : {};
  return { ...shared, ...history, [REVISION]: String(revision) };
}

/** A deployment's annotations after it went back to the template of this set: those of then, as far as they are shared. */
export function annotationsOf(deployment: Deployment, { metadata }: ReplicaSet): Annotations {
  const own = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => OWN.includes(key));
  return { ...Object.fromEntries(own), ...sharedOf(metadata.annotations) };
}

function sharedOf(annotations: Annotations = {}): Annotations {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !OWN.includes(key)));
}

/** The oldest revisions fall off when it gets too long. */
function extended(history = '', revision: string): string {
  const revisions = [...history.split(',').filter((one) => one !== ''), revision];
  while (revisions.join(',').length > LONGEST_HISTORY) revisions.shift();
  return revisions.join(',');
}

function integer(text: string | undefined): number | undefined {
  return text !== undefined && /^[-+]?\d+$/.test(text) ? Number(text) : undefined;
}

function count(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) && Number(text) < 2 ** 31 ? Number(text) : undefined;
}
