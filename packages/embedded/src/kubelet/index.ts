export { Addresses } from './addresses.ts';
export { type ImageRule, logsBy, RUNNER_ANNOTATION } from './images.ts';
export { Kubelet, type KubeletOptions } from './kubelet.ts';
export { podController } from './pod-controller.ts';
export { type HostImage, ProcessRunner, type ProcessRunnerOptions } from './process/index.ts';
export type { Ending, Health, Launch, ProbeAnswer, Runner, RunningContainer, Volume, VolumeFile } from './runner.ts';
export { StartFailure } from './runner.ts';
export { type Behaviour, SIMULATE, STAGES, type Stage, simulated } from './simulated/index.ts';
export {
  type RunningStandIn,
  type StandIn,
  type StandInOptions,
  type StandInPlace,
  type StandIns,
  standIns,
} from './stand-in/index.ts';
