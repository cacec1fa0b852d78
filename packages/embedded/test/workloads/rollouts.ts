import { topic } from '../contract/suite.ts';
import type { Administrator } from './draining.ts';
import { expect } from './suite.ts';

export const rollouts = topic<Administrator>('kubectl on workloads', (promise) => {
  promise('follows a rollout, takes it back and restarts it', async ({ world, kubectl }) => {
    const ns = await world.namespace();
    const says = (...args: readonly string[]) => kubectl.says(['-n', ns, ...args]);
    const image = () => says('get', 'pods', '-l', 'app=web', '-o', 'jsonpath={.items[*].spec.containers[*].image}');
    const rolledOut = 'deployment "web" successfully rolled out\n';
    await says('create', 'deployment', 'web', '--image=example.com/web:1', '--replicas=2');
    expect(await says('rollout', 'status', 'deployment/web', '--timeout=60s')).toContain(rolledOut);

    await says('set', 'image', 'deployment/web', '*=example.com/web:2');
    expect(await says('rollout', 'status', 'deployment/web', '--timeout=60s')).toContain(rolledOut);
    await world.settles(async () => expect(await image()).toBe('example.com/web:2 example.com/web:2'));
    expect(await says('rollout', 'history', 'deployment/web')).toMatch(/^1 .*\n2 .*$/m);
    expect(await says('rollout', 'history', 'deployment/web', '--revision=1')).toContain('example.com/web:1');

    expect(await says('rollout', 'undo', 'deployment/web')).toBe('deployment.apps/web rolled back\n');
    expect(await says('rollout', 'status', 'deployment/web', '--timeout=60s')).toContain(rolledOut);
    await world.settles(async () => expect(await image()).toBe('example.com/web:1 example.com/web:1'));
    expect(await says('rollout', 'history', 'deployment/web')).toMatch(/^2 .*\n3 .*$/m);

    const before = await says('get', 'pods', '-l', 'app=web', '-o', 'jsonpath={.items[*].metadata.uid}');
    expect(await says('rollout', 'restart', 'deployment/web')).toBe('deployment.apps/web restarted\n');
    expect(await says('rollout', 'status', 'deployment/web', '--timeout=60s')).toContain(rolledOut);
    await world.settles(async () => {
      const after = await says('get', 'pods', '-l', 'app=web', '-o', 'jsonpath={.items[*].metadata.uid}');
      expect(after.split(' ')).toHaveLength(2);
      for (const uid of before.split(' ')) expect(after).not.toContain(uid);
    });
  });

  promise('holds a rollout until it is resumed', async ({ world, kubectl }) => {
    const ns = await world.namespace();
    const says = (...args: readonly string[]) => kubectl.says(['-n', ns, ...args]);
    await says('create', 'deployment', 'web', '--image=example.com/web:1');
    await says('rollout', 'status', 'deployment/web', '--timeout=60s');
    await says('rollout', 'pause', 'deployment/web');
    await says('set', 'image', 'deployment/web', '*=example.com/web:2');
    await says('wait', 'deployment/web', '--for=jsonpath={.status.observedGeneration}=3', '--timeout=60s');
    const images = () => says('get', 'pods', '-o', 'jsonpath={.items[*].spec.containers[*].image}');
    expect(await images()).toBe('example.com/web:1');
    await says('rollout', 'resume', 'deployment/web');
    await says('rollout', 'status', 'deployment/web', '--timeout=60s');
    await world.settles(async () => expect(await images()).toBe('example.com/web:2'));
  });

  promise('scales, waits and deletes with or without what belongs to it', async ({ world, kubectl }) => {
    const ns = await world.namespace();
    const says = (...args: readonly string[]) => kubectl.says(['-n', ns, ...args]);
    await says('create', 'deployment', 'web', '--image=example.com/web:1');
    expect(await says('wait', 'deployment/web', '--for=condition=Available', '--timeout=60s')).toBe(
      'deployment.apps/web condition met\n',
    );
    await says('scale', 'deployment/web', '--replicas=3');
    await says('wait', 'deployment/web', '--for=jsonpath={.status.readyReplicas}=3', '--timeout=60s');
    expect(await says('get', 'deployment', 'web', '--no-headers')).toMatch(/^web\s+3\/3\s+3\s+3\s/);

    await says('delete', 'deployment', 'web', '--cascade=orphan');
    expect(await says('get', 'replicasets', '--no-headers')).toMatch(/^web-\S+\s+3\s+3\s+3\s/);
    await says('delete', 'replicaset', '-l', 'app=web', '--cascade=foreground');
    expect(await says('get', 'pods')).toBe('');
  });

  promise('exposes a Deployment and finds its pods behind the service', async ({ world, kubectl }) => {
    const ns = await world.namespace();
    const says = (...args: readonly string[]) => kubectl.says(['-n', ns, ...args]);
    await says('create', 'deployment', 'web', '--image=example.com/web:1', '--replicas=2', '--port=8080');
    await says('expose', 'deployment', 'web', '--port=80', '--target-port=8080');
    await says('rollout', 'status', 'deployment/web', '--timeout=60s');
    const addresses = await says('get', 'pods', '-o', 'jsonpath={.items[*].status.podIP}');
    await world.settles(async () => {
      const described = await says('describe', 'service', 'web');
      const endpoints = /^Endpoints:\s+(\S+)$/m.exec(described)?.[1]?.split(',') ?? [];
      expect(endpoints.toSorted()).toEqual(
        addresses
          .split(' ')
          .map((address) => `${address}:8080`)
          .toSorted(),
      );
    });
  });

  promise('runs a job to its end, also from the template of a CronJob', async ({ world, kubectl }) => {
    const ns = await world.namespace();
    const says = (...args: readonly string[]) => kubectl.says(['-n', ns, ...args]);
    await says('create', 'job', 'once', '--image=example.com/task:1');
    expect(await says('wait', 'job/once', '--for=condition=Complete', '--timeout=60s')).toBe(
      'job.batch/once condition met\n',
    );
    expect(await says('get', 'job', 'once', '--no-headers')).toMatch(/^once\s+Complete\s+1\/1\s/);
    await says('create', 'cronjob', 'nightly', '--image=example.com/task:1', '--schedule=0 3 * * *');
    await says('create', 'job', 'now', '--from=cronjob/nightly');
    await says('wait', 'job/now', '--for=condition=Complete', '--timeout=60s');
    expect(await says('get', 'pods', '-l', 'job-name=now', '--no-headers')).toMatch(/Completed/);
  });

  promise('describes what happened to a workload', async ({ world, kubectl }) => {
    const ns = await world.namespace();
    const says = (...args: readonly string[]) => kubectl.says(['-n', ns, ...args]);
    await says('create', 'deployment', 'web', '--image=example.com/web:1');
    await says('rollout', 'status', 'deployment/web', '--timeout=60s');
    await world.settles(async () => {
      expect(await says('describe', 'deployment', 'web')).toMatch(
        /ScalingReplicaSet .*deployment-controller\s+Scaled up replica set web-\S+ from 0 to 1/,
      );
    });
    await world.settles(async () => {
      const described = await says('describe', 'replicaset', '-l', 'app=web');
      expect(described).toMatch(/SuccessfulCreate .*replicaset-controller\s+Created pod: web-/);
      expect(described).toContain('Controlled By:  Deployment/web');
    });
    await world.settles(async () => {
      expect(await says('describe', 'pods', '-l', 'app=web')).toMatch(
        /Scheduled .*default-scheduler\s+Successfully assigned .*\/web-\S+ to \S+/,
      );
    });
  });
});
