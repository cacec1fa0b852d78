export { Addresses } from './addresses.ts';
export type { ImageRule } from './images.ts';
export { Kubelet, type KubeletOptions } from './kubelet.ts';
export { RUNNER_ANNOTATION } from './plan.ts';
export { podController } from './pod-controller.ts';
export type { Ending, Health, Launch, ProbeAnswer, Runner, RunningContainer, Volume, VolumeFile } from './runner.ts';
export { StartFailure } from './runner.ts';
export { type Behaviour, SIMULATE, STAGES, type Stage, simulated } from './simulated/index.ts';
