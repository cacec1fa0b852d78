import { admissionApp, type Cached, type Kind, silentLogger, systemClock } from '@polder/kube';
import { describe, expect, test } from 'vitest';
import { QdrantCluster, QdrantCollection, QdrantCollectionBackup, QdrantCollectionTemplate } from './kinds/index.ts';
import { webhooks } from './webhooks.ts';

/** What is stored already. */
interface Stored {
  readonly clusters?: readonly object[];
  readonly collections?: readonly object[];
}

interface Answer {
  readonly allowed: boolean;
  readonly status?: { readonly message: string };
  readonly warnings?: readonly string[];
}

async function asked(kind: Kind, object: object, old: object | null = null, stored: Stored = {}): Promise<Answer> {
  const all = (of: Kind) => (of.kind === 'QdrantCluster' ? stored.clusters : stored.collections) ?? [];
  const cached: Cached = { list: (of) => JSON.parse(JSON.stringify(all(of))) };
  const app = admissionApp({
    clock: systemClock,
    log: silentLogger,
    webhooks: Object.fromEntries(webhooks(cached).map((one) => [`/${one.kind.kind}`, one.webhook])),
  });
  const { group, version } = kind;
  const operation = old === null ? 'CREATE' : 'UPDATE';
  const request = { uid: 'u', operation, kind: { group, version, kind: kind.kind }, object, oldObject: old };
  const answer = await app.request(`/${kind.kind}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request }),
  });
  const { response }: { readonly response: Answer } = JSON.parse(await answer.text());
  return response;
}

const named = (kind: string, name: string, spec: object, status?: object) => ({
  apiVersion: 'qdrant.operator/v1alpha1',
  kind,
  metadata: { namespace: 'shop', name },
  spec,
  ...(status && { status }),
});

const FINE = { replicas: 3, image: 'qdrant/qdrant:v1.19.0', persistence: { size: '2Gi' } };
const cluster = (spec: object = {}, status?: object) => named('QdrantCluster', 'vectors', { ...FINE, ...spec }, status);
const formed = { qdrantStatus: 'Healthy', peers: [{ id: '1' }, { id: '2' }, { id: '3' }] };

const collection = (spec: object = {}, status?: object) =>
  named('QdrantCollection', 'points', { cluster: 'vectors', vectorSize: 4, replicationFactor: 2, ...spec }, status);
const made = { conditions: [{ type: 'Ready', status: 'True' }] };

describe('a cluster', () => {
  test('that is fine is stored without a word', async () => {
    expect(await asked(QdrantCluster, cluster())).toEqual({ uid: 'u', allowed: true });
    expect(await asked(QdrantCluster, cluster({ replicas: 4 }), cluster({}, formed))).toEqual({
      uid: 'u',
      allowed: true,
    });
  });

  test('that can not be is refused with everything that is wrong', async () => {
    const spec = { replicas: 0, image: ' ', persistence: { size: '1Gi' }, volumeSnapshots: { schedule: 'daily' } };
    const { allowed, status } = await asked(QdrantCluster, cluster(spec), cluster({}, formed));
    expect(allowed).toBe(false);
    for (const part of [
      'spec.replicas is 0; it must be at least 1',
      'spec.image is empty',
      'spec.persistence.size is 1Gi, less than 2Gi: a volume can not shrink',
      'spec.volumeSnapshots.schedule is "daily": ',
    ]) {
      expect(status?.message).toContain(part);
    }
  });

  test.each<[string, object, string]>([
    ['lose its volumes', { persistence: undefined }, 'can not be taken away'],
    ['go over to TLS with several peers', { tls: { enabled: true } }, 'do not reach each other'],
  ])('can not %s', async (_, change, because) => {
    const answer = await asked(QdrantCluster, cluster(change), cluster({}, formed));
    expect(answer.status?.message).toContain(because);
    // Before there is a peer, everything can change.
    expect(await asked(QdrantCluster, cluster(change), cluster())).toMatchObject({ allowed: true });
  });

  test('whose last change was refused can be taken back', async () => {
    const refused = cluster({ persistence: { size: '4Gi' } }, { ...formed, qdrantStatus: 'Error' });
    expect(await asked(QdrantCluster, cluster(), refused)).toEqual({ uid: 'u', allowed: true });
  });

  test.each<[string, object, string]>([
    ['has two peers', { replicas: 2 }, 'spec.replicas is 2'],
    ['has no volumes', { persistence: undefined }, 'spec.persistence is not set'],
    ['has an image without a version', { image: 'qdrant/qdrant:latest' }, 'spec.image has no version'],
    ['has a key in clear text', { apikey: 'hunter2' }, 'spec.apikey is a key in clear text'],
    ['has a key for readers in clear text', { apikey: 'true', readApikey: 'hunter2' }, 'spec.readApikey is a key'],
  ])('that %s is stored with a warning that the API server does not cut', async (_, spec, warning) => {
    const answer = await asked(QdrantCluster, cluster(spec));
    expect(answer).toMatchObject({ allowed: true, warnings: [expect.stringContaining(warning)] });
    expect(answer.warnings?.[0]).not.toMatch(/\.\.\.$/);
    expect(JSON.stringify(answer)).not.toContain('hunter2');
  });

  test('that shrinks below the copies of one of its collections is stored with a warning', async () => {
    const stored = {
      collections: [collection({ replicationFactor: 3 }), collection({ cluster: 'other', replicationFactor: 9 })],
    };
    const old = cluster({ replicas: 4 }, formed);
    expect(await asked(QdrantCluster, cluster({ replicas: 3 }), old, stored)).toEqual({ uid: 'u', allowed: true });
    expect(await asked(QdrantCluster, cluster({ replicas: 1 }), old, stored)).toMatchObject({
      warnings: ['spec.replicas is 1, but QdrantCollection shop/points wants 3 copies of each shard'],
    });
  });
});

describe('a collection', () => {
  const stored = { clusters: [cluster()] };

  test('that is fine is stored without a word', async () => {
    expect(await asked(QdrantCollection, collection(), null, stored)).toEqual({ uid: 'u', allowed: true });
    const grown = collection({ replicationFactor: 3 });
    expect(await asked(QdrantCollection, grown, collection({}, made), stored)).toEqual({ uid: 'u', allowed: true });
  });

  test.each([
    ['vectorSize', { vectorSize: 8 }, '4 to 8'],
    ['distance', { distance: 'Dot' }, 'Cosine to Dot'],
    ['shardNumber', { shardNumber: 3 }, '1 to 3'],
    ['cluster', { cluster: 'other' }, 'vectors to other'],
  ])('keeps its %s once it is made', async (field, change, values) => {
    const answer = await asked(QdrantCollection, collection(change), collection({}, made), stored);
    expect(answer.status?.message).toContain(`spec.${field} can not change from ${values}`);
    const pending = collection({}, { conditions: [{ type: 'Ready', status: 'False' }] });
    expect(await asked(QdrantCollection, collection(change), pending, stored)).toMatchObject({ allowed: true });
  });

  test('that was there before may say later what it is, and is not told of copies that it has', async () => {
    const status = { ...made, origin: 'Adopted' };
    const said = { replicationFactor: undefined, distance: 'Dot', shardNumber: 6 };
    const old = collection({ replicationFactor: undefined }, status);
    expect(await asked(QdrantCollection, collection(said, status), old, stored)).toEqual({ uid: 'u', allowed: true });
    const answer = await asked(QdrantCollection, collection({ distance: 'Cosine' }), collection(said, status), stored);
    expect(answer.status?.message).toContain('spec.distance can not change from Dot to Cosine');
  });

  test.each<[string, object, Stored, string]>([
    ['has one copy of each shard', { replicationFactor: 1 }, stored, 'spec.replicationFactor is 1: of 3 peers'],
    ['wants more copies than there are peers', { replicationFactor: 5 }, stored, 'vectors has 3 peers'],
    ['names a cluster that is not there', {}, {}, 'there is no such QdrantCluster yet'],
  ])('that %s is stored with a warning', async (_, spec, there, warning) => {
    const answer = await asked(QdrantCollection, collection(spec), null, there);
    expect(answer).toMatchObject({ allowed: true, warnings: [expect.stringContaining(warning)] });
  });
});

const snapshots = { s3EndpointURL: 'https://s3', s3CredentialsSecretName: 's', bucketName: 'b' };
const backingUp = (backupSchedule: string) => ({ ...snapshots, backupSchedule });

test.each<[Kind, (schedule: string) => object, string]>([
  [QdrantCollection, (schedule) => collection({ snapshots: backingUp(schedule) }), 'spec.snapshots.backupSchedule'],
  [
    QdrantCollectionBackup,
    (schedule) =>
      named('QdrantCollectionBackup', 'b', { cluster: 'c', collectionName: 'p', snapshots: backingUp(schedule) }),
    'spec.snapshots.backupSchedule',
  ],
  [
    QdrantCollectionTemplate,
    (schedule) => named('QdrantCollectionTemplate', 't', { name: 't', backup: { schedule } }),
    'spec.backup.schedule',
  ],
])('the schedule of a $kind is a line of cron, or empty', async (kind, object, field) => {
  expect((await asked(kind, object('61 * * * *'))).status?.message).toContain(`${field} is "61 * * * *": `);
  for (const schedule of ['0 3 * * *', ''])
    expect(await asked(kind, object(schedule))).toMatchObject({ allowed: true });
});
