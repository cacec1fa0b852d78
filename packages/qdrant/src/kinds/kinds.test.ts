import { createApiServer } from '@polder/embedded/apiserver';
import { Client, CustomResourceDefinition, crdOf, structuralProblems } from '@polder/kube';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { kinds } from './index.ts';

const server = createApiServer();
const client = new Client({ transport: server.transport(), userAgent: 'test' });
for (const kind of kinds) await client.create(CustomResourceDefinition, crdOf(kind));

/** As kubectl would: what a manifest says, sent to the path of its kind. */
async function create(manifest: string) {
  const object: { kind: string; metadata: object } = parse(manifest);
  const kind = kinds.find((one) => one.kind === object.kind);
  const namespace = kind?.namespaced ? '/namespaces/default' : '';
  const response = await server.handle({
    method: 'POST',
    path: `/apis/qdrant.operator/v1alpha1${namespace}/${kind?.plural}`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...object, apiVersion: 'qdrant.operator/v1alpha1' }),
  });
  const answer: { spec: unknown; message?: string } = JSON.parse(await response.text());
  return { code: response.status, spec: answer.spec, message: answer.message };
}

const cluster = (spec: string, name = 'my-cluster') =>
  `{kind: QdrantCluster, metadata: {name: ${name}}, spec: ${spec}}`;
const S3 = '{s3EndpointURL: "https://s3.example.com", s3CredentialsSecretName: bucket, bucketName: snapshots';

test.each(kinds.map((kind) => [kind.kind, kind] as const))('%s is a definition that an API server takes', (_, kind) => {
  const crd = crdOf(kind);
  expect(structuralProblems(crd)).toEqual([]);
  expect(JSON.stringify(crd).length).toBeLessThan(256 * 1024);
});

test('they are known under the names that users know', () => {
  expect(kinds.map((kind) => [kind.plural, ...(kind.shortNames ?? [])])).toEqual([
    ['qdrantclusters'],
    ['qdrantcollections'],
    ['qdrantcollectionbackups'],
    ['qdrantcollectionrestores', 'qcrestore', 'qcr'],
    ['qdrantcollectiontemplates', 'qct', 'qctemplate'],
  ]);
  expect(kinds.filter((kind) => !kind.namespaced).map(({ kind }) => kind)).toEqual(['QdrantCollectionTemplate']);
});

describe('a manifest of the upstream operator is taken as it is', () => {
  test.each<[string, string]>([
    ['a cluster, with no more than it needs', cluster('{replicas: 1, image: "qdrant/qdrant:v1.16.3"}', 'minimal')],
    [
      'a cluster that says null for what it leaves out',
      cluster('{replicas: 1, image: q:v1.16.3, resources: null, tolerations: null, sidecarContainers: null}', 'nulls'),
    ],
    [
      'a cluster with everything',
      `
kind: QdrantCluster
metadata: {name: complete}
spec:
  replicas: 3
  image: qdrant/qdrant:v1.16.3
  apikey: 'true'
  readApikey: 'readers'
  service: LoadBalancer
  config: {cluster: {consensus: {tick_period_ms: 50}}}
  persistence: {size: 10Gi, storageClassName: standard, volumeSnapshotClassName: csi}
  volumeSnapshots: {enabled: true, snapshotClassName: csi, schedule: '0 2 * * *', retentionCount: 7, createNow: false}
  tls: {enabled: true}
  sidecarContainers: [{name: nginx, image: 'nginx:1.25', ports: [{containerPort: 80}]}]
  additionalVolumes: [{name: more, emptyDir: {}}]
  additionalVolumeMounts: [{name: more, mountPath: /qdrant/more}]
  resources: {requests: {cpu: 10m, memory: 100Mi}, limits: {cpu: 1000m, memory: 500Mi}}
  tolerations: [{key: component, operator: Equal, value: qdrant, effect: NoSchedule}]
  nodeAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 1, preference: {matchExpressions: [{key: component, operator: In, values: [qdrant]}]}}
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm: {labelSelector: {matchLabels: {clustername: complete}}, topologyKey: kubernetes.io/hostname}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: DoNotSchedule
      labelSelector: {matchLabels: {clustername: complete, component: qdrant}}
`,
    ],
    [
      'a collection, with no more than it needs',
      '{kind: QdrantCollection, metadata: {name: c}, spec: {cluster: a, vectorSize: 10}}',
    ],
    [
      'a collection that can not be: that is told in its status',
      "{kind: QdrantCollection, metadata: {name: wrong}, spec: {cluster: '', vectorSize: -1}}",
    ],
    [
      'a collection with everything',
      `{kind: QdrantCollection, metadata: {name: complete}, spec: {cluster: a, vectorSize: 10, onDisk: false,
        shardNumber: 6, replicationFactor: 2, config: {hnsw_config: {m: 16}, optimizers_config: {deleted_threshold: 0.2}},
        snapshots: ${S3}, backupSchedule: "0 0 * * *"}}}`,
    ],
    [
      'backups of a collection',
      `{kind: QdrantCollectionBackup, metadata: {name: b}, spec: {cluster: a, collectionName: c, snapshots: ${S3}, backupNow: true}}}`,
    ],
    [
      'a restore',
      '{kind: QdrantCollectionRestore, metadata: {name: r}, spec: {collection: c, cluster: a, backupId: a/c/2024-01-21-23-38}}',
    ],
    [
      'a template',
      `{kind: QdrantCollectionTemplate, metadata: {name: t}, spec: {name: t, shards: 6, replicationFactor: 2, onDisk: true,
        vectors: {size: 768, distance: Cosine}, backup: {enabled: true, schedule: "0 2 * * *", retentionCount: 7}}}`,
    ],
  ])('%s', async (_what, manifest) => {
    const given: { spec: object } = parse(manifest);
    const { code, spec, message } = await create(manifest);
    expect(message).toBeUndefined();
    expect(code).toBe(201);
    // Nothing of it is dropped; defaults are added.
    const kept: object = JSON.parse(JSON.stringify(given.spec, withoutNull));
    expect(spec).toMatchObject(kept);
  });
});

/** The server leaves out what is null where a default says otherwise. */
const withoutNull = (_: string, value: unknown) => (value === null ? undefined : value);

test('what is left out of a collection stays left out: a default would change one that was there before', async () => {
  const { spec } = await create('{kind: QdrantCollection, metadata: {name: d}, spec: {cluster: a, vectorSize: 4}}');
  expect(spec).toEqual({ cluster: 'a', vectorSize: 4, deletionPolicy: 'Delete' });
});

describe('the server refuses by itself', () => {
  test.each<[string, string, string]>([
    ['a cluster without peers', cluster('{replicas: 0, image: q:v1.19.0}'), 'spec.replicas'],
    ['a key for readers alone', cluster("{replicas: 1, image: q, readApikey: 'true'}"), 'only if apikey is enabled'],
    ['a size that is none', cluster('{replicas: 1, image: q, persistence: {size: big}}'), 'spec.persistence.size'],
    ['a name too long for its pods', cluster('{replicas: 1, image: q}', 'n'.repeat(53)), 'at most 52 characters'],
    [
      'a collection without shards',
      '{kind: QdrantCollection, metadata: {name: e}, spec: {cluster: a, vectorSize: 4, shardNumber: 0}}',
      'spec.shardNumber',
    ],
    [
      'a restore of an unknown mode',
      '{kind: QdrantCollectionRestore, metadata: {name: f}, spec: {collection: c, cluster: a, backupId: x, mode: add}}',
      'spec.mode',
    ],
  ])('%s', async (_what, manifest, message) => {
    const answer = await create(manifest);
    expect(answer.code).toBe(422);
    expect(answer.message).toContain(message);
  });
});
