import type { Container, Pod } from '@polder/kube';

/** When the pod has been active for too long; undefined if it may be for ever. */
export function deadlineOf({ spec, status }: Pod): number | undefined {
  if (spec?.activeDeadlineSeconds === undefined || status?.startTime === undefined) return undefined;
  return Date.parse(status.startTime) + spec.activeDeadlineSeconds * 1000;
}

export const graceMs = ({ metadata, spec }: Pod) =>
  (metadata.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? 30) * 1000;

/** Of an init container: it stays, beside the containers that come after it. */
export const isSidecar = (container: Container) => container.restartPolicy === 'Always';

/** Whether it is an init container that has to be done before the next one's turn. */
export const isInit = ({ spec }: Pod, container: Container) =>
  !isSidecar(container) && (spec?.initContainers?.some(({ name }) => name === container.name) ?? false);

/** All containers, in the order in which they start. */
export const containersOf = ({ spec }: Pod): readonly Container[] => [
  ...(spec?.initContainers ?? []),
  ...(spec?.containers ?? []),
];

/** Whether a container that ended with this code is to run again: its own rules and policy come before the pod's. */
export function isRestarted(pod: Pod, container: Container, exitCode: number): boolean {
  if (isInit(pod, container) && exitCode === 0) return false;
  const { restartPolicy = pod.spec?.restartPolicy ?? 'Always', restartPolicyRules = [] } = container;
  const rule = restartPolicyRules.find(({ exitCodes: { operator, values = [] } = { operator: 'In' } }) =>
    operator === 'In' ? values.includes(exitCode) : !values.includes(exitCode),
  );
  if (rule?.action === 'Restart') return true;
  return restartPolicy === 'Always' || (restartPolicy === 'OnFailure' && exitCode !== 0);
}
