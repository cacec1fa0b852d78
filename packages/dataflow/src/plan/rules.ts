import type { Deployment, PodSpec, ReplicaSet, Rule } from '@polder/kube';
import type { Observed } from '../observe.ts';
import { hashOf } from './health.ts';
import type { FlowStep } from './step.ts';

/** Every way in which a step could make a processor fail, or read again what it has read, has its rule here. */
export const rules: readonly Rule<FlowStep, Observed>[] = [
  {
    // A processor that stops writes its position once more: after the reset, which would then not have been one.
    name: 'a-processor-keeps-its-checkpoint',
    forbids(step, observed) {
      return step.do === 'reset-checkpoint' ? stillRunning(observed) : undefined;
    },
  },
  {
    // What is applied from then on would be read by all of them, and by those that are still to come.
    name: 'a-polled-source-has-one-reader',
    forbids(step, observed) {
      return step.do === 'set-recreate' ? stillRunning(observed) : undefined;
    },
  },
  {
    // Without it a container of theirs could not start again.
    name: 'a-pod-keeps-what-it-mounts',
    forbids(step, observed) {
      if (step.do !== 'remove-secrets') return undefined;
      const { name } = step.secret.metadata;
      const user = userAmong(observed, ({ volumes = [] }) =>
        volumes.some(({ projected }) => projected?.sources?.some(({ secret }) => secret?.name === name)),
      );
      return user && `${user} mounts ${name}`;
    },
  },
  {
    // Without it the last checkpoint of a processor that stops would be lost, and what came after it read again.
    name: 'a-pod-keeps-its-access',
    forbids(step, observed) {
      if (step.do !== 'remove-access') return undefined;
      const name = step.access.account?.metadata.name ?? step.access.role?.metadata.name;
      const user = userAmong(observed, ({ serviceAccountName }) => serviceAccountName === name);
      return user && `${user} runs as ${name}`;
    },
  },
];

/** Why a processor may be at work, even if none is seen. */
function stillRunning(observed: Observed): string | undefined {
  const [pod] = observed.pods;
  if (pod) return `pod ${pod.metadata.name} still runs`;
  const { deployment } = observed.children;
  if (!deployment || (deployment.spec?.replicas === 0 && isRolledOut(deployment, observed.sets))) return undefined;
  return `Deployment ${deployment.metadata.name} is not at 0 yet`;
}

/** Who is made as `uses` looks for: a pod, or one that may still be made. */
function userAmong({ children, sets, pods }: Observed, uses: (spec: PodSpec) => boolean): string | undefined {
  const pod = pods.find(({ spec }) => spec && uses(spec));
  if (pod) return `pod ${pod.metadata.name}`;
  const { deployment } = children;
  const template = deployment?.spec?.template?.spec;
  if (!deployment || (isRolledOut(deployment, sets) && template && !uses(template))) return undefined;
  return `a pod that Deployment ${deployment.metadata.name} may still make`;
}

/**
 * Whether no pod of an earlier template can come any more. That none is seen does not tell: a Deployment whose replicas change
 * together with its template first scales what it has; and its ReplicaSets may be seen later than what it says of them, so
 * the newest of them has to be among those that are.
 */
function isRolledOut(deployment: Deployment, sets: readonly ReplicaSet[]): boolean {
  const { metadata, spec, status } = deployment;
  const replicas = spec?.replicas ?? 1;
  const { observedGeneration = 0, updatedReplicas = 0, replicas: all = 0 } = status ?? {};
  const isComplete =
    observedGeneration >= (metadata.generation ?? 0) && updatedReplicas === replicas && all === replicas;
  const isCurrent = (set: ReplicaSet) => hashOf(set) === hashOf(deployment);
  return isComplete && sets.some(isCurrent) && !sets.some((set) => !isCurrent(set) && wantsPods(set));
}

const wantsPods = ({ spec, status }: ReplicaSet) => spec?.replicas !== 0 || (status?.replicas ?? 0) > 0;
