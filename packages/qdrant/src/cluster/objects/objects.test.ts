import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { aCluster } from '../../../test/states.ts';
import type { ClusterSpec, QdrantCluster } from '../../kinds/index.ts';
import { certificateHosts, desired, HASH_ANNOTATION, ordinalOf, podAt, uriOf, type Workload } from './index.ts';

const workload = (cluster: QdrantCluster, more: Partial<Workload> = {}): Workload => ({
  replicas: cluster.spec.replicas,
  image: cluster.spec.image,
  bootstrap: 'http://vectors-headless.shop:6335',
  apiKey: undefined,
  readKey: undefined,
  tls: undefined,
  storageSize: cluster.spec.persistence?.size,
  snapshotsSize: cluster.spec.snapshotsStorage?.size,
  ...more,
});

const objectsOf = (spec: Partial<ClusterSpec>, more: Partial<Workload> = {}) => {
  const cluster = aCluster(spec);
  return desired(cluster, workload(cluster, more));
};

const yaml = (objects: readonly unknown[]) => objects.map((object) => `---\n${stringify(object)}`).join('');
const given = (value: string) => ({ value, isGiven: true });

describe('what is made for a cluster', () => {
  test('of three peers with volumes', async () => {
    await expect(yaml(objectsOf({}).objects)).toMatchFileSnapshot('golden/three.yaml');
  });

  test('of one peer, without a volume', async () => {
    const cluster = aCluster({ replicas: 1, networkPolicy: { enabled: false } });
    const { persistence: _, ...spec } = cluster.spec;
    const bare: QdrantCluster = { ...cluster, spec };
    await expect(yaml(desired(bare, workload(bare)).objects)).toMatchFileSnapshot('golden/one.yaml');
  });

  test('with keys, TLS, and all that a user can say of pods', async () => {
    const { objects } = objectsOf(
      {
        service: 'LoadBalancer',
        config: { service: { max_request_size_mb: 64 }, cluster: { consensus: { tick_period_ms: 50 } } },
        tls: { enabled: true },
        snapshotsStorage: { size: '5Gi', storageClassName: 'slow' },
        resources: { limits: { memory: '4Gi' }, requests: { cpu: '500m' } },
        sidecarContainers: [{ name: 'nginx', image: 'nginx:1.25' }],
        additionalVolumes: [{ name: 'more', emptyDir: {} }],
        additionalVolumeMounts: [{ name: 'more', mountPath: '/qdrant/more' }],
        tolerations: [{ key: 'dedicated', operator: 'Exists' }],
        nodeSelector: { disk: 'ssd' },
        nodeAffinity: {},
        podAntiAffinity: {},
        topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
      },
      {
        apiKey: { ...given('new'), previous: 'old' },
        readKey: given('reader'),
        tls: {
          secretName: 'vectors-server-cert',
          hash: 'of the certificate',
          trust: 'signer signer',
          ends: '2027-03-01T12:00:00.000Z',
        },
      },
    );
    await expect(yaml(objects)).toMatchFileSnapshot('golden/complete.yaml');
  });
});

test('a key that was generated is in no object that is applied', () => {
  const { objects } = objectsOf({}, { apiKey: { value: 'hunter2', isGiven: false } });
  expect(objects.map(({ kind }) => kind)).not.toContain('Secret');
  expect(JSON.stringify(objects)).not.toContain('hunter2');
});

describe('peers restart', () => {
  const hash = (spec: Partial<ClusterSpec>, more: Partial<Workload> = {}) =>
    objectsOf(spec, more).set.spec?.template?.metadata?.annotations?.[HASH_ANNOTATION];

  test.each<[string, string | undefined]>([
    ['the configuration changes', hash({ config: { log_level: 'DEBUG' } })],
    ['the key changes', hash({}, { apiKey: given('k') })],
    ['the key for readers changes', hash({}, { readKey: given('k') })],
    ['the certificate changes', hash({}, { tls: { secretName: 's', hash: 'other', trust: 'a a', ends: '' } })],
  ])('if %s', (_what, after) => {
    expect(after).not.toBe(hash({}));
  });

  test('but not because others are joined through', () => {
    const [a, b] = ['http://vectors-0.vectors-headless.shop:6335', 'http://vectors-headless.shop:6335'].map(
      (bootstrap) => objectsOf({}, { bootstrap }).set,
    );
    expect(a).toEqual(b);
  });
});

test('a pod is known by its whole name', () => {
  const cluster = aCluster();
  expect(podAt(`${uriOf(cluster, 1)}/`)).toBe('vectors-1');
  expect(ordinalOf(cluster, 'vectors-1')).toBe(1);
  expect(ordinalOf(cluster, 'vectors-10')).toBe(10);
  for (const name of ['vectors', 'vectors-', 'vectors-01', 'vectors-x-1', 'other-1', 'vectors-1a']) {
    expect(ordinalOf(cluster, name)).toBeUndefined();
  }
});

test('a certificate is good for the host in the URI of every peer', () => {
  expect(certificateHosts(aCluster())).toContain('*.vectors-headless.shop');
});
