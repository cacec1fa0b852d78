import { controller, Namespace, type NamespaceStatus } from '@polder/kube';
import { conditionsOf } from './conditions.ts';
import { planNamespace } from './plan.ts';
import { ContentDeletionFailed, type NamespaceTools, namespaceSteps } from './steps.ts';

export { NamespaceContents } from './contents.ts';

/** Empties namespaces that are being deleted, and lets them go. `contents` has to follow the API server. */
export const namespaces = (tools: NamespaceTools) =>
  controller({
    kind: Namespace,
    bell: tools.contents.bell,
    seesDeleted: true,
    observe: async ({ metadata }: Namespace) => tools.contents.of(metadata.name),
    plan: planNamespace,
    steps: namespaceSteps(tools),
    status: 'as-planned',
    failed: statusOfFailure,
  });

function statusOfFailure({ status = {} }: Namespace, error: unknown, now: Date): NamespaceStatus {
  if (!(error instanceof ContentDeletionFailed)) return status;
  const { failures } = error;
  return { ...status, conditions: conditionsOf(status.conditions ?? [], { failures }, now) };
}
