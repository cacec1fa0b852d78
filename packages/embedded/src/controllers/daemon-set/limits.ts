import type { DaemonSet, IntOrString } from '@polder/kube';

/** How far an update may go at once; both 0 for a set that is updated by its user. */
export interface Limits {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

export function limitsOf({ spec }: DaemonSet, nodes: number): Limits {
  const { type = 'RollingUpdate', rollingUpdate } = spec?.updateStrategy ?? {};
  if (type === 'OnDelete') return { maxSurge: 0, maxUnavailable: 0 };
  const maxSurge = portion(rollingUpdate?.maxSurge ?? 0, nodes);
  const maxUnavailable = portion(rollingUpdate?.maxUnavailable ?? 1, nodes);
  // Nothing could ever be updated.
  return maxSurge + maxUnavailable === 0 ? { maxSurge, maxUnavailable: 1 } : { maxSurge, maxUnavailable };
}

/** Whether two daemons may be on a node during an update. */
export const allowsSurge = (set: DaemonSet) => limitsOf(set, 1).maxSurge > 0;

function portion(value: IntOrString, total: number): number {
  return typeof value === 'number' ? value : Math.ceil((Number.parseInt(value, 10) * total) / 100);
}
