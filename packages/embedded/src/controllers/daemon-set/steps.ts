import type { DaemonSetStatus, Steps, World } from '@polder/kube';
import { createPod, deletePod } from '../pods/index.ts';
import { explanationOf } from '../refusals.ts';
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
  'create-pod': ({ pod, status }, world) => createPod(pod, world).catch(orFail(status)),
  'delete-pod': ({ pod, status }, world) => deletePod(pod, world).catch(orFail(status)),
  'replace-pod': async ({ pod, node, failure, status }, world) => {
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
    await deletePod(pod, world).catch(orFail(status));
  },
});

const orFail = (status: DaemonSetStatus) => (error: unknown) => {
  throw new StepFailed(status, explanationOf(error), { cause: error });
};
