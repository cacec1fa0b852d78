import { type Registration, register } from '@polder/kube';
import { replicaSets } from './replica-set/index.ts';

/** Every controller of the cluster, as a real kube-controller-manager has them. */
export const controllers: readonly Registration[] = [register(replicaSets, (world) => world)];
