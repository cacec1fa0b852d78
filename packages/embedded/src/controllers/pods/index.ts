export { type Claim, type ClaimStep, claim, claimSteps } from './claim.ts';
export { newPod } from './new-pod.ts';
export { nextAvailability } from './next-availability.ts';
export { deletionOrder } from './ranking.ts';
export {
  isActive,
  isAvailable,
  isEnded,
  isFailed,
  isReady,
  isTerminating,
  podCondition,
  readySince,
} from './state.ts';
export { createPod, deletePod } from './writes.ts';
