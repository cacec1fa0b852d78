import { DrivenDeployment, limits, template } from './driven-deployment.ts';
import { expect, topic } from './suite.ts';

const UNAVAILABLE = 'Available False MinimumReplicasUnavailable';
const AVAILABLE = 'Available True MinimumReplicasAvailable';
const GETTING_ON = 'Progressing True ReplicaSetUpdated';
/** Pods that nobody places run on nodes where they are ready by themselves. */
const SIMULATED = {};
const DONE = 'Progressing True NewReplicaSetAvailable';

export const deploymentRollouts = topic('deployments', (promise) => {
  promise('run their pods through a replica set that carries the hash of their template', async (world) => {
    const metadata = { annotations: { 'example.com/owner': 'team-a' } };
    const rollout = await DrivenDeployment.start(world, { replicas: 2, minReadySeconds: 3 }, metadata);
    const { uid } = (await rollout.becomes({ metadata: { annotations: { 'deployment.kubernetes.io/revision': '1' } } }))
      .metadata;
    const set = await rollout.set('v1');
    const hash = set.metadata.labels['pod-template-hash'] ?? '';
    expect(hash).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]+$/);
    expect(set.metadata).toMatchObject({
      name: `web-${hash}`,
      labels: { app: 'web', 'pod-template-hash': hash },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid, controller: true, blockOwnerDeletion: true },
      ],
    });
    expect(set.metadata.annotations).toEqual({
      'example.com/owner': 'team-a',
      'deployment.kubernetes.io/revision': '1',
      'deployment.kubernetes.io/desired-replicas': '2',
      'deployment.kubernetes.io/max-replicas': '3',
    });
    const labels = { app: 'web', 'pod-template-hash': hash };
    expect(set.spec).toMatchObject({
      replicas: 2,
      minReadySeconds: 3,
      selector: { matchLabels: labels },
      template: { metadata: { labels } },
    });
    const [pod] = await rollout.pods('v1', 2);
    expect(pod?.metadata.labels).toMatchObject(labels);
    expect(pod?.metadata.name).toMatch(new RegExp(`^web-${hash}-[a-z0-9]{5}$`));
  });

  promise('say how many of their pods there are, are ready and are available', async (world) => {
    const rollout = await DrivenDeployment.start(world, { replicas: 2, ...limits(0, 1) });
    const pods = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, terminatingReplicas: 0 };
    await rollout.statusBecomes({ ...pods, unavailableReplicas: 2 }, UNAVAILABLE, GETTING_ON);
    await rollout.ready('v1', 2, 1);
    const one = { readyReplicas: 1, availableReplicas: 1, unavailableReplicas: 1 };
    await rollout.statusBecomes({ ...pods, ...one }, AVAILABLE, GETTING_ON);
    await rollout.ready('v1', 2);
    await rollout.statusBecomes({ ...pods, readyReplicas: 2, availableReplicas: 2 }, AVAILABLE, DONE);
    await rollout.change({ spec: { replicas: 0 } });
    await rollout.statusBecomes({ observedGeneration: 2, terminatingReplicas: 2 }, AVAILABLE, DONE);
    await rollout.finish(2);
    await rollout.statusBecomes({ observedGeneration: 2, terminatingReplicas: 0 }, AVAILABLE, DONE);
    await rollout.toldOf('up v1 from 0 to 2', 'down v1 from 2 to 0');
  });

  promise('roll out step by step, with no more pods than the surge allows and no fewer than wanted', async (world) => {
    const rollout = await DrivenDeployment.start(world, { replicas: 3, ...limits(1, 0) });
    await rollout.ready('v1', 3);
    await rollout.becomes({ status: { availableReplicas: 3 } });

    await rollout.update('v2');
    const during = { observedGeneration: 2, replicas: 4, readyReplicas: 3, availableReplicas: 3 };
    // Without its conditions: a pass that sees the first pod of the set it has just made still says that it made the set.
    await rollout.becomes({
      status: { ...during, updatedReplicas: 1, unavailableReplicas: 1, terminatingReplicas: 0 },
    });
    await rollout.sizesBecome({ v1: 3, v2: 1 });
    await rollout.ready('v2', 1);
    await rollout.sizesBecome({ v1: 2, v2: 2 });
    // Pods on their way out do not hold it up.
    const second = { ...during, updatedReplicas: 2, unavailableReplicas: 1, terminatingReplicas: 1 };
    await rollout.statusBecomes(second, AVAILABLE, GETTING_ON);
    await rollout.ready('v2', 2);
    await rollout.sizesBecome({ v1: 1, v2: 3 });
    await rollout.ready('v2', 3);
    await rollout.sizesBecome({ v1: 0, v2: 3 });
    await rollout.finish(3);
    const done = { observedGeneration: 2, replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 };
    await rollout.statusBecomes({ ...done, terminatingReplicas: 0 }, AVAILABLE, DONE);
    await rollout.becomes({ metadata: { annotations: { 'deployment.kubernetes.io/revision': '2' } } });
    const down = ['down v1 from 3 to 2', 'down v1 from 2 to 1', 'down v1 from 1 to 0'];
    const up = ['up v2 from 0 to 1', 'up v2 from 1 to 2', 'up v2 from 2 to 3'];
    await rollout.toldOf('up v1 from 0 to 3', ...up, ...down);
  });

  promise('round percents up for pods too many and down for pods too few', async (world) => {
    const rollout = await DrivenDeployment.start(world, { replicas: 5, ...limits('30%', '30%') });
    await rollout.ready('v1', 5);
    await rollout.becomes({ status: { availableReplicas: 5 } });
    await rollout.update('v2');
    // 2 more than 5, and 1 less.
    await rollout.sizesBecome({ v1: 4, v2: 3 });
    await rollout.toldOf('up v1 from 0 to 5', 'up v2 from 0 to 2', 'down v1 from 5 to 4', 'up v2 from 2 to 3');
  });

  promise('replace one pod at a time where both limits come to nothing', async (world) => {
    const rollout = await DrivenDeployment.start(world, { replicas: 2, ...limits(0, '1%') });
    await rollout.ready('v1', 2);
    await rollout.becomes({ status: { availableReplicas: 2 } });
    await rollout.update('v2');
    await rollout.sizesBecome({ v1: 1, v2: 1 });
    await rollout.ready('v2', 1);
    await rollout.sizesBecome({ v1: 0, v2: 2 });
  });

  promise('take away unhealthy pods of the old version first', async (world) => {
    const rollout = await DrivenDeployment.start(world, { replicas: 3, ...limits(0, 1) });
    const [sick, ...healthy] = await rollout.pods('v1', 3);
    for (const pod of healthy) await world.becomeReady(pod);
    await rollout.becomes({ status: { availableReplicas: 2 } });
    await rollout.update('v2');
    await rollout.sizesBecome({ v1: 2, v2: 1 });
    const [gone] = await rollout.going(1);
    expect(gone?.metadata.name).toBe(sick?.metadata.name);
  });

  promise('go straight to the newest version, from however many there are', async (world) => {
    const rollout = await DrivenDeployment.start(world, { replicas: 2, ...limits(1, 0) });
    await rollout.ready('v1', 2);
    await rollout.becomes({ status: { availableReplicas: 2 } });
    await rollout.update('v2');
    await rollout.sizesBecome({ v1: 2, v2: 1 });
    await rollout.update('v3');
    // The pod that never became ready makes room for one of the newest.
    await rollout.sizesBecome({ v1: 2, v2: 0, v3: 1 });
    await rollout.ready('v3', 1);
    await rollout.sizesBecome({ v1: 1, v2: 0, v3: 2 });
  });

  promise('with Recreate have no new pod before the last old one is gone', async (world) => {
    const rollout = await DrivenDeployment.start(world, { replicas: 2, strategy: { type: 'Recreate' } });
    await rollout.ready('v1', 2);
    await rollout.becomes({ status: { availableReplicas: 2 } });
    await rollout.update('v2');
    await rollout.sizesBecome({ v1: 0 });
    const [first] = await rollout.going(2);
    if (first) await world.finishDeletion(first);
    await rollout.statusBecomes({ observedGeneration: 2, terminatingReplicas: 1 }, UNAVAILABLE, DONE);
    expect(await rollout.sets()).toHaveLength(1);
    await rollout.finish(1);
    await rollout.sizesBecome({ v1: 0, v2: 2 });
    await rollout.ready('v2', 2);
    const done = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2, terminatingReplicas: 0 };
    await rollout.statusBecomes({ observedGeneration: 2, ...done }, AVAILABLE, DONE);
  });

  promise('wait while they are paused, and go on when they are resumed', async (world) => {
    const rollout = await DrivenDeployment.start(world, { replicas: 2, ...limits(1, 0) });
    await rollout.ready('v1', 2);
    await rollout.becomes({ status: { availableReplicas: 2 } });
    await rollout.update('v2', { paused: true });
    const pods = { replicas: 2, readyReplicas: 2, availableReplicas: 2, terminatingReplicas: 0 };
    await rollout.statusBecomes({ observedGeneration: 2, ...pods }, AVAILABLE, 'Progressing Unknown DeploymentPaused');
    // They can be scaled all the same.
    await rollout.change({ spec: { replicas: 3 } });
    await rollout.sizesBecome({ v1: 3 });
    await rollout.ready('v1', 3);
    await rollout.becomes({ status: { observedGeneration: 3, availableReplicas: 3 } });
    await rollout.change({ spec: { paused: false } });
    await rollout.sizesBecome({ v1: 3, v2: 1 });
    await rollout.becomes({
      status: {
        conditions: expect.arrayContaining([expect.objectContaining({ type: 'Progressing', status: 'True' })]),
      },
    });
  });

  promise('share pods between versions in proportion when they are scaled in the midst of a rollout', async (world) => {
    const rollout = await DrivenDeployment.start(world, { replicas: 4, ...limits(1, 0) });
    await rollout.ready('v1', 4);
    await rollout.becomes({ status: { availableReplicas: 4 } });
    await rollout.update('v2');
    await rollout.sizesBecome({ v1: 4, v2: 1 });
    await rollout.change({ spec: { replicas: 8 } });
    await rollout.sizesBecome({ v1: 7, v2: 2 });
    for (const version of ['v1', 'v2']) {
      expect((await rollout.set(version)).metadata.annotations).toMatchObject({
        'deployment.kubernetes.io/desired-replicas': '8',
        'deployment.kubernetes.io/max-replicas': '9',
      });
    }
    await rollout.change({ spec: { replicas: 2 } });
    await rollout.sizesBecome({ v1: 2, v2: 1 });
  });

  promise('use the replica set of a former version again, with a new revision and a history', async (world) => {
    const rollout = await DrivenDeployment.start(world, { replicas: 1, template: template('v1', SIMULATED) });
    const first = await rollout.set('v1');
    await rollout.becomes({ status: { availableReplicas: 1 } });
    await rollout.update('v2');
    await rollout.sizesBecome({ v1: 0, v2: 1 });
    await rollout.update('v1');
    await rollout.sizesBecome({ v1: 1, v2: 0 });
    const again = await rollout.set('v1');
    expect(again.metadata.uid).toBe(first.metadata.uid);
    expect(again.metadata.annotations).toMatchObject({
      'deployment.kubernetes.io/revision': '3',
      'deployment.kubernetes.io/revision-history': '1',
    });
    await rollout.becomes({ metadata: { annotations: { 'deployment.kubernetes.io/revision': '3' } } });
  });

  promise('go back when an old client asks them to by annotation', async (world) => {
    const rollout = await DrivenDeployment.start(world, { replicas: 1, template: template('v1', SIMULATED) });
    await rollout.becomes({ status: { availableReplicas: 1 } });
    await rollout.update('v2');
    await rollout.sizesBecome({ v1: 0, v2: 1 });
    await rollout.change({ metadata: { annotations: { 'deprecated.deployment.rollback.to': '0' } } });
    await rollout.sizesBecome({ v1: 1, v2: 0 });
    const after = await rollout.becomes({ metadata: { annotations: { 'deployment.kubernetes.io/revision': '3' } } });
    expect(after.metadata.annotations).not.toHaveProperty(['deprecated.deployment.rollback.to']);
    expect(after.spec).toMatchObject({ template: { metadata: { labels: { app: 'web' } } } });
  });

  promise('keep no more old versions than the history limit', async (world) => {
    const spec = { replicas: 1, revisionHistoryLimit: 1, template: template('v1', SIMULATED) };
    const rollout = await DrivenDeployment.start(world, spec);
    await rollout.becomes({ status: { availableReplicas: 1 } });
    await rollout.update('v2');
    await rollout.sizesBecome({ v1: 0, v2: 1 });
    await rollout.update('v3');
    await rollout.sizesBecome({ v2: 0, v3: 1 });
  });

  promise('say so when they make no progress in time, and take it back when they do', async (world) => {
    const rollout = await DrivenDeployment.start(world, { replicas: 1, progressDeadlineSeconds: 2 });
    const pods = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, terminatingReplicas: 0 };
    const late = 'Progressing False ProgressDeadlineExceeded';
    await rollout.statusBecomes({ ...pods, unavailableReplicas: 1 }, UNAVAILABLE, late);
    const set = await rollout.set('v1');
    const message = `ReplicaSet "${set.metadata.name}" has timed out progressing.`;
    await rollout.becomes({ status: { conditions: expect.arrayContaining([expect.objectContaining({ message })]) } });
    await rollout.ready('v1', 1);
    await rollout.statusBecomes({ ...pods, readyReplicas: 1, availableReplicas: 1 }, AVAILABLE, DONE);
  });

  promise('count a pod as available when it has been ready for minReadySeconds', async (world) => {
    const rollout = await DrivenDeployment.start(world, { replicas: 1, minReadySeconds: 2 });
    await rollout.ready('v1', 1);
    const pods = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, terminatingReplicas: 0 };
    await rollout.statusBecomes({ ...pods, unavailableReplicas: 1 }, UNAVAILABLE, GETTING_ON);
    await rollout.statusBecomes({ ...pods, availableReplicas: 1 }, AVAILABLE, DONE);
  });

  promise('take in a replica set of their template that nobody controls', async (world) => {
    const { wire } = world;
    const rollout = new DrivenDeployment(world, await world.namespace());
    const stray = await wire.must(
      wire.create(rollout.setsPath, {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: { name: 'stray', labels: { app: 'web' } },
        spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template: template('v1') },
      }),
    );
    const { metadata } = await rollout.create({ replicas: 2, template: template('v1') });
    const owner = { kind: 'Deployment', name: 'web', uid: metadata.uid, controller: true };
    await world.becomes(`${rollout.setsPath}/stray`, {
      metadata: { uid: stray.metadata.uid, ownerReferences: [owner] },
    });
    await rollout.sizesBecome({ v1: 2 });
    await rollout.becomes({ metadata: { annotations: { 'deployment.kubernetes.io/revision': '1' } } });
    expect(await rollout.sets()).toHaveLength(1);
  });

  promise(
    'let a replica set go that their selector no longer matches, and find another name for the next',
    async (world) => {
      const { wire } = world;
      const rollout = await DrivenDeployment.start(world, { replicas: 1 });
      const set = await rollout.set('v1');
      await wire.must(
        wire.patch('merge', `${rollout.setsPath}/${set.metadata.name}`, { metadata: { labels: { app: 'free' } } }),
      );
      await rollout.becomes({ status: { collisionCount: 1 } });
      const [next] = await world.settles(async () => {
        const others = (await rollout.sets()).filter(({ metadata }) => metadata.uid !== set.metadata.uid);
        expect(others).toHaveLength(1);
        return others;
      });
      expect(next?.metadata.name).not.toBe(set.metadata.name);
      const freed = await wire.get(`${rollout.setsPath}/${set.metadata.name}`);
      expect(freed.body.metadata).not.toHaveProperty('ownerReferences');
    },
  );

  promise('say what keeps their pods away', async (world) => {
    const { wire, fresh } = world;
    const priorityClassName = fresh('urgent');
    const spec = { replicas: 1, template: template('v1', { priorityClassName }) };
    const rollout = await DrivenDeployment.start(world, spec);
    const refused = {
      type: 'ReplicaFailure',
      status: 'True',
      reason: 'FailedCreate',
      message: expect.stringMatching(
        `^pods "web-.*" is forbidden: no PriorityClass with name ${priorityClassName} was found$`,
      ),
    };
    await rollout.becomes({
      status: { unavailableReplicas: 1, conditions: expect.arrayContaining([expect.objectContaining(refused)]) },
    });
    const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
    await wire.must(wire.create(classes, { metadata: { name: priorityClassName }, value: 1 }));
    await world.settles(async () => {
      const { text } = await wire.get(rollout.path);
      expect(text).not.toContain('ReplicaFailure');
    });
    await wire.must(wire.delete(`${classes}/${priorityClassName}`));
  });

  promise('hand their annotations on to the replica set of today, and to no other', async (world) => {
    const rollout = await DrivenDeployment.start(world, { replicas: 1, template: template('v1', SIMULATED) });
    await rollout.becomes({ status: { availableReplicas: 1 } });
    await rollout.change({ metadata: { annotations: { 'kubernetes.io/change-cause': 'first' } } });
    await world.settles(async () => {
      const { metadata } = await rollout.set('v1');
      expect(metadata.annotations).toMatchObject({ 'kubernetes.io/change-cause': 'first' });
    });
    await rollout.change({ metadata: { annotations: { 'kubernetes.io/change-cause': 'second' } } });
    await rollout.update('v2');
    await rollout.sizesBecome({ v1: 0, v2: 1 });
    expect((await rollout.set('v2')).metadata.annotations).toMatchObject({ 'kubernetes.io/change-cause': 'second' });
  });

  promise('never change whom they select', async (world) => {
    const rollout = await DrivenDeployment.start(world, { replicas: 0 });
    const selector = { matchLabels: { app: 'web', tier: 'front' } };
    const labelled = { metadata: { labels: { app: 'web', tier: 'front' } } };
    const { status, body } = await world.wire.patch('merge', rollout.path, { spec: { selector, template: labelled } });
    expect(status).toBe(422);
    expect(body.details.causes).toMatchObject([
      { field: 'spec.selector', message: expect.stringContaining('immutable') },
    ]);
  });
});
