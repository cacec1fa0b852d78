import { isConflict, isNotFound, type NewObject, Pod, type World } from '@polder/kube';
import { explanationOf, isNamespaceGoing } from '../refusals.ts';

/** Creates a pod of a workload, and tells of it or of why not. */
export async function createPod(pod: NewObject<Pod>, { cluster, tell }: World): Promise<void> {
  try {
    const created = await cluster.create(Pod, pod);
    const note = `Created pod: ${created.metadata.name}`;
    // Events that differ in their note alone are one series; who wants to know wants to know of each pod.
    tell({ type: 'Normal', reason: 'SuccessfulCreate', action: 'Create', note, related: created });
  } catch (error) {
    if (isNamespaceGoing(error)) return;
    const note = `Error creating: ${explanationOf(error)}`;
    tell({ type: 'Warning', reason: 'FailedCreate', action: 'Create', note });
    throw error;
  }
}

/** Deletes a pod of a workload, and tells of it or of why not. */
export async function deletePod(pod: Pod, { cluster, tell }: World): Promise<void> {
  try {
    await cluster.delete(Pod, pod);
    const note = `Deleted pod: ${pod.metadata.name}`;
    tell({ type: 'Normal', reason: 'SuccessfulDelete', action: 'Delete', note, related: pod });
  } catch (error) {
    // Somebody else was faster; a conflict means that the name belongs to a successor already.
    if (isNotFound(error) || isConflict(error)) return;
    const note = `Error deleting: ${explanationOf(error)}`;
    tell({ type: 'Warning', reason: 'FailedDelete', action: 'Delete', note, related: pod });
    throw error;
  }
}
