/**
 * What the embedded server serves of the built-in API, by plural. The order decides two things: groups are announced in
 * it, and of two types with the same name the first keeps it (`Event` is core's, the other becomes `EventsV1Event`).
 */
export interface ServedGroup {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly resources: readonly string[];
}

const group = (group: string, version: string, ...resources: readonly string[]): ServedGroup => ({
  group,
  version,
  resources,
});

export const SERVED: readonly ServedGroup[] = [
  group(
    '',
    'v1',
    'bindings',
    'configmaps',
    'endpoints',
    'events',
    'limitranges',
    'namespaces',
    'nodes',
    'persistentvolumeclaims',
    'persistentvolumes',
    'pods',
    'podtemplates',
    'replicationcontrollers',
    'resourcequotas',
    'secrets',
    'serviceaccounts',
    'services',
  ),
  group('apps', 'v1', 'controllerrevisions', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'),
  group('events.k8s.io', 'v1', 'events'),
  group('authentication.k8s.io', 'v1', 'selfsubjectreviews', 'tokenreviews'),
  group(
    'authorization.k8s.io',
    'v1',
    'localsubjectaccessreviews',
    'selfsubjectaccessreviews',
    'selfsubjectrulesreviews',
    'subjectaccessreviews',
  ),
  group('autoscaling', 'v2', 'horizontalpodautoscalers'),
  group('batch', 'v1', 'cronjobs', 'jobs'),
  group('networking.k8s.io', 'v1', 'ingressclasses', 'ingresses', 'networkpolicies'),
  group('policy', 'v1', 'poddisruptionbudgets'),
  group('rbac.authorization.k8s.io', 'v1', 'clusterrolebindings', 'clusterroles', 'rolebindings', 'roles'),
  group('storage.k8s.io', 'v1', 'csidrivers', 'csinodes', 'storageclasses', 'volumeattachments'),
  group(
    'admissionregistration.k8s.io',
    'v1',
    'mutatingwebhookconfigurations',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    'validatingwebhookconfigurations',
  ),
  group('apiextensions.k8s.io', 'v1', 'customresourcedefinitions'),
  group('scheduling.k8s.io', 'v1', 'priorityclasses'),
  group('coordination.k8s.io', 'v1', 'leases'),
  group('discovery.k8s.io', 'v1', 'endpointslices'),
];

/** Endpoints below an object; what needs a node behind it (exec, attach, port-forward, proxy, resize) is not served. */
export const SERVED_SUBRESOURCES: readonly string[] = [
  'binding',
  'ephemeralcontainers',
  'eviction',
  'finalize',
  'log',
  'scale',
  'status',
  'token',
];

/** The core types that custom resources embed; everything they refer to is inlined. */
export const EMBEDDED_TYPES: readonly string[] = [
  'Affinity',
  'ConfigMapKeySelector',
  'Container',
  'ContainerPort',
  'EnvFromSource',
  'EnvVar',
  'HostAlias',
  'LabelSelector',
  'Lifecycle',
  'LocalObjectReference',
  'NodeAffinity',
  'ObjectReference',
  'PersistentVolumeClaimSpec',
  'PodAffinity',
  'PodAntiAffinity',
  'PodDNSConfig',
  'PodSecurityContext',
  'PodTemplateSpec',
  'Probe',
  'ResourceRequirements',
  'SecretKeySelector',
  'SecurityContext',
  'ServicePort',
  'ServiceSpec',
  'Toleration',
  'TopologySpreadConstraint',
  'TypedLocalObjectReference',
  'Volume',
  'VolumeMount',
  'VolumeResourceRequirements',
];
