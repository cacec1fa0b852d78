export { SELECTED_NODE } from './binding.ts';
export { persistentVolumeClaims } from './claim/index.ts';
export { installStandardClass, type Provisioner } from './provisioner.ts';
export { persistentVolumes } from './volume/index.ts';
