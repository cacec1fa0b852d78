import { isConflict, isNotFound, Pod, type ReplicaSetStatus, type StepNamed, type World } from '@polder/kube';
import { explanationOf, isNamespaceGoing } from '../refusals.ts';
import type { ScaleStep } from './plan.ts';

/** The server did not let a pod come or go. */
export class ScaleFailed extends Error {
  override readonly name = 'ScaleFailed';
  readonly reason: 'FailedCreate' | 'FailedDelete';
  /** The pods as they were before. */
  readonly counted: ReplicaSetStatus;

  constructor(reason: ScaleFailed['reason'], message: string, counted: ReplicaSetStatus, options: ErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.counted = counted;
  }
}

export async function createPod(
  { pod, counted }: StepNamed<ScaleStep, 'create-pod'>,
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
    throw new ScaleFailed('FailedCreate', because, counted, { cause: error });
  }
}

export async function deletePod(
  { pod, counted }: StepNamed<ScaleStep, 'delete-pod'>,
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
    tell({ type: 'Warning', reason: 'FailedDelete', action: 'Delete', note: `Error deleting: ${because}` });
    throw new ScaleFailed('FailedDelete', `unable to delete pods: ${because}`, counted, { cause: error });
  }
}
