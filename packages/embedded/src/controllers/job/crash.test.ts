import { Job, Manager, register, silentLogger } from '@polder/kube';
import { expect, test } from 'vitest';
import { seeded, TestWorld } from '../test-world.ts';
import { jobs } from './index.ts';

const ref = { namespace: 'default', name: 'work' };
const template = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'c', image: 'busybox' }] } };
const registration = register(jobs, (base) => base);

test('a job ends the same after a crash at any of its writes, and no pod too many is made', async () => {
  let isCrashed = true;
  for (let writes = 0; isCrashed; writes++) {
    const world = new TestWorld();
    const first = crashingAfter(writes, world);
    await world.client.create(Job, { metadata: ref, spec: { completions: 2, parallelism: 2, template } });
    let isRestarted = false;
    await untilOver(world, () => {
      if (!first.isCrashed() || isRestarted) return;
      first.stop.abort(new Error('crashed'));
      world.run(registration);
      isRestarted = true;
    });
    isCrashed = first.isCrashed();
    first.stop.abort(new Error('the test is over'));
    const { status } = await world.client.get(Job, ref);
    expect(status, `after a crash at write ${writes}`).toMatchObject({
      succeeded: 2,
      failed: 1,
      ready: 0,
      terminating: 0,
    });
    const pods = await world.pods();
    expect(pods.flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]);
    expect(pods).toHaveLength(3);
    await world.stop();
    await first.stopped;
  }
});

/** Controllers that die after so many writes: no further one reaches the server. */
function crashingAfter(writes: number, { server, clock }: TestWorld) {
  const transport = server.transport();
  const stop = new AbortController();
  let left = writes;
  let isCrashed = false;
  const manager = new Manager({
    transport: {
      async request(request) {
        const isWrite = request.method !== 'GET' && !request.path.includes('/events');
        if (isWrite && left-- <= 0) {
          isCrashed = true;
          throw new Error('crashed');
        }
        return await transport.request(request);
      },
      close: () => transport.close(),
    },
    userAgent: 'controllers',
    clock,
    random: seeded(3),
    log: silentLogger,
    products: [{ name: 'controllers', fieldManager: 'kube-controller-manager', controllers: [registration] }],
  });
  const stopped = manager.run(stop.signal).catch(() => {});
  return { stop, stopped, isCrashed: () => isCrashed };
}

/** Plays the kubelet: the first pod fails, all others succeed. */
async function untilOver(world: TestWorld, restart: () => void): Promise<void> {
  const isOver = async () => {
    const { status } = await world.client.get(Job, ref);
    return status?.conditions?.some(({ type }) => type === 'Complete') ?? false;
  };
  for (let failed = ''; !(await isOver()); ) {
    await world.settle(1_000);
    restart();
    for (const pod of await world.pods()) {
      if (pod.status?.phase !== 'Pending') continue;
      failed ||= pod.metadata.name;
      await world.report(pod, { phase: pod.metadata.name === failed ? 'Failed' : 'Succeeded', ready: false });
    }
  }
}
