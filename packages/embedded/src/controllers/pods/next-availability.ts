import type { Pod } from '@polder/kube';
import { availableAt } from './state.ts';

/** For a plan: when to look again, because no event tells that a ready pod has been so for long enough. */
export function nextAvailability(pods: readonly Pod[], minReadySeconds: number, now: Date) {
  const waits = pods.map((pod) => (availableAt(pod, minReadySeconds) ?? 0) - now.getTime()).filter((wait) => wait > 0);
  return waits.length > 0 && { lookAgain: { afterMs: Math.min(...waits), because: 'a ready pod becomes available' } };
}
