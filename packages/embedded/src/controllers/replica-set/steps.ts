import { messageOf, Pod, type World } from '@polder/kube';
import type { ReplicaSetStep } from './plan.ts';

type StepNamed<Name extends ReplicaSetStep['do']> = Extract<ReplicaSetStep, { do: Name }>;

/** The server did not let a pod be. */
export class CreateFailed extends Error {}

export async function createPod({ pod }: StepNamed<'create-pod'>, { cluster, tell }: World): Promise<void> {
  try {
    const { metadata } = await cluster.create(Pod, pod);
    tell({ type: 'Normal', reason: 'SuccessfulCreate', action: 'Create', note: `Created pod: ${metadata.name}` });
  } catch (error) {
    const note = `Error creating: ${messageOf(error)}`;
    tell({ type: 'Warning', reason: 'FailedCreate', action: 'Create', note });
    throw new CreateFailed(messageOf(error), { cause: error });
  }
}

export async function deletePod({ pod }: StepNamed<'delete-pod'>, { cluster, tell }: World): Promise<void> {
  await cluster.delete(Pod, pod);
  tell({ type: 'Normal', reason: 'SuccessfulDelete', action: 'Delete', note: `Deleted pod: ${pod.metadata.name}` });
}
