import { createHash } from 'node:crypto';
import type {
  Affinity,
  Container,
  EnvVar,
  PersistentVolumeClaim,
  PodSpec,
  Probe,
  ResourceRequirements,
  StatefulSet,
  Volume,
  VolumeMount,
} from '@polder/kube';
import type { ClusterSpec, QdrantCluster } from '../../kinds/index.ts';
import { KEY, NEXT_KEY } from './api-key-secret.ts';
import { BOOTSTRAP, CONFIG_FILE, configFile } from './config-map.ts';
import {
  GRPC_PORT,
  HTTP_PORT,
  hostOf,
  identityOf,
  namesOf,
  PEER_PORT,
  selectorOf,
  uriOf,
  VOLUMES,
} from './identity.ts';
import type { Workload } from './workload.ts';

export const QDRANT = 'qdrant';

/** Over all that a peer reads once, at its start, from outside of its pod. What changes it restarts peers, one by one. */
export const HASH_ANNOTATION = 'qdrant.operator/hash';

/** Whom a peer trusts and who signed what it shows, for as long as its pod lives. */
export const TRUST_ANNOTATION = 'qdrant.operator/trust';

/** When the certificate ends that a peer was started with: nobody else can say so once the Secret has another one. */
export const ENDS_ANNOTATION = 'qdrant.operator/certificate-ends';

export function statefulSet(cluster: QdrantCluster, workload: Workload): StatefulSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: identityOf(cluster, namesOf(cluster).set),
    spec: {
      replicas: workload.replicas,
      serviceName: namesOf(cluster).headless,
      selector: { matchLabels: selectorOf(cluster) },
      // In order, one that can't get ready before the others run would keep them from running.
      podManagementPolicy: 'Parallel',
      // Which peer may restart, and when, is for the operator to say: the leader last, and none while a shard travels.
      updateStrategy: { type: 'OnDelete' },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      revisionHistoryLimit: 3,
      template: {
        metadata: { labels: selectorOf(cluster), annotations: annotationsOf(cluster, workload) },
        spec: podOf(cluster, workload),
      },
      ...claimsOf(cluster, workload),
    },
  };
}

function annotationsOf(cluster: QdrantCluster, workload: Workload): Readonly<Record<string, string>> {
  const hash = { [HASH_ANNOTATION]: peerHash(cluster, workload) };
  const { tls } = workload;
  return tls ? { ...hash, [TRUST_ANNOTATION]: tls.trust, [ENDS_ANNOTATION]: tls.ends } : hash;
}

export function peerHash(
  cluster: QdrantCluster,
  { apiKey, readKey, tls }: Pick<Workload, 'apiKey' | 'readKey' | 'tls'>,
): string {
  return createHash('sha256')
    .update(JSON.stringify([configFile(cluster), apiKey?.value, readKey?.value, tls?.hash, apiKey?.next]))
    .digest('hex');
}

function podOf(cluster: QdrantCluster, workload: Workload): PodSpec {
  const { spec } = cluster;
  const affinity: Affinity = {
    ...(spec.nodeAffinity && { nodeAffinity: spec.nodeAffinity }),
    ...(spec.podAntiAffinity && { podAntiAffinity: spec.podAntiAffinity }),
  };
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: { fsGroup: 3000, seccompProfile: { type: 'RuntimeDefault' } },
    terminationGracePeriodSeconds: 60,
    ...(spec.nodeSelector && { nodeSelector: spec.nodeSelector }),
    ...(Object.keys(affinity).length > 0 && { affinity }),
    ...(spec.tolerations?.length && { tolerations: spec.tolerations }),
    ...(spec.topologySpreadConstraints?.length && { topologySpreadConstraints: spec.topologySpreadConstraints }),
    containers: [containerOf(cluster, workload), ...(spec.sidecarContainers ?? [])],
    volumes: [...volumesOf(cluster, workload), ...(spec.additionalVolumes ?? [])],
  };
}

function containerOf(cluster: QdrantCluster, workload: Workload): Container {
  const { spec } = cluster;
  return {
    name: QDRANT,
    image: workload.image,
    imagePullPolicy: 'IfNotPresent',
    // It ends in an exec, so that SIGTERM reaches the server. Whoever has a volume that was used goes back to where it was,
    // whatever --bootstrap says.
    command: ['./entrypoint.sh'],
    args: ['--uri', uriOf(cluster, '$(POD_NAME)'), '--bootstrap', '$(BOOTSTRAP)'],
    env: environmentOf(cluster, workload),
    ports: [
      { name: 'http', containerPort: HTTP_PORT, protocol: 'TCP' },
      { name: 'grpc', containerPort: GRPC_PORT, protocol: 'TCP' },
      { name: 'p2p', containerPort: PEER_PORT, protocol: 'TCP' },
    ],
    resources: resourcesOf(spec),
    // Loading shards takes as long as it takes; to be killed meanwhile would begin it anew.
    startupProbe: { ...probe(cluster, '/livez'), periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 360 },
    // It answers only while the process does: consensus may be dead and a restart the worst that could happen.
    livenessProbe: { ...probe(cluster, '/livez'), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
    readinessProbe: { ...probe(cluster, '/readyz'), periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 6 },
    lifecycle: { preStop: { exec: { command: ['sleep', '3'] } } },
    // Why a peer could not join is in its last lines.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 1000,
      runAsGroup: 2000,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [...mountsOf(workload), ...(spec.additionalVolumeMounts ?? [])],
  };
}

/** A probe needs no key. */
const probe = ({ spec }: QdrantCluster, path: string): Probe => ({
  httpGet: { path, port: 'http', scheme: spec.tls?.enabled ? 'HTTPS' : 'HTTP' },
});

function environmentOf(cluster: QdrantCluster, { apiKey, readKey, tls }: Workload): EnvVar[] {
  const { config, apiKey: apiKeyName, readKey: readKeyName } = namesOf(cluster);
  const fromSecret = (name: string, secret: string): EnvVar => ({
    name,
    valueFrom: { secretKeyRef: { name: secret, key: KEY } },
  });
  // It goes before the pods do that have it: one that crashes then starts without.
  const nextKey: EnvVar = {
    name: 'QDRANT__SERVICE__ALT_API_KEY',
    valueFrom: { secretKeyRef: { name: apiKeyName, key: NEXT_KEY, optional: true } },
  };
  return [
    { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
    { name: 'BOOTSTRAP', valueFrom: { configMapKeyRef: { name: config, key: BOOTSTRAP } } },
    { name: 'QDRANT_INIT_FILE_PATH', value: '/qdrant/init/.qdrant-initialized' },
    // Also for one peer alone: it could not be joined later.
    { name: 'QDRANT__CLUSTER__ENABLED', value: 'true' },
    ...(tls
      ? [
          { name: 'QDRANT__SERVICE__ENABLE_TLS', value: 'true' },
          { name: 'QDRANT__CLUSTER__P2P__ENABLE_TLS', value: 'true' },
        ]
      : []),
    ...(apiKey ? [fromSecret('QDRANT__SERVICE__API_KEY', apiKeyName)] : []),
    ...(apiKey?.next === undefined ? [] : [nextKey]),
    ...(readKey ? [fromSecret('QDRANT__SERVICE__READ_ONLY_API_KEY', readKeyName)] : []),
  ];
}

function resourcesOf({ resources }: ClusterSpec): ResourceRequirements {
  const { limits, requests } = resources ?? {};
  return { ...(limits && { limits: given(limits) }), ...(requests && { requests: given(requests) }) };
}

function given({ cpu, memory }: { readonly cpu?: string; readonly memory?: string }): Record<string, string> {
  return { ...(cpu !== undefined && { cpu }), ...(memory !== undefined && { memory }) };
}

function mountsOf({ tls }: Workload): VolumeMount[] {
  return [
    { name: VOLUMES.storage, mountPath: '/qdrant/storage' },
    { name: 'qdrant-config', mountPath: `/qdrant/config/${CONFIG_FILE}`, subPath: CONFIG_FILE, readOnly: true },
    ...(tls ? [{ name: 'qdrant-cert', mountPath: '/qdrant/tls', readOnly: true }] : []),
    { name: VOLUMES.snapshots, mountPath: '/qdrant/snapshots' },
    { name: 'qdrant-init', mountPath: '/qdrant/init' },
  ];
}

function volumesOf(cluster: QdrantCluster, { tls, storageSize, snapshotsSize }: Workload): Volume[] {
  const items = [{ key: CONFIG_FILE, path: CONFIG_FILE }];
  return [
    { name: 'qdrant-config', configMap: { name: namesOf(cluster).config, items } },
    { name: 'qdrant-init', emptyDir: {} },
    ...(storageSize === undefined ? [{ name: VOLUMES.storage, emptyDir: {} }] : []),
    ...(snapshotsSize === undefined ? [{ name: VOLUMES.snapshots, emptyDir: {} }] : []),
    ...(tls ? [{ name: 'qdrant-cert', secret: { secretName: tls.secretName, defaultMode: 0o440 } }] : []),
  ];
}

function claimsOf(cluster: QdrantCluster, { storageSize, snapshotsSize }: Workload) {
  const { persistence, snapshotsStorage } = cluster.spec;
  const volumeClaimTemplates = [
    ...(storageSize === undefined ? [] : [claim(cluster, VOLUMES.storage, storageSize, persistence?.storageClassName)]),
    ...(snapshotsSize === undefined
      ? []
      : [claim(cluster, VOLUMES.snapshots, snapshotsSize, snapshotsStorage?.storageClassName)]),
  ];
  return volumeClaimTemplates.length === 0 ? {} : { volumeClaimTemplates };
}

function claim(
  cluster: QdrantCluster,
  name: string,
  storage: string,
  storageClassName: string | undefined,
): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, labels: selectorOf(cluster) },
    spec: {
      accessModes: ['ReadWriteOnce'],
      ...(storageClassName !== undefined && { storageClassName }),
      resources: { requests: { storage } },
    },
  };
}

/** The names that a certificate of the peers has to be good for. */
export function certificateHosts(cluster: QdrantCluster): readonly string[] {
  const { service, headless } = namesOf(cluster);
  const namespace = cluster.metadata.namespace ?? 'default';
  return [
    service,
    `${service}.${namespace}`,
    `${service}.${namespace}.svc`,
    `${headless}.${namespace}`,
    hostOf(cluster, '*'),
    `${hostOf(cluster, '*')}.svc`,
  ];
}
