import type { Deployment, ReplicaSet } from '@polder/kube';
import { annotationsOf, ROLLBACK_TO, revisionOf } from '../revisions.ts';
import { sameTemplate, withoutHash } from '../template.ts';
import { type Draft, setsOf, withStep } from './draft.ts';

/** The revision that an old client asks to go back to; 0 is the one before this. */
export function rollbackRequest({ metadata }: Deployment): number | undefined {
  const revision = metadata.annotations?.[ROLLBACK_TO] ?? '';
  return /^[-+]?\d+$/.test(revision) ? Number(revision) : undefined;
}

/** Grants or refuses the request; either way it is over. */
export function rolledBack(draft: Draft, request: number): Draft {
  const { deployment } = draft;
  const sets = setsOf(draft);
  const revision = request === 0 ? lastRevision(sets) : request;
  if (revision === 0) return refused(draft, 'DeploymentRollbackRevisionNotFound', 'Unable to find last revision.');
  const target = sets.find((set) => revisionOf(set) === revision);
  if (!target) {
    return refused(draft, 'DeploymentRollbackRevisionNotFound', 'Unable to find the revision to rollback to.');
  }
  const { name } = deployment.metadata;
  const { template } = target.spec ?? {};
  if (sameTemplate(deployment.spec?.template, template)) {
    const because = `The rollback revision contains the same template as current deployment "${name}"`;
    return refused(draft, 'DeploymentRollbackTemplateUnchanged', because);
  }
  const before: Deployment = {
    ...deployment,
    metadata: { ...deployment.metadata, annotations: annotationsOf(deployment, target) },
    spec: { selector: {}, ...deployment.spec, template: withoutHash(template) },
  };
  return ended(draft, before, 'DeploymentRollback', `Rolled back deployment "${name}" to revision ${revision}`);
}

const refused = (draft: Draft, reason: string, because: string) => ended(draft, draft.deployment, reason, because);

function ended(draft: Draft, { metadata, ...rest }: Deployment, reason: string, because: string): Draft {
  const { [ROLLBACK_TO]: _, ...annotations } = metadata.annotations ?? {};
  const deployment = { ...rest, metadata: { ...metadata, annotations } };
  return withStep(draft, { do: 'end-rollback', because, deployment, reason });
}

/** The second highest. */
function lastRevision(sets: readonly ReplicaSet[]): number {
  return sets.map(revisionOf).toSorted((a, b) => b - a)[1] ?? 0;
}
