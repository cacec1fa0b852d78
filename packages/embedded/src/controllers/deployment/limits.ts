/** How many pods a deployment may have too many, and too few, while it rolls out. */
import type { Deployment, IntOrString } from '@polder/kube';

export const sizeOf = ({ spec }: { readonly spec?: { readonly replicas?: number } }) => spec?.replicas ?? 1;

export const isRolling = ({ spec }: Deployment) => spec?.strategy?.type !== 'Recreate';

export function maxSurge(deployment: Deployment): number {
  return isRolling(deployment) ? bounds(deployment).surge : 0;
}

export function maxUnavailable(deployment: Deployment): number {
  const size = sizeOf(deployment);
  return isRolling(deployment) ? Math.min(bounds(deployment).unavailable, size) : 0;
}

/** As many must be available all the time. */
export const minAvailable = (deployment: Deployment) => sizeOf(deployment) - maxUnavailable(deployment);

/** Percents of the size: of more pods rounded up, of fewer rounded down. */
function bounds(deployment: Deployment): { readonly surge: number; readonly unavailable: number } {
  const { maxSurge, maxUnavailable } = deployment.spec?.strategy?.rollingUpdate ?? {};
  const size = sizeOf(deployment);
  const surge = Math.ceil(share(maxSurge, size));
  const unavailable = Math.floor(share(maxUnavailable, size));
  // Rounded to nothing on both sides, a rollout could not take a single step; one pod less is what always can be had.
  return surge === 0 && unavailable === 0 ? { surge, unavailable: 1 } : { surge, unavailable };
}

function share(value: IntOrString = 0, size: number): number {
  return typeof value === 'number' ? value : (Number.parseInt(value, 10) * size) / 100;
}
