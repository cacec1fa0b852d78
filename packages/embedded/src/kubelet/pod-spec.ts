import type { Container, Pod } from '@polder/kube';

/** When the pod has been active for too long; undefined if it may be for ever. */
export function deadlineOf({ spec, status }: Pod): number | undefined {
  if (spec?.activeDeadlineSeconds === undefined || status?.startTime === undefined) return undefined;
  return Date.parse(status.startTime) + spec.activeDeadlineSeconds * 1000;
}

export const graceMs = ({ metadata, spec }: Pod) =>
  (metadata.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? 30) * 1000;

export const isSidecar = (container: Container) => container.restartPolicy === 'Always';

/** All containers, in the order in which they start. */
export const containersOf = ({ spec }: Pod): readonly Container[] => [
  ...(spec?.initContainers ?? []),
  ...(spec?.containers ?? []),
];
