import { Deployment, ownerReference, type ReplicaSet } from '@polder/kube';
import { condition, conditionOf, PROGRESSING, withCondition } from '../conditions.ts';
import { isRolling, maxSurge, sizeOf } from '../limits.ts';
import { hasDeadline } from '../progress.ts';
import { currentAnnotations, revisionOf, sizeAnnotations } from '../revisions.ts';
import { HASH_LABEL, templateHash } from '../template.ts';
import { type Draft, type NewSet, replaced, setsOf, withStep } from './draft.ts';
import { annotated, isUpToDate, respecified, total } from './sets.ts';

const LONGEST_NAME = 253;

/** The name of the set that this deployment would create. The same in every pass: created twice, it is refused. */
export function nameOfNewSet(deployment: Deployment): string {
  const hash = templateHash(deployment);
  return `${deployment.metadata.name.slice(0, LONGEST_NAME - hash.length - 1)}-${hash}`;
}

/** Brings the annotations of the current set up to date, if there is one. */
export function refreshed(draft: Draft, now: Date): Draft {
  const { deployment, current } = draft;
  if (!current) return draft;
  const { minReadySeconds = 0 } = deployment.spec ?? {};
  const annotations = currentAnnotations(deployment, current.metadata.annotations ?? {}, nextRevision(draft));
  const found = withFound(draft, current, now);
  const isSame = (current.spec?.minReadySeconds ?? 0) === minReadySeconds;
  if (isUpToDate(current, annotations) && isSame) return found;
  const told = annotated(current, annotations);
  const after = isSame ? told : respecified(told, { minReadySeconds });
  const because = `it is revision ${revisionOf(after)} of deployment ${deployment.metadata.name}`;
  return withStep(replaced(found, after), { do: 'annotate-replica-set', because, set: after });
}

/** A deployment that starts to care about progress has its set already: from here on it counts. */
function withFound(draft: Draft, { metadata }: ReplicaSet, now: Date): Draft {
  if (!hasDeadline(draft.deployment) || conditionOf(draft.conditions, PROGRESSING)) return draft;
  const found = condition(PROGRESSING, 'True', 'FoundNewReplicaSet', `Found new replica set "${metadata.name}"`, now);
  return { ...draft, conditions: withCondition(draft.conditions, found) };
}

/** With a current set, created if there is none. There is still none if its name was taken: then it gets another. */
export function created(draft: Draft, namesake: ReplicaSet | undefined, now: Date): Draft {
  if (draft.current) return draft;
  // A set with the right name and the wrong content: two templates with one hash, or somebody else's. Counting it changes
  // the hash, and the next pass finds a name that is free.
  if (namesake) return { ...draft, collisionCount: (draft.collisionCount ?? 0) + 1 };
  const { deployment } = draft;
  const set = newSet(draft);
  const current: ReplicaSet = {
    ...set,
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: '', ...set.metadata },
  };
  const { name } = current.metadata;
  const because = `no replica set has the template of deployment ${deployment.metadata.name}`;
  const next = withStep({ ...draft, current }, { do: 'create-replica-set', because, set });
  if (!hasDeadline(deployment)) return next;
  const news = condition(PROGRESSING, 'True', 'NewReplicaSetCreated', `Created new replica set "${name}"`, now);
  return { ...next, conditions: withCondition(draft.conditions, news) };
}

function newSet(draft: Draft): NewSet {
  const { deployment } = draft;
  const { selector, template, minReadySeconds = 0 } = deployment.spec ?? { selector: {} };
  const { namespace } = deployment.metadata;
  const hash = { [HASH_LABEL]: templateHash(deployment) };
  const labels = { ...template?.metadata?.labels, ...hash };
  return {
    metadata: {
      name: nameOfNewSet(deployment),
      ...(namespace && { namespace }),
      labels,
      annotations: { ...currentAnnotations(deployment, {}, nextRevision(draft)), ...sizeAnnotations(deployment) },
      ownerReferences: [ownerReference(Deployment, deployment)],
    },
    spec: {
      replicas: roomForNew(draft, 0),
      ...(minReadySeconds > 0 && { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, ...hash } },
      template: { ...template, metadata: { ...template?.metadata, labels } },
    },
  };
}

/** How large the current set may be now: as large as wanted, but never more pods altogether than the surge allows. */
export function roomForNew(draft: Draft, size: number): number {
  const { deployment } = draft;
  const wanted = sizeOf(deployment);
  if (!isRolling(deployment)) return wanted;
  const room = wanted + maxSurge(deployment) - total(setsOf(draft));
  return room <= 0 ? size : Math.min(size + room, wanted);
}

/** One more than that of any other set. */
const nextRevision = ({ old }: Draft) => Math.max(0, ...old.map(revisionOf)) + 1;
