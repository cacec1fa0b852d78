import {
  Deployment,
  EventsV1Event,
  type NewObject,
  ReplicaSet,
  register,
  ValidatingWebhookConfiguration,
} from '@polder/kube';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { replicaSets } from '../replica-set/index.ts';
import { TestWorld } from '../test-world.ts';
import { deployments } from './index.ts';

let world: TestWorld;
beforeEach(() => {
  world = new TestWorld().run(register(deployments), register(replicaSets));
});
afterEach(() => world.stop());

const ref = { namespace: 'default', name: 'web' };

const web = (replicas: number, spec: object = {}): NewObject<Deployment> => ({
  metadata: ref,
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx:1' }] } },
    ...spec,
  },
});

const change = (body: object) => world.client.patch(Deployment, ref, { type: 'merge', body });
const image = (version: number) => ({
  spec: { template: { spec: { containers: [{ name: 'c', image: `nginx:${version}` }] } } },
});

/** The rollout that was asked for last is over. */
const isOver = async () => {
  const { metadata, spec, status } = await world.client.get(Deployment, ref);
  const counts = [status?.updatedReplicas, status?.replicas, status?.availableReplicas].map((count) => count ?? 0);
  return status?.observedGeneration === metadata.generation && counts.every((count) => count === spec?.replicas);
};

const sets = async () => {
  const { items } = await world.client.list(ReplicaSet);
  const versions = items.map(({ spec }) => [spec?.template?.spec?.containers[0]?.image ?? '', spec?.replicas ?? 0]);
  return Object.fromEntries(versions);
};

async function notes(): Promise<readonly string[]> {
  const { items } = await world.client.list(EventsV1Event);
  return items.filter(({ regarding }) => regarding?.kind === 'Deployment').map(({ note = '' }) => note);
}

test('a deployment goes from version to version and back, and remembers the way', async () => {
  await world.client.create(Deployment, web(3));
  await world.until('the first version is out', isOver);
  await change(image(2));
  await world.until('the second version is out', isOver);
  expect(await sets()).toEqual({ 'nginx:1': 0, 'nginx:2': 3 });
  await change(image(1));
  await world.until('the first version is back', isOver);
  expect(await sets()).toEqual({ 'nginx:1': 3, 'nginx:2': 0 });
  const { metadata } = await world.client.get(Deployment, ref);
  expect(metadata.annotations).toEqual({ 'deployment.kubernetes.io/revision': '3' });
});

test('once a rollout is over, nothing is written', async () => {
  await world.client.create(Deployment, web(2));
  await world.until('it is out', isOver);
  await world.settle();
  world.writes.length = 0;
  await world.settle(24 * 3600_000);
  expect(world.writes).toEqual([]);
});

test('a rollout that is stuck says so once, and then nothing more is written', async () => {
  await world.client.create(Deployment, web(1, { progressDeadlineSeconds: 60 }));
  await world.settle(62_000);
  const { status } = await world.client.get(Deployment, ref);
  expect(status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }),
  );
  world.writes.length = 0;
  await world.settle(24 * 3600_000);
  expect(world.writes).toEqual([]);
});

test('every step of a rollout is told in the words that users know', async () => {
  await world.client.create(Deployment, web(2, { strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } }));
  await world.until('the first version is out', isOver);
  await change(image(2));
  await world.until('the second version is out', isOver);
  const { items } = await world.client.list(ReplicaSet);
  const nameOf = (size: number) => items.find(({ spec }) => spec?.replicas === size)?.metadata.name;
  const [old, current] = [nameOf(0), nameOf(2)];
  await world.until('all is told', async () => (await notes()).length === 5);
  expect((await notes()).toSorted()).toEqual(
    [
      `Scaled up replica set ${old} from 0 to 2`,
      `Scaled up replica set ${current} from 0 to 1`,
      `Scaled down replica set ${old} from 2 to 1`,
      `Scaled up replica set ${current} from 1 to 2`,
      `Scaled down replica set ${old} from 1 to 0`,
    ].toSorted(),
  );
});

test('the name of a set that is taken by a stranger is avoided', async () => {
  const { metadata } = await world.client.create(Deployment, web(1, { paused: true }));
  await world.settle();
  await change({ spec: { paused: false } });
  await world.until('it is out', isOver);
  const [first] = (await world.client.list(ReplicaSet)).items;
  await world.client.delete(Deployment, metadata);
  const orphaned = { metadata: { ownerReferences: null, labels: { app: 'stranger' } } };
  await world.client.patch(ReplicaSet, first?.metadata ?? { name: '' }, { type: 'merge', body: orphaned });
  await world.client.create(Deployment, web(1));
  await world.until('it is out under another name', isOver);
  const { status } = await world.client.get(Deployment, ref);
  expect(status?.collisionCount).toBe(1);
  expect((await world.client.list(ReplicaSet)).items).toHaveLength(2);
});

test('a set that the server refuses is told in the status and in an event, and made as soon as it is allowed', async () => {
  const nobody = { metadata: { name: 'nobody' }, webhooks: [refuser] };
  const webhook = await world.client.create(ValidatingWebhookConfiguration, nobody);
  await world.client.create(Deployment, web(1));
  const progress = async () => {
    const { status } = await world.client.get(Deployment, ref);
    return status?.conditions?.find(({ type }) => type === 'Progressing');
  };
  await world.until('it says so', async () => (await progress())?.reason === 'ReplicaSetCreateError');
  const refusal = /^Failed to create new replica set "web-[a-z0-9]+": .*failed calling webhook/;
  expect(await progress()).toMatchObject({ status: 'False', message: expect.stringMatching(refusal) });
  await world.until('it is told', async () => (await notes()).some((note) => refusal.test(note)));
  await world.client.delete(ValidatingWebhookConfiguration, webhook.metadata);
  await world.until('it is out', isOver);
  expect(await progress()).toMatchObject({ status: 'True', reason: 'NewReplicaSetAvailable' });
});

/** Nobody listens there, and no answer means no. */
const refuser = {
  name: 'nobody.example.com',
  clientConfig: { url: 'https://127.0.0.1:1/' },
  rules: [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE' as const], resources: ['replicasets'] }],
  failurePolicy: 'Fail' as const,
  sideEffects: 'None' as const,
  admissionReviewVersions: ['v1'],
};
