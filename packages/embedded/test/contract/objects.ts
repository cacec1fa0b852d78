/** The smallest objects that a server accepts, to be spread over. */

type Fields = Readonly<Record<string, unknown>>;

export const configMap = (name: string, data?: Readonly<Record<string, string>>, metadata: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  ...(data && { data }),
});

export const pod = (name: string, spec: Fields = {}, metadata: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'main', image: 'example.com/main:1' }], ...spec },
});

const template = (labels: Readonly<Record<string, string>>) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'main', image: 'example.com/main:1' }] },
});

export const deployment = (name: string, spec: Fields = {}, metadata: Fields = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, ...metadata },
  spec: { selector: { matchLabels: { app: name } }, template: template({ app: name }), ...spec },
});

export const statefulSet = (name: string, spec: Fields = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name },
  spec: { serviceName: name, selector: { matchLabels: { app: name } }, template: template({ app: name }), ...spec },
});

export const service = (name: string, spec: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port: 80 }], ...spec },
});

export const job = (name: string, spec: Fields = {}) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: {
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example.com/main:1' }] } },
    ...spec,
  },
});

export const claim = (name: string, spec: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
});

export const configMaps = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;
export const pods = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`;
export const services = (namespace: string) => `/api/v1/namespaces/${namespace}/services`;
export const claims = (namespace: string) => `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
export const deployments = (namespace: string) => `/apis/apps/v1/namespaces/${namespace}/deployments`;
export const statefulSets = (namespace: string) => `/apis/apps/v1/namespaces/${namespace}/statefulsets`;
export const jobs = (namespace: string) => `/apis/batch/v1/namespaces/${namespace}/jobs`;
