import { deployment, pod } from './objects.ts';
import { expect, topic } from './suite.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Sample {
  readonly kind: string;
  /** `apis/apps/v1`, `api/v1`. */
  readonly at: string;
  readonly plural: string;
  readonly cluster?: boolean;
  readonly body?: Fields;
  /** What the server adds. */
  readonly becomes?: Fields;
}

const { spec: workload } = deployment('a');
const RBAC = 'apis/rbac.authorization.k8s.io/v1';
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' };

/** One object of every kind that other topics do not create. */
const SAMPLES: readonly Sample[] = [
  { kind: 'ServiceAccount', at: 'api/v1', plural: 'serviceaccounts' },
  {
    kind: 'Endpoints',
    at: 'api/v1',
    plural: 'endpoints',
    body: { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }] },
    becomes: { subsets: [{ ports: [{ port: 80, protocol: 'TCP' }] }] },
  },
  { kind: 'PodTemplate', at: 'api/v1', plural: 'podtemplates', body: { template: { spec: pod('a').spec } } },
  {
    kind: 'ReplicationController',
    at: 'api/v1',
    plural: 'replicationcontrollers',
    body: { spec: { selector: { app: 'a' }, template: workload.template } },
    becomes: { spec: { replicas: 1 } },
  },
  {
    kind: 'LimitRange',
    at: 'api/v1',
    plural: 'limitranges',
    body: { spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] } },
    becomes: { spec: { limits: [{ defaultRequest: { cpu: '1' } }] } },
  },
  {
    kind: 'ResourceQuota',
    at: 'api/v1',
    plural: 'resourcequotas',
    body: { spec: { hard: { 'count/widgets.example.com': '5' } } },
    becomes: { status: {} },
  },
  { kind: 'Node', at: 'api/v1', plural: 'nodes', cluster: true, becomes: { spec: {} } },
  {
    kind: 'PersistentVolume',
    at: 'api/v1',
    plural: 'persistentvolumes',
    cluster: true,
    body: { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp/x' } } },
    becomes: {
      metadata: { finalizers: ['kubernetes.io/pv-protection'] },
      spec: { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' },
      status: { phase: 'Pending' },
    },
  },
  {
    kind: 'ControllerRevision',
    at: 'apis/apps/v1',
    plural: 'controllerrevisions',
    body: { revision: 1, data: { any: 'thing' } },
    becomes: { data: { any: 'thing' } },
  },
  {
    kind: 'HorizontalPodAutoscaler',
    at: 'apis/autoscaling/v2',
    plural: 'horizontalpodautoscalers',
    body: { spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' } } },
    becomes: { spec: { minReplicas: 1 } },
  },
  {
    kind: 'EndpointSlice',
    at: 'apis/discovery.k8s.io/v1',
    plural: 'endpointslices',
    body: { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }], ports: [{ port: 80 }] },
    becomes: { ports: [{ name: '', port: 80, protocol: 'TCP' }] },
  },
  {
    kind: 'Ingress',
    at: 'apis/networking.k8s.io/v1',
    plural: 'ingresses',
    body: { spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } },
    becomes: { status: { loadBalancer: {} } },
  },
  {
    kind: 'IngressClass',
    at: 'apis/networking.k8s.io/v1',
    plural: 'ingressclasses',
    cluster: true,
    body: { spec: { controller: 'example.com/ingress' } },
  },
  {
    kind: 'NetworkPolicy',
    at: 'apis/networking.k8s.io/v1',
    plural: 'networkpolicies',
    body: { spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] } },
    becomes: { spec: { policyTypes: ['Ingress'], ingress: [{ ports: [{ port: 80, protocol: 'TCP' }] }] } },
  },
  {
    kind: 'PodDisruptionBudget',
    at: 'apis/policy/v1',
    plural: 'poddisruptionbudgets',
    body: { spec: { minAvailable: '50%', selector: { matchLabels: { app: 'a' } } } },
    becomes: { status: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 } },
  },
  {
    kind: 'Role',
    at: RBAC,
    plural: 'roles',
    body: { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
  },
  {
    kind: 'RoleBinding',
    at: RBAC,
    plural: 'rolebindings',
    body: { roleRef, subjects: [{ kind: 'User', name: 'u' }] },
    becomes: { subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'u' }] },
  },
  {
    kind: 'ClusterRole',
    at: RBAC,
    plural: 'clusterroles',
    cluster: true,
    body: { rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }] },
  },
  {
    kind: 'ClusterRoleBinding',
    at: RBAC,
    plural: 'clusterrolebindings',
    cluster: true,
    body: { roleRef, subjects: [{ kind: 'ServiceAccount', name: 's', namespace: 'default' }] },
  },
  {
    kind: 'PriorityClass',
    at: 'apis/scheduling.k8s.io/v1',
    plural: 'priorityclasses',
    cluster: true,
    body: { value: 7 },
    becomes: { preemptionPolicy: 'PreemptLowerPriority' },
  },
  {
    kind: 'StorageClass',
    at: 'apis/storage.k8s.io/v1',
    plural: 'storageclasses',
    cluster: true,
    body: { provisioner: 'example.com/storage' },
    becomes: { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' },
  },
];

export const kinds = topic('kinds', (promise) => {
  for (const { kind, at, plural, cluster = false, body = {}, becomes = {} } of SAMPLES) {
    promise(`${kind}: created, read, listed, applied, deleted`, async ({ wire, namespace, fresh }) => {
      const path = cluster ? `/${at}/${plural}` : `/${at}/namespaces/${await namespace()}/${plural}`;
      const name = fresh('contract');
      const apiVersion = at.replace(/^apis?\//, '');
      const made = await wire.create(path, { apiVersion, kind, metadata: { name }, ...body });
      expect(made.status).toBe(201);
      expect(made.body).toMatchObject({ apiVersion, kind, ...body, ...becomes });
      expect((await wire.get(`${path}/${name}`)).body).toEqual(made.body);
      const list = await wire.get(`${path}?fieldSelector=metadata.name%3D${name}`);
      expect(list.body).toMatchObject({ kind: `${kind}List`, apiVersion, items: [{ metadata: { name } }] });
      const labels = { tier: 'x' };
      const applied = await wire.apply(`${path}/${name}`, { apiVersion, kind, metadata: { name, labels } });
      expect(applied.status).toBe(200);
      expect(applied.body.metadata.labels).toMatchObject(labels);
      expect((await wire.delete(`${path}/${name}`)).status).toBe(200);
    });
  }
});
