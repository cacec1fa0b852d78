export { type HostImage, ProcessRunner, type ProcessRunnerOptions } from './process-runner.ts';
