/** Nodes with no machine behind them: kwok plays their kubelets and provides the volumes of the default StorageClass. */
import type { Flags } from './start.ts';

const ANNOTATION = 'kwok.x-k8s.io/node';

export function kwokFlags(kubeconfig: string, stages: string): Flags {
  return {
    kubeconfig,
    config: stages,
    // Only these: suites make other nodes, whose kubelet they play themselves.
    'manage-nodes-with-annotation-selector': `${ANNOTATION}=fake`,
    'node-lease-duration-seconds': 40,
    'node-ip': '127.0.0.1',
    cidr: '10.0.0.0/16',
    'server-address': '127.0.0.1:0',
  };
}

/** A list to create: `node-1`, `node-2`, …, each in a zone of its own, and the StorageClass. */
export function simulatedNodes(count: number): unknown {
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [STORAGE_CLASS, ...Array.from({ length: count }, (_, index) => nodeOf(index + 1))],
  };
}

const nodeOf = (number: number) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: `node-${number}`,
    annotations: { [ANNOTATION]: 'fake' },
    labels: {
      'kubernetes.io/arch': 'amd64',
      'kubernetes.io/hostname': `node-${number}`,
      'kubernetes.io/os': 'linux',
      'topology.kubernetes.io/zone': `zone-${number}`,
    },
  },
});

const STORAGE_CLASS = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  // kwok's stages know the class by this name.
  metadata: { name: 'kwok-volume', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'kwok.x-k8s.io/volume',
};
