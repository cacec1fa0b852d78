import type { ConfigMap, PersistentVolumeClaim, Pod, PodSpec, Secret } from '@polder/kube';
import type { Facts, References } from './references.ts';

/** For tests: what a cluster might hold. */
export function aPod(spec: Partial<PodSpec>): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'web',
      namespace: 'shop',
      uid: '4bb0d3c6-6f9b-4c65-a3c4-0c0e7e3f3f52',
      labels: { app: 'web', tier: 'front' },
      annotations: { 'example.com/note': 'say "hi"\n' },
    },
    spec: { containers: [], nodeName: 'node-1', serviceAccountName: 'robot', ...spec },
  };
}

export const facts: Facts = {
  podIPs: ['127.1.0.7', 'fd00::7'],
  hostIPs: ['127.0.0.1'],
  allocatable: { cpu: '4', memory: '8Gi', 'ephemeral-storage': '100Gi' },
};

interface Given {
  readonly configMaps?: Readonly<Record<string, Pick<ConfigMap, 'data' | 'binaryData'>>>;
  /** Values as they are, not in base64. */
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly claims?: Readonly<Record<string, Pick<PersistentVolumeClaim, 'spec' | 'status'>>>;
}

export function holding({ configMaps = {}, secrets = {}, claims = {} }: Given): References {
  const metadata = (name: string) => ({ name, namespace: 'shop' });
  const encoded = (data: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
  return {
    configMaps: new Map(
      Object.entries(configMaps).map(([name, fields]): [string, ConfigMap] => [
        name,
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata(name), ...fields },
      ]),
    ),
    secrets: new Map(
      Object.entries(secrets).map(([name, data]): [string, Secret] => [
        name,
        { apiVersion: 'v1', kind: 'Secret', metadata: metadata(name), data: encoded(data) },
      ]),
    ),
    claims: new Map(
      Object.entries(claims).map(([name, fields]): [string, PersistentVolumeClaim] => [
        name,
        { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: metadata(name), ...fields },
      ]),
    ),
  };
}
