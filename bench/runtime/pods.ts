/** The load: pods as a Deployment makes them and a kubelet reports on them. */
import type { Client } from '@polder/kube/client';
import type { Kind, ObjectRef, Resource } from '@polder/kube/kinds';

type Pod = Resource<object, object>;
type NamespacedRef = Required<ObjectRef> & { readonly namespace: string };

export const POD: Kind<Pod> = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
const NAMESPACE: Kind = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };

/** The annotation by which a change is recognised. */
export const MARK = 'bench.polder.dev/mark';

const NAMESPACES = 20;
/** ReplicaSets: pods of one are alike but for their names, addresses and the volume of their token. */
const OWNERS = 500;
/** As many as our client has connections. */
const WRITERS = 16;

export function podRef(at: number): NamespacedRef {
  return { namespace: `bench-${at % NAMESPACES}`, name: `pod-${at}` };
}

export async function createPods(client: Client, count: number): Promise<void> {
  await inParallel(Math.min(NAMESPACES, count), async (at) => {
    await client.create(NAMESPACE, { metadata: { name: `bench-${at}` } });
  });
  await inParallel(count, async (at) => {
    const ref = podRef(at);
    await client.create(
      POD,
      { metadata: { ...ref, ...metadataOf(at) }, spec: specOf(at) },
      { fieldManager: 'controller-manager' },
    );
    const patch = { type: 'strategic', body: { status: statusOf(at) } } as const;
    await client.patch(POD, ref, patch, { subresource: 'status', fieldManager: 'kubelet' });
  });
}

export async function markPod(client: Client, at: number, mark: string): Promise<void> {
  await client.patch(POD, podRef(at), { type: 'merge', body: { metadata: { annotations: { [MARK]: mark } } } });
}

async function inParallel(count: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: WRITERS }, worker));
}

const LABELS = {
  'app.kubernetes.io/name': 'shop',
  'app.kubernetes.io/component': 'backend',
  'app.kubernetes.io/managed-by': 'Helm',
  'pod-template-hash': '6d4cf56db6',
};

function metadataOf(at: number) {
  return {
    labels: LABELS,
    annotations: {
      'checksum/config': '01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b',
      [MARK]: `created-${at}`,
    },
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: `shop-${at % OWNERS}-6d4cf56db6`,
        uid: `8f1b7ae4-3f1c-4a6b-9d57-${String(at % OWNERS).padStart(12, '0')}`,
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  };
}

function specOf(at: number) {
  const token = `kube-api-access-${(at * 7919).toString(36).padStart(5, 'x')}`;
  return {
    containers: [
      {
        name: 'backend',
        image: 'registry.example/shop/backend:1.42.0',
        args: ['--listen=:8080', '--config=/etc/shop/config.yaml'],
        ports: [
          { name: 'http', containerPort: 8080 },
          { name: 'metrics', containerPort: 9090 },
        ],
        env: [
          { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          { name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: 'shop-database', key: 'url' } } },
        ],
        resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
        readinessProbe: { httpGet: { path: '/ready', port: 'http' }, periodSeconds: 5 },
        volumeMounts: [{ name: token, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true }],
      },
    ],
    volumes: [{ name: token, projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }],
    serviceAccountName: 'shop-backend',
    nodeName: `node-${at % 100}`,
  };
}

function statusOf(at: number) {
  const since = '2026-01-01T00:00:00Z';
  const address = `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`;
  const condition = (type: string) => ({ type, status: 'True', lastProbeTime: null, lastTransitionTime: since });
  return {
    phase: 'Running',
    hostIP: '192.0.2.10',
    podIP: address,
    podIPs: [{ ip: address }],
    startTime: since,
    conditions: ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(condition),
    containerStatuses: [
      {
        name: 'backend',
        image: 'registry.example/shop/backend:1.42.0',
        imageID:
          'registry.example/shop/backend@sha256:4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865',
        containerID: 'containerd://53c234e5e8472b6ac51c1ae1cab3fe06fad053beb8ebfd8977b010655bfdd3c3',
        ready: true,
        started: true,
        restartCount: 0,
        state: { running: { startedAt: since } },
      },
    ],
  };
}
