import {
  type DaemonSetStatus,
  isConflict,
  isNotFound,
  Pod,
  type StepNamed,
  type Steps,
  type World,
} from '@polder/kube';
import { explanationOf, isNamespaceGoing } from '../refusals.ts';
import type { FailureBackoff } from './failure-backoff.ts';
import type { DaemonStep } from './plan/index.ts';

/** Something could not be done about a daemon. What was seen of the others is reported all the same. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed';
  readonly status: DaemonSetStatus;

  constructor(status: DaemonSetStatus, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

export const daemonSteps = (failures: FailureBackoff): Steps<DaemonStep, World> => ({
  'create-pod': createPod,
  'delete-pod': deletePod,
  'replace-pod': async (step, world) => {
    const { pod, node, failure } = step;
    const found = `daemon pod ${pod.metadata.namespace}/${pod.metadata.name} on node ${node}`;
    const about = { action: 'Delete', related: pod };
    if (failure) {
      failures.replaced(failure.key, failure.at);
      const note = `Found failed ${found}, will try to kill it`;
      world.tell({ type: 'Warning', reason: 'FailedDaemonPod', note, ...about });
    } else {
      const note = `Found succeeded ${found}, will try to delete it`;
      world.tell({ type: 'Normal', reason: 'SucceededDaemonPod', note, ...about });
    }
    await deletePod(step, world);
  },
});

async function createPod(
  { pod, status }: StepNamed<DaemonStep, 'create-pod'>,
  { cluster, tell }: World,
): Promise<void> {
  try {
    const created = await cluster.create(Pod, pod);
    const note = `Created pod: ${created.metadata.name}`;
    tell({ type: 'Normal', reason: 'SuccessfulCreate', action: 'Create', note, related: created });
  } catch (error) {
    if (isNamespaceGoing(error)) return;
    const because = explanationOf(error);
    tell({ type: 'Warning', reason: 'FailedCreate', action: 'Create', note: `Error creating: ${because}` });
    throw new StepFailed(status, because, { cause: error });
  }
}

async function deletePod(
  { pod, status }: StepNamed<DaemonStep, 'delete-pod' | 'replace-pod'>,
  { cluster, tell }: World,
): Promise<void> {
  try {
    await cluster.delete(Pod, pod);
    const note = `Deleted pod: ${pod.metadata.name}`;
    tell({ type: 'Normal', reason: 'SuccessfulDelete', action: 'Delete', note, related: pod });
  } catch (error) {
    // Somebody else was faster; a conflict means that the name belongs to a successor already.
    if (isNotFound(error) || isConflict(error)) return;
    const because = explanationOf(error);
    tell({
      type: 'Warning',
      reason: 'FailedDelete',
      action: 'Delete',
      note: `Error deleting: ${because}`,
      related: pod,
    });
    throw new StepFailed(status, because, { cause: error });
  }
}
