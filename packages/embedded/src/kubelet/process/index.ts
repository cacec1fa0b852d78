export { ProcessRunner, type ProcessRunnerOptions } from './process-runner.ts';
