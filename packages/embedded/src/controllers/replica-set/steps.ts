import type { ReplicaSetStatus, Steps, World } from '@polder/kube';
import { claimSteps, createPod, deletePod } from '../pods/index.ts';
import { explanationOf } from '../refusals.ts';
import type { ReplicaSetStep } from './plan.ts';

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

export const replicaSetSteps: Steps<ReplicaSetStep, World> = {
  ...claimSteps,
  'create-pod': async ({ pod, counted }, world) => {
    await createPod(pod, world).catch((error: unknown) => {
      throw new ScaleFailed('FailedCreate', explanationOf(error), counted, { cause: error });
    });
  },
  'delete-pod': async ({ pod, counted }, world) => {
    await deletePod(pod, world).catch((error: unknown) => {
      throw new ScaleFailed('FailedDelete', `unable to delete pods: ${explanationOf(error)}`, counted, {
        cause: error,
      });
    });
  },
};
