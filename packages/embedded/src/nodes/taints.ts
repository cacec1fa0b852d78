import type { Taint, Toleration } from '@polder/kube';

export const UNSCHEDULABLE: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** The first taint with one of these effects that no toleration covers. */
export function untolerated(
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] | undefined,
  effects: readonly Taint['effect'][],
): Taint | undefined {
  return taints?.find((taint) => effects.includes(taint.effect) && !tolerations?.some((one) => tolerates(one, taint)));
}

/** No key means every key, no effect every effect. */
export function tolerates({ key = '', effect, operator = 'Equal', value = '' }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  switch (operator) {
    case 'Exists':
      return true;
    case 'Equal':
      return key !== '' && value === (taint.value ?? '');
    // A feature gate of the real API server that is off: it lets neither into a pod.
    case 'Gt':
    case 'Lt':
      return false;
  }
}
