import { type Node, type NodeCondition, type NodeStatus, timestamp } from '@polder/kube';
import { KUBERNETES_VERSION } from '../apiserver/builtin/index.ts';
import { canonical } from '../apiserver/builtin/quantity.ts';

/** What a node has to give. Every node has all of it: they share one machine, which does not partition itself. */
export interface Machine {
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly storageBytes: number;
  /** As Go names it: `amd64`, `arm64`. */
  readonly architecture: string;
  readonly operatingSystem: string;
  readonly kernelVersion: string;
  readonly osImage: string;
}

export interface NodeOptions {
  readonly machine: Machine;
  readonly now: Date;
  /** The most pods that a node takes. Default 110, as a kubelet's. */
  readonly pods?: number;
}

/** A node as its kubelet registers it. */
export type RegisteredNode = Pick<Node, 'metadata'> & Required<Pick<Node, 'spec' | 'status'>>;

const ZONES = ['a', 'b', 'c'];
const REGION = 'local';
/** The block of pod addresses of a node: 10.244.n.0/24. */
const MOST_NODES = 256;

/** `polder-1`, `polder-2`, …: the nodes of the embedded cluster, in turn in each of three zones. */
export function nodeObjects(count: number, options: NodeOptions): readonly RegisteredNode[] {
  if (count > MOST_NODES) throw new RangeError(`${count} nodes were asked for; ${MOST_NODES} have addresses for pods`);
  return Array.from({ length: count }, (_, i) => nodeObject(`polder-${i + 1}`, i, options));
}

function nodeObject(name: string, index: number, options: NodeOptions): RegisteredNode {
  const { architecture, operatingSystem } = options.machine;
  const podCIDR = `10.244.${index}.0/24`;
  return {
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': operatingSystem,
        'kubernetes.io/arch': architecture,
        'topology.kubernetes.io/region': REGION,
        'topology.kubernetes.io/zone': ZONES[index % ZONES.length] ?? '',
      },
    },
    spec: { podCIDR, podCIDRs: [podCIDR] },
    status: statusOf(name, options),
  };
}

function statusOf(name: string, { machine, pods = 110, now }: NodeOptions): NodeStatus {
  const { cpus, memoryBytes, storageBytes, architecture, operatingSystem, kernelVersion, osImage } = machine;
  // As the server writes amounts: what comes back from it has to compare equal.
  const resources = {
    cpu: canonical(`${cpus}`),
    memory: canonical(`${Math.floor(memoryBytes / 1024)}Ki`),
    'ephemeral-storage': canonical(`${Math.floor(storageBytes / 1024)}Ki`),
    pods: canonical(`${pods}`),
  };
  return {
    capacity: resources,
    allocatable: resources,
    addresses: [
      { type: 'InternalIP', address: '127.0.0.1' },
      { type: 'Hostname', address: name },
    ],
    conditions: healthy(now),
    daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
    nodeInfo: {
      architecture,
      operatingSystem,
      kernelVersion,
      osImage,
      kubeletVersion: KUBERNETES_VERSION,
      kubeProxyVersion: '',
      containerRuntimeVersion: 'polder://embedded',
      bootID: '',
      machineID: '',
      systemUUID: '',
    },
  };
}

/** What a kubelet says that has nothing to complain about. */
function healthy(now: Date): readonly NodeCondition[] {
  const time = timestamp(now);
  const condition = (type: string, status: string, reason: string, message: string): NodeCondition => {
    return { type, status, reason, message, lastHeartbeatTime: time, lastTransitionTime: time };
  };
  return [
    condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
    condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
  ];
}
