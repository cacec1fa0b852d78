import { claims, pods, statefulSet, statefulSets } from '../contract/objects.ts';
import { DATA, DrivenSet, imageOf, revisions, template } from './driven-stateful-set.ts';
import { onDrivenNode } from './pods.ts';
import { expect, topic } from './suite.ts';

export const statefulSetMembers = topic('stateful sets', (promise) => {
  promise('number their members, and give each its name, host name and labels', async (world) => {
    const { wire, namespace, becomes } = world;
    const ns = await namespace();
    const { metadata } = await wire.must(
      wire.create(statefulSets(ns), statefulSet('web', { replicas: 2, ordinals: { start: 3 }, serviceName: 'peers' })),
    );
    const { status } = await becomes(`${statefulSets(ns)}/web`, {
      status: { replicas: 2, readyReplicas: 2, availableReplicas: 2, currentReplicas: 2, updatedReplicas: 2 },
    });
    const revision = expect.stringMatching(/^web-[a-z0-9]+$/);
    expect(status).toMatchObject({ observedGeneration: 1, collisionCount: 0, currentRevision: revision });
    const members = await world.podsOf(ns, 'app=web');
    expect(members.map((one) => one.metadata.name)).toEqual(['web-3', 'web-4']);
    expect(members[0]).toMatchObject({
      metadata: {
        generateName: 'web-',
        labels: {
          app: 'web',
          'statefulset.kubernetes.io/pod-name': 'web-3',
          'apps.kubernetes.io/pod-index': '3',
          'controller-revision-hash': revision,
        },
        ownerReferences: [
          {
            apiVersion: 'apps/v1',
            kind: 'StatefulSet',
            name: 'web',
            uid: metadata.uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: { hostname: 'web-3', subdomain: 'peers' },
    });
  });

  promise('start a member only when the one before it is ready', async (world) => {
    const set = await DrivenSet.open(world, { replicas: 2 });
    await set.reports({ replicas: 1, observedGeneration: 1 });
    await set.settled();
    expect(await set.names()).toEqual(['web-0']);
    await set.becomeReady(0);
    await set.member(1);
    await set.reports({ replicas: 2, readyReplicas: 1, availableReplicas: 1 });
  });

  promise('start a member only when the one before it has been ready for long enough', async (world) => {
    const set = await DrivenSet.open(world, { replicas: 2, minReadySeconds: 3600 });
    await set.becomeReady(0);
    await set.reports({ readyReplicas: 1, availableReplicas: 0 });
    await set.settled();
    expect(await set.names()).toEqual(['web-0']);
    await set.change({ minReadySeconds: 0 });
    await set.member(1);
  });

  promise('shrink from the top, each member once the one above it is gone', async (world) => {
    const set = await DrivenSet.ready(world, 3);
    await set.change({ replicas: 1 });
    await set.settled();
    expect(await set.going()).toEqual(['web-2']);
    await set.end(2);
    await set.end(1);
    await set.reports({ replicas: 1, currentReplicas: 1 });
    expect(await set.names()).toEqual(['web-0']);
  });

  promise('do not shrink while a member that stays is not ready', async (world) => {
    const set = await DrivenSet.ready(world, 2);
    await world.becomeUnready(await set.member(0));
    await set.reports({ readyReplicas: 1 });
    await set.change({ replicas: 1 });
    await set.settled();
    expect(await set.going()).toEqual([]);
    await set.becomeReady(0);
    await set.end(1);
  });

  promise('start and stop all members at once if that is what the user wants', async (world) => {
    const set = await DrivenSet.open(world, { replicas: 3, podManagementPolicy: 'Parallel' });
    await set.reports({ replicas: 3 });
    for (const ordinal of [0, 1, 2]) await world.scheduled(set.namespace, `web-${ordinal}`);
    await set.change({ replicas: 0 });
    await world.settles(async () => expect(await set.going()).toEqual(['web-0', 'web-1', 'web-2']));
    for (const ordinal of [0, 1, 2]) await set.end(ordinal);
  });

  promise('replace a member that has ended, however it ended', async (world) => {
    const set = await DrivenSet.ready(world, 1);
    const first = await set.member(0);
    await world.fail(first);
    await world.settles(async () => expect((await set.member(0)).metadata.uid).not.toBe(first.metadata.uid));
    const second = await world.scheduled(set.namespace, 'web-0');
    await world.succeed(second);
    await world.settles(async () => expect((await set.member(0)).metadata.uid).not.toBe(second.metadata.uid));
  });

  promise('wait for a member that is being deleted, and make it anew under its name', async (world) => {
    const set = await DrivenSet.ready(world, 2);
    const { metadata } = await set.member(0);
    await set.delete(0);
    await set.reports({ replicas: 2, currentReplicas: 1 });
    await set.settled();
    expect((await world.pod(set.namespace, 'web-0')).metadata.uid).toBe(metadata.uid);
    await set.end(0);
    expect((await set.member(0)).metadata.uid).not.toBe(metadata.uid);
  });

  promise('take in pods that nobody controls if a member could have their name', async (world) => {
    const { wire, namespace, becomes } = world;
    const ns = await namespace();
    const labels = { app: 'web' };
    for (const name of ['web-0', 'web-x']) await world.place(ns, name, { labels });
    // Of no revision, they would soon be replaced.
    const spec = { template: template('1', onDrivenNode), updateStrategy: { type: 'OnDelete' } };
    await wire.must(wire.create(statefulSets(ns), statefulSet('web', spec)));
    await becomes(`${statefulSets(ns)}/web`, { status: { replicas: 1 } });
    const owner = { kind: 'StatefulSet', name: 'web', controller: true };
    const taken = await becomes(`${pods(ns)}/web-0`, { metadata: { ownerReferences: [owner] } });
    expect((await world.pod(ns, 'web-x')).metadata).not.toHaveProperty('ownerReferences');

    // Ready, it also gets what makes it that member.
    await world.becomeReady(await world.pod(ns, 'web-0'));
    await becomes(`${pods(ns)}/web-0`, { metadata: { labels: { 'statefulset.kubernetes.io/pod-name': 'web-0' } } });

    await wire.must(wire.patch('merge', `${pods(ns)}/web-0`, { metadata: { labels: { app: null } } }));
    await world.settles(async () => {
      const { body } = await wire.get(`${pods(ns)}/web-0`);
      expect(body.metadata.uid).toBe(taken.metadata.uid);
      expect(body.metadata).not.toHaveProperty('ownerReferences');
    });
  });

  promise('take over the members and revisions of a set that was deleted without them', async (world) => {
    const { wire, becomes } = world;
    const set = await DrivenSet.ready(world, 2);
    const before = await set.members();
    const [revision] = await set.revisions();
    await wire.must(wire.delete(set.path, { propagationPolicy: 'Orphan' }));
    await world.gone(set.path);
    const body = statefulSet('web', {
      replicas: 2,
      template: template('1', onDrivenNode),
      podManagementPolicy: 'Parallel',
    });
    const { metadata } = await wire.must(wire.create(statefulSets(set.namespace), body));
    await set.reports({ replicas: 2, readyReplicas: 2, updatedReplicas: 2, currentRevision: revision?.metadata.name });
    const owned = { metadata: { ownerReferences: [{ kind: 'StatefulSet', name: 'web', uid: metadata.uid }] } };
    expect(await set.members()).toMatchObject(before.map((pod) => ({ metadata: { uid: pod.metadata.uid } })));
    for (const pod of before) await becomes(`${pods(set.namespace)}/${pod.metadata.name}`, owned);
    await becomes(`${revisions(set.namespace)}/${revision?.metadata.name}`, owned);
    expect(await set.revisions()).toHaveLength(1);
  });

  promise('tell in events what they did', async (world) => {
    const set = await DrivenSet.open(world, { volumeClaimTemplates: [DATA] });
    await set.becomeReady(0);
    await set.change({ replicas: 0 });
    const told = (reason: string, message: string) =>
      world.recorded(set.namespace, 'web', { type: 'Normal', reason, message });
    await told('SuccessfulCreate', 'Create Claim data-web-0 Pod web-0 in StatefulSet web success');
    await told('SuccessfulCreate', 'Create Pod web-0 in StatefulSet web successful');
    await told('SuccessfulDelete', 'Delete Pod web-0 in StatefulSet web successful');
  });

  promise('count what is left of their members while they are being deleted', async (world) => {
    const { wire } = world;
    const set = await DrivenSet.ready(world, 2);
    await wire.must(wire.delete(set.path, { propagationPolicy: 'Foreground' }));
    await set.end(1);
    await set.reports({ replicas: 1 });
    await set.end(0);
    await world.gone(set.path);
  });
});

export const statefulSetUpdates = topic('updates of stateful sets', (promise) => {
  promise('replace members from the top, each once the one above it is ready', async (world) => {
    const set = await DrivenSet.ready(world, 3);
    const [before] = await set.revisions();
    await set.update('2');
    await set.settled();
    expect(await set.going()).toEqual(['web-2']);
    await set.end(2);
    expect(imageOf(await set.member(2))).toBe('2');
    await set.settled();
    expect(await set.going()).toEqual([]);
    await set.reports({ currentRevision: before?.metadata.name, currentReplicas: 2, updatedReplicas: 1 });
    await set.becomeReady(2);
    await set.end(1);
    await set.becomeReady(1);
    await set.end(0);
    await set.becomeReady(0);
    const [, after] = await set.revisions();
    const { name } = after?.metadata ?? {};
    await set.reports({ currentRevision: name, updateRevision: name, currentReplicas: 3, updatedReplicas: 3 });
  });

  promise('replace one member at a time even if all of them started at once', async (world) => {
    const set = await DrivenSet.ready(world, 2, { podManagementPolicy: 'Parallel' });
    await set.update('2');
    await set.settled();
    expect(await set.going()).toEqual(['web-1']);
  });

  promise('leave members below the partition at their revision, even those that are made anew', async (world) => {
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 1 } };
    const set = await DrivenSet.ready(world, 2, { updateStrategy });
    await set.update('2');
    await set.end(1);
    await set.becomeReady(1);
    await set.reports({ readyReplicas: 2, updatedReplicas: 1, currentReplicas: 1 });
    await set.delete(0);
    await set.end(0);
    expect(imageOf(await set.member(0))).toBe('1');
    await set.becomeReady(0);
    await set.settled();
    expect((await set.members()).map(imageOf)).toEqual(['1', '2']);
    await set.change({ updateStrategy: { rollingUpdate: { partition: 0 } } });
    await set.end(0);
    expect(imageOf(await set.member(0))).toBe('2');
  });

  promise('wait for the user to delete members if that is what they want', async (world) => {
    const set = await DrivenSet.ready(world, 2, { updateStrategy: { type: 'OnDelete' } });
    await set.update('2');
    await set.settled();
    expect(await set.going()).toEqual([]);
    await set.delete(0);
    await set.end(0);
    expect((await set.member(0)).spec.containers[0]?.image).toBe('example.com/main:2');
    await set.reports({ updatedReplicas: 1, currentReplicas: 1 });
  });

  promise('stop at a member that does not become ready, and so does going back until it is deleted', async (world) => {
    const set = await DrivenSet.ready(world, 2);
    await set.update('broken');
    await set.end(1);
    expect(imageOf(await set.member(1))).toBe('broken');
    await world.scheduled(set.namespace, 'web-1');
    await set.update('1');
    await set.settled();
    expect((await set.members()).map(imageOf)).toEqual(['1', 'broken']);
    expect(await set.going()).toEqual([]);
    await set.delete(1);
    await set.end(1);
    expect(imageOf(await set.member(1))).toBe('1');
  });

  promise('record each template, and going back takes up its old record', async (world) => {
    const set = await DrivenSet.open(world, { replicas: 0 });
    await set.reports({ observedGeneration: 1 });
    const [first] = await set.revisions();
    const { name = '' } = first?.metadata ?? {};
    expect(first).toMatchObject({
      revision: 1,
      metadata: {
        labels: { app: 'web', 'controller.kubernetes.io/hash': name.slice('web-'.length) },
        ownerReferences: [{ kind: 'StatefulSet', name: 'web', controller: true }],
      },
      data: { spec: { template: { ...template('1', onDrivenNode), $patch: 'replace' } } },
    });
    await set.update('2');
    await set.settled();
    expect((await set.revisions()).map(({ revision }) => revision)).toEqual([1, 2]);
    await set.update('1');
    await set.settled();
    const [, last] = await set.revisions();
    expect((await set.revisions()).map(({ revision }) => revision)).toEqual([2, 3]);
    expect(last?.metadata.name).toBe(name);
    await set.reports({ updateRevision: name });
  });

  promise('name a template alike in every cluster', async (world) => {
    const { wire, namespace, becomes } = world;
    const ns = await namespace();
    await wire.must(wire.create(statefulSets(ns), statefulSet('web', { replicas: 0 })));
    await becomes(`${statefulSets(ns)}/web`, { status: { updateRevision: 'web-647bcc684d' } });
  });

  promise('keep as many old templates as the user wants, beside those in use', async (world) => {
    const set = await DrivenSet.open(world, { replicas: 0, revisionHistoryLimit: 1 });
    for (const image of ['2', '3', '4']) {
      const { metadata } = await set.update(image);
      await set.reports({ observedGeneration: metadata.generation });
    }
    // A controller that does not see its newest template yet clears up the next time it looks.
    await set.change({ minReadySeconds: 1 });
    await world.settles(async () => {
      expect((await set.revisions()).map(({ revision }) => revision)).toEqual([3, 4]);
    });
  });

  promise('know no maxUnavailable: the server does not keep it', async (world) => {
    const { wire, namespace } = world;
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } };
    const body = await wire.must(wire.create(statefulSets(await namespace()), statefulSet('web', { updateStrategy })));
    expect(body.spec['updateStrategy']).toEqual({ type: 'RollingUpdate', rollingUpdate: { partition: 0 } });
  });
});

export const statefulSetClaims = topic('the claims of stateful sets', (promise) => {
  const spec = { volumeClaimTemplates: [DATA] };

  promise('are made for each member, and stay when it goes', async (world) => {
    const set = await DrivenSet.open(world, spec);
    const member = await set.member(0);
    const made = await world.becomes(set.claim(0), {
      metadata: { labels: { app: 'web', tier: 'db' } },
      spec: { resources: { requests: { storage: '1Gi' } } },
    });
    expect(made.metadata).not.toHaveProperty('ownerReferences');
    expect(member.spec['volumes']).toContainEqual({ name: 'data', persistentVolumeClaim: { claimName: 'data-web-0' } });
    await set.becomeReady(0);
    await set.change({ replicas: 0 });
    await world.gone(`${pods(set.namespace)}/web-0`);
    await set.change({ replicas: 1 });
    await set.member(0);
    await world.becomes(set.claim(0), { metadata: { uid: made.metadata.uid } });
  });

  promise('that are there already are used as they are', async (world) => {
    const { wire, namespace, becomes } = world;
    const ns = await namespace();
    const there = { metadata: { name: 'data-web-0' }, spec: { ...DATA.spec, accessModes: ['ReadWriteMany'] } };
    const { metadata } = await wire.must(wire.create(claims(ns), there));
    await wire.must(wire.create(statefulSets(ns), statefulSet('web', spec)));
    await becomes(`${statefulSets(ns)}/web`, { status: { replicas: 1 } });
    await becomes(`${claims(ns)}/data-web-0`, {
      metadata: { uid: metadata.uid },
      spec: { accessModes: ['ReadWriteMany'] },
    });
  });

  promise('go with the set if that is what the user wants', async (world) => {
    const { wire, becomes, gone } = world;
    const policy = { whenDeleted: 'Delete', whenScaled: 'Retain' };
    const set = await DrivenSet.open(world, { ...spec, persistentVolumeClaimRetentionPolicy: policy });
    const owners = [{ kind: 'StatefulSet', name: 'web', controller: true, blockOwnerDeletion: true }];
    await becomes(set.claim(0), { metadata: { ownerReferences: owners } });
    await wire.must(wire.delete(set.path));
    await gone(set.claim(0));
  });

  promise('go with a member that is no longer wanted if that is what the user wants', async (world) => {
    const { becomes, gone } = world;
    const policy = { whenDeleted: 'Delete', whenScaled: 'Delete' };
    const set = await DrivenSet.ready(world, 2, { ...spec, persistentVolumeClaimRetentionPolicy: policy });
    const ofSet = [{ kind: 'StatefulSet', name: 'web', controller: true }];
    await becomes(set.claim(0), { metadata: { ownerReferences: ofSet } });
    const { metadata } = await becomes(set.claim(1), { metadata: { ownerReferences: ofSet } });
    await set.change({ replicas: 1 });
    await gone(set.claim(1));
    await becomes(set.claim(0), { metadata: { ownerReferences: ofSet } });
    await set.change({ replicas: 2 });
    await set.member(1);
    expect((await becomes(set.claim(1), {})).metadata.uid).not.toBe(metadata.uid);
  });

  promise('no longer go when the user thinks better of it', async (world) => {
    const policy = { whenDeleted: 'Delete', whenScaled: 'Retain' };
    const set = await DrivenSet.ready(world, 1, { ...spec, persistentVolumeClaimRetentionPolicy: policy });
    await world.becomes(set.claim(0), { metadata: { ownerReferences: [{ kind: 'StatefulSet' }] } });
    await set.change({ persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain' } });
    await world.settles(async () => {
      const { body } = await world.wire.get(set.claim(0));
      expect(body.metadata).not.toHaveProperty('ownerReferences');
    });
  });

  promise('keep a member waiting while they are being deleted, and it says so', async (world) => {
    const { wire, namespace, recorded } = world;
    const ns = await namespace();
    const held = { metadata: { name: 'data-web-0', finalizers: ['example.com/hold'] }, spec: DATA.spec };
    await wire.must(wire.create(claims(ns), held));
    await wire.must(wire.delete(`${claims(ns)}/data-web-0`));
    await wire.must(wire.create(statefulSets(ns), statefulSet('web', spec)));
    await recorded(ns, 'web', {
      type: 'Warning',
      reason: 'FailedCreate',
      message: 'Create Pod web-0 in StatefulSet web failed error: pvc data-web-0 is being deleted',
    });
    expect((await wire.get(`${pods(ns)}/web-0`)).status).toBe(404);
    await wire.must(wire.patch('merge', `${claims(ns)}/data-web-0`, { metadata: { finalizers: null } }));
    await world.becomes(`${pods(ns)}/web-0`, {});
  });
});
