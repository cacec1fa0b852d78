export { ContainerLogs } from './container-logs.ts';
export type { LogWriter } from './log-writer.ts';
export { podLogs } from './pod-logs.ts';
