import { isDeepStrictEqual } from 'node:util';
import {
  type ControllerRevision,
  type Kind,
  type KubernetesObject,
  type LabelSelector,
  ownerReference,
  type PodTemplateSpec,
} from '@polder/kube';
import { type Claimable, claimant, claimsOf } from '../ownership.ts';
import { hashOf } from './hash.ts';
import { snapshotOf, templateIn } from './snapshot.ts';
import type { RevisionStep } from './steps.ts';

/** The templates that a workload has had, and still can go back to. */
export interface History {
  /** Oldest first. The one of the template as it is now is the newest, and not among them if it is yet to be made. */
  readonly revisions: readonly RecordedRevision[];
  readonly newest: Revision;
  /** What makes it so: to take in revisions that nobody controls, and to record the template if it is new. */
  readonly steps: readonly RevisionStep[];
}

/** A template with its name. */
export interface Revision {
  readonly name: string;
  /** What distinguishes it among the workload's revisions: the end of its name. */
  readonly hash: string;
  readonly template: PodTemplateSpec;
}

export interface RecordedRevision extends Revision {
  readonly object: ControllerRevision;
}

export interface Workload<T> {
  readonly kind: Kind<T & KubernetesObject>;
  readonly owner: T;
  readonly template: PodTemplateSpec;
  readonly selector: LabelSelector;
  /** Under which label the revisions of this kind of workload carry their hash. */
  readonly hashLabel: string;
  /** How often a name was taken already; it goes into the next one. */
  readonly collisionCount: number;
}

export type Revisions = Claimable<ControllerRevision>;

/** A template that was there before gets its old revision back, with the highest number: that is what a rollback is. */
export function historyOf<T extends KubernetesObject>(workload: Workload<T>, observed: Revisions): History {
  const { kept, adopted: orphans } = claimsOf(workload.owner, workload.selector, observed);
  const adopted = orphans.map((revision): RevisionStep => {
    const because = `the selector matches revision ${revision.metadata.name}, which nobody controls`;
    return { do: 'adopt-revision', because, revision, by: claimant(workload.kind, workload.owner) };
  });
  const revisions = [...kept, ...orphans]
    .toSorted(byNumber)
    .flatMap((object) => recordedRevision(object, workload.hashLabel));

  const snapshot = snapshotOf(workload.template);
  const last = revisions.at(-1);
  const equal = revisions.findLast(({ object }) => isDeepStrictEqual(object.data, snapshot));
  const number = (last?.object.revision ?? 0) + 1;
  if (!equal) {
    const { newest, step } = newRevision(workload, number);
    return { revisions, newest, steps: [...adopted, step] };
  }
  if (equal === last) return { revisions, newest: equal, steps: adopted };
  const because = `the template is that of revision ${equal.name} again`;
  const renumber: RevisionStep = { do: 'renumber-revision', because, revision: equal.object, number };
  return { revisions, newest: equal, steps: [...adopted, renumber] };
}

/** Nothing if it keeps something else than a template. */
function recordedRevision(object: ControllerRevision, hashLabel: string): readonly RecordedRevision[] {
  const { name, labels } = object.metadata;
  const template = templateIn(object);
  return template ? [{ name, hash: labels?.[hashLabel] ?? name, template, object }] : [];
}

function newRevision<T extends KubernetesObject>(
  { kind, owner, template, hashLabel, collisionCount }: Workload<T>,
  number: number,
): { readonly newest: Revision; readonly step: RevisionStep } {
  const { name, namespace = '', annotations } = owner.metadata;
  const snapshot = snapshotOf(template);
  const hash = hashOf(snapshot, collisionCount);
  const newest = { name: `${name.slice(0, LONGEST_PREFIX)}-${hash}`, hash, template };
  const metadata = {
    name: newest.name,
    namespace,
    labels: { ...template.metadata?.labels, [hashLabel]: hash },
    ...(annotations && { annotations }),
    ownerReferences: [ownerReference(kind, owner)],
  };
  const revision = { metadata, data: { ...snapshot }, revision: number };
  return { newest, step: { do: 'create-revision', because: 'the template is new', revision } };
}

const LONGEST_PREFIX = 223;

/** Forgets so many of these that nobody uses, the oldest first. */
export function forget(unused: readonly RecordedRevision[], surplus: number): readonly RevisionStep[] {
  return unused.slice(0, Math.max(0, surplus)).map(({ object }) => {
    return { do: 'delete-revision', because: 'it is older than the history goes back', revision: object };
  });
}

function byNumber(a: ControllerRevision, b: ControllerRevision): number {
  if (a.revision !== b.revision) return a.revision - b.revision;
  const [since = '', until = ''] = [a, b].map(({ metadata }) => metadata.creationTimestamp);
  if (since !== until) return since < until ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
