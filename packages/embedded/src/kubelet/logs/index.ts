export { ContainerLogs } from './container-logs.ts';
export { podLogs } from './pod-logs.ts';
