import { type Controller, ControllerRevision, controller, DaemonSet, Node, Pod, type World, watch } from '@polder/kube';
import { watchUnowned } from '../ownership.ts';
import { claimSteps } from '../pods/index.ts';
import { revisionSteps } from '../revisions/index.ts';
import { FailureBackoff } from './failure-backoff.ts';
import { type Observed, observe } from './observe.ts';
import { type DaemonSetStep, planDaemonSet } from './plan/index.ts';
import { statusOfFailure } from './status.ts';
import { daemonSteps } from './steps.ts';

export function daemonSets(): Controller<DaemonSet, Observed, DaemonSetStep, World> {
  const failures = new FailureBackoff();
  return controller({
    kind: DaemonSet,
    reportsAs: 'daemonset-controller',
    owns: [Pod, ControllerRevision],
    watches: [
      watchUnowned(DaemonSet, Pod),
      // Whether a node is to have a daemon, its labels and taints say, and they change.
      watch(Node, (_, cached) => cached.list(DaemonSet).map((set) => set.metadata)),
    ],
    observe: (set, world) => observe(set, world, failures),
    plan: planDaemonSet,
    steps: { ...claimSteps, ...revisionSteps, ...daemonSteps(failures) },
    status: 'as-planned',
    failed: statusOfFailure,
  });
}
