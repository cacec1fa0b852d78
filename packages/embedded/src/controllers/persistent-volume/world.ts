import type { World } from '@polder/kube';
import type { Provisioner } from './provisioner.ts';

export interface VolumeWorld extends World {
  readonly provisioner: Provisioner;
}
