import { type Act, ApiError, type DaemonSetStatus, isNotFound, messageOf, Pod, type World } from '@polder/kube';
import type { FailureBackoff } from './failure-backoff.ts';
import type { DaemonStep } from './plan/index.ts';

type StepNamed<Name extends DaemonStep['do']> = Extract<DaemonStep, { do: Name }>;

/** Something could not be done about a daemon. What was seen of the others is reported all the same. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed';
  readonly status: DaemonSetStatus;

  constructor(status: DaemonSetStatus, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

type DaemonSteps = { readonly [Name in DaemonStep['do']]: Act<StepNamed<Name>, World> };

export const daemonSteps = (failures: FailureBackoff): DaemonSteps => ({
  'create-pod': async (step, world) => {
    const { metadata } = await world.cluster.create(Pod, step.pod).catch((error: unknown) => {
      throw refused('creating', error, step, world);
    });
    const note = `Created pod: ${metadata.name}`;
    world.tell({ type: 'Normal', reason: 'SuccessfulCreate', action: 'Create', note });
  },
  'delete-pod': deletePod,
  'replace-pod': async (step, world) => {
    const { pod, node, failure } = step;
    const found = `daemon pod ${pod.metadata.namespace}/${pod.metadata.name} on node ${node}`;
    if (failure) {
      failures.replaced(failure.key, failure.at);
      const note = `Found failed ${found}, will try to kill it`;
      world.tell({ type: 'Warning', reason: 'FailedDaemonPod', action: 'Delete', note });
    } else {
      const note = `Found succeeded ${found}, will try to delete it`;
      world.tell({ type: 'Normal', reason: 'SucceededDaemonPod', action: 'Delete', note });
    }
    await deletePod(step, world);
  },
});

async function deletePod(step: StepNamed<'delete-pod' | 'replace-pod'>, world: World): Promise<void> {
  try {
    await world.cluster.delete(Pod, step.pod);
  } catch (error) {
    if (isNotFound(error)) return;
    throw refused('deleting', error, step, world);
  }
  const note = `Deleted pod: ${step.pod.metadata.name}`;
  world.tell({ type: 'Normal', reason: 'SuccessfulDelete', action: 'Delete', note });
}

function refused(doing: 'creating' | 'deleting', error: unknown, { status }: DaemonStep, { tell }: World): unknown {
  if (!(error instanceof ApiError)) return error;
  const action = doing === 'creating' ? 'Create' : 'Delete';
  // Without the audit id: the same refusal is to be the same event.
  tell({ type: 'Warning', reason: `Failed${action}`, action, note: `Error ${doing}: ${error.explanation}` });
  return new StepFailed(status, messageOf(error), { cause: error });
}
