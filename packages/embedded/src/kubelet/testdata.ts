/** For tests: runs of containers, and what the kubelet sees of a pod. */
import { known, type Pod, type PodSpec } from '@polder/kube';
import { type ContainerRun, NEW_RUN } from './container-run.ts';
import { RUNNER_ANNOTATION } from './images.ts';
import type { Observed } from './observe.ts';
import { aPod, facts, holding } from './references/testdata.ts';
import type { Health, RunningContainer } from './runner.ts';

export const NOW = Date.UTC(2026, 0, 1);
export const now = new Date(NOW);
export const seconds = (count: number) => count * 1000;

/** A container that runs until somebody ends it. */
const container: RunningContainer = {
  startedAt: NOW,
  ended: new Promise(() => {}),
  terminate: () => {},
  kill: () => {},
  probe: async () => ({ is: 'healthy' }),
  exec: async () => ({ exitCode: 0, output: '' }),
};

const HEALTHY: Health = { isStarted: true, isReady: true };

export const running = (health: Partial<Health> = {}, more: { readonly stopBy?: number } = {}): ContainerRun => ({
  ...NEW_RUN,
  state: { is: 'running', startedAt: NOW, container, health: { ...HEALTHY, ...health }, ...more },
});

/** It ran for a second and has just ended. */
export const exited = (exitCode: number, more: Partial<ContainerRun> = {}): ContainerRun => ({
  ...NEW_RUN,
  state: { is: 'ended', startedAt: NOW - seconds(1), ending: { exitCode, at: NOW } },
  ...more,
});

export const starting: ContainerRun = { ...NEW_RUN, state: { is: 'starting', before: { is: 'waiting' } } };

/** A pod on our node, marked as one that is simulated. */
export function placed(spec: Partial<PodSpec>, more: Partial<Pod> = {}): Pod {
  const pod = aPod({ containers: [{ name: 'main', image: 'nginx' }], ...spec });
  const annotations = { [RUNNER_ANNOTATION]: 'simulated' };
  return { ...pod, ...more, metadata: { ...pod.metadata, annotations, ...more.metadata } };
}

export const deleted = (pod: Pod, graceSeconds = 30): Pod => ({
  ...pod,
  metadata: {
    ...pod.metadata,
    deletionTimestamp: new Date(NOW + seconds(graceSeconds)).toISOString(),
    deletionGracePeriodSeconds: graceSeconds,
  },
});

export const NODE = { name: 'node-1', address: '127.0.0.1' };

export const seen = (runs: Readonly<Record<string, ContainerRun>>, more: Partial<Observed> = {}): Observed => ({
  node: NODE,
  runs: new Map(Object.entries(runs)),
  isPredecessorRunning: false,
  runner: 'simulated',
  volumes: known([]),
  isPrepared: true,
  hasVolumes: true,
  references: holding({}),
  facts,
  address: '10.244.0.1',
  news: [],
  ...more,
});
