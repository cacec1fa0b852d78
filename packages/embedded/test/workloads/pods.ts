import type { Body } from '../contract/wire.ts';

export interface Container {
  readonly name: string;
  readonly image: string;
}

export interface PodCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

export interface ContainerState {
  readonly waiting?: { readonly reason: string };
  readonly running?: { readonly startedAt: string };
  readonly terminated?: { readonly exitCode: number; readonly reason: string; readonly finishedAt: string };
}

export interface ContainerStatus extends Container {
  readonly imageID: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly state: ContainerState;
}

export interface PodStatus {
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed';
  readonly conditions?: readonly PodCondition[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip: string }[];
  readonly reason?: string;
}

export interface Pod extends Body {
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly Container[];
    readonly [field: string]: unknown;
  };
  readonly status: PodStatus;
}

const LABEL = 'contract.polder.io/driven';

/** For the spec of a pod: the case itself will be its kubelet. */
export const onDrivenNode = {
  nodeSelector: { [LABEL]: 'true' },
  // Nobody sends heartbeats for that node, so the controllers add taints of their own in time.
  tolerations: [{ operator: 'Exists' }],
};

/** No kubelet runs it, real or simulated. The taint keeps everything away that is not placed there on purpose. */
export const DRIVEN_NODE = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: 'driven',
    labels: {
      [LABEL]: 'true',
      'kubernetes.io/hostname': 'driven',
      'kubernetes.io/os': 'linux',
      'topology.kubernetes.io/zone': 'driven-zone',
    },
  },
  spec: { taints: [{ key: LABEL, value: 'true', effect: 'NoSchedule' }] },
  status: {
    capacity: { cpu: '1000', memory: '1Ti', pods: '10000' },
    allocatable: { cpu: '1000', memory: '1Ti', pods: '10000' },
  },
};

const now = () => new Date().toISOString();

export function readyStatus(pod: Pod, ready: boolean, address: string): PodStatus {
  const startedAt = now();
  return {
    phase: 'Running',
    conditions: conditions(ready),
    containerStatuses: pod.spec.containers.map(({ name, image }) => ({
      name,
      image,
      imageID: '',
      ready,
      restartCount: 0,
      state: { running: { startedAt } },
    })),
    podIP: address,
    podIPs: [{ ip: address }],
  };
}

export function terminatedStatus(
  pod: Pod,
  phase: 'Succeeded' | 'Failed',
  exitCode: (container: Container) => number,
): PodStatus {
  const finishedAt = now();
  return {
    phase,
    conditions: conditions(false, phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed'),
    containerStatuses: pod.spec.containers.map((container) => {
      const code = exitCode(container);
      const reason = code === 0 ? 'Completed' : 'Error';
      const { name, image } = container;
      const state = { terminated: { exitCode: code, reason, finishedAt } };
      return { name, image, imageID: '', ready: false, restartCount: 0, state };
    }),
  };
}

function conditions(ready: boolean, reason?: string): PodCondition[] {
  const common = {
    status: ready ? 'True' : 'False',
    lastTransitionTime: now(),
    ...(reason !== undefined && { reason }),
  } as const;
  return [
    { type: 'Initialized', status: 'True', lastTransitionTime: now() },
    { type: 'ContainersReady', ...common },
    { type: 'Ready', ...common },
  ];
}
