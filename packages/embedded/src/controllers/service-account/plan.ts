import type { ConfigMap, Namespace, NamespaceStatus, Plan, ServiceAccount } from '@polder/kube';

export const SERVICE_ACCOUNT = 'default';
export const ROOT_CA = 'kube-root-ca.crt';

/** The words of the real cluster. */
const DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

export interface NamespaceDefaults {
  /** The certificate authority of the API server, as PEM. Without one there is nothing to verify, and no ConfigMap. */
  readonly rootCa?: string | undefined;
}

export function planDefaults(
  { metadata, status = {} }: Namespace,
  { rootCa }: NamespaceDefaults,
): Plan<never, NamespaceStatus> {
  const idle = { objects: [], steps: [], held: [], status };
  if (status.phase !== 'Active') return idle;
  const objects = [serviceAccount(metadata.name), ...(rootCa === undefined ? [] : [authority(metadata.name, rootCa)])];
  return { ...idle, objects };
}

const serviceAccount = (namespace: string): ServiceAccount => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: SERVICE_ACCOUNT, namespace },
});

const authority = (namespace: string, rootCa: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: ROOT_CA, namespace, annotations: { 'kubernetes.io/description': DESCRIPTION } },
  data: { 'ca.crt': rootCa },
});
