import type { PodSpec, Rule } from '@polder/kube';
import type { Observed } from '../observe.ts';
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

/** Why a processor may be at work, even if none is seen: what was scaled to 0 this moment has not been told so yet. */
function stillRunning({ children: { deployment }, pods }: Observed): string | undefined {
  const [pod] = pods;
  if (pod) return `pod ${pod.metadata.name} still runs and would write its position again`;
  if (!deployment) return undefined;
  const { metadata, spec, status } = deployment;
  const isObserved = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  const isAtZero = spec?.replicas === 0 && isObserved && !status?.replicas;
  return isAtZero ? undefined : `Deployment ${metadata.name} has not been scaled to 0 yet`;
}

/** Who is made as `uses` looks for: a pod, or the Deployment, which may still make such pods. */
function userAmong({ children, pods }: Observed, uses: (spec: PodSpec) => boolean): string | undefined {
  const pod = pods.find(({ spec }) => spec && uses(spec));
  if (pod) return `pod ${pod.metadata.name}`;
  const template = children.deployment?.spec?.template?.spec;
  return template && uses(template) ? `the Deployment ${children.deployment?.metadata.name}` : undefined;
}
