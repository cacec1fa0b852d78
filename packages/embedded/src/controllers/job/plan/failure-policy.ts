import type { ContainerStatus, JobSpec, Pod, PodFailurePolicyRule } from '@polder/kube';

/** What a job's failure policy says of a failed pod. Without a rule that matches, the failure counts. */
export type PodVerdict =
  | { readonly is: 'counted' | 'ignored' | 'index-failed' }
  | { readonly is: 'job-failed'; readonly because: string };

const COUNTED: PodVerdict = { is: 'counted' };

export function verdictOnPod({ podFailurePolicy }: JobSpec, pod: Pod): PodVerdict {
  for (const [index, rule] of podFailurePolicy?.rules.entries() ?? []) {
    const match = matchOf(rule, pod);
    if (match === undefined) continue;
    switch (rule.action) {
      case 'Ignore':
        return { is: 'ignored' };
      case 'FailIndex':
        return { is: 'index-failed' };
      case 'FailJob':
        return { is: 'job-failed', because: `${match} matching FailJob rule at index ${index}` };
      case 'Count':
        return COUNTED;
    }
  }
  return COUNTED;
}

/** What about the pod a rule matches, in words; undefined if nothing. */
function matchOf({ onExitCodes, onPodConditions }: PodFailurePolicyRule, pod: Pod): string | undefined {
  const { name, namespace } = pod.metadata;
  const { containerStatuses = [], initContainerStatuses = [], conditions = [] } = pod.status ?? {};
  if (onExitCodes) {
    const { containerName, operator, values } = onExitCodes;
    const isMeant = ({ name }: ContainerStatus) => containerName === undefined || containerName === name;
    // An exit with 0 is no failure, whatever the rule's values.
    const matches = (code: number) => code !== 0 && values.includes(code) === (operator === 'In');
    for (const container of [...containerStatuses, ...initContainerStatuses]) {
      const code = container.state?.terminated?.exitCode;
      if (code !== undefined && isMeant(container) && matches(code)) {
        return `Container ${container.name} for pod ${namespace}/${name} failed with exit code ${code}`;
      }
    }
    return undefined;
  }
  const condition = conditions.find(({ type, status }) =>
    onPodConditions?.some((pattern) => pattern.type === type && (pattern.status ?? 'True') === status),
  );
  return condition && `Pod ${namespace}/${name} has condition ${condition.type}`;
}
