import {
  ControllerRevision,
  DaemonSet,
  type DaemonSetSpec,
  EventsV1Event,
  type NewObject,
  Node,
  type Pod,
  register,
  type Taint,
} from '@polder/kube';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { scheduler } from '../../scheduler/index.ts';
import { TestWorld } from '../test-world.ts';
import { daemonSets } from './index.ts';

let world: TestWorld;
beforeEach(() => {
  world = new TestWorld().run(register(daemonSets()), register(scheduler()));
});
afterEach(() => world.stop());

const ref = { namespace: 'default', name: 'agent' };
const template = (image = 'a', spec: object = {}) => ({
  metadata: { labels: { app: 'agent' } },
  spec: { containers: [{ name: 'c', image }], ...spec },
});
const agent = (spec: Partial<DaemonSetSpec>): NewObject<DaemonSet> => ({
  metadata: ref,
  spec: { selector: { matchLabels: { app: 'agent' } }, template: template(), ...spec },
});
const create = (spec: Partial<DaemonSetSpec> = {}) => world.client.create(DaemonSet, agent(spec));
const change = (spec: object) => world.client.patch(DaemonSet, ref, { type: 'merge', body: { spec } });
const get = () => world.client.get(DaemonSet, ref);
const status = async () => (await get()).status;
const notes = async () => {
  const { items } = await world.client.list(EventsV1Event, { namespace: 'default' });
  return items.map(({ reason, note }) => `${reason}: ${note}`);
};

const room = { cpu: '4', memory: '8Gi', pods: '100' };
async function node(name: string, labels = {}, taints: readonly Taint[] = []): Promise<void> {
  await world.client.create(Node, { metadata: { name, labels }, spec: { taints } });
  const body = { status: { capacity: room, allocatable: room } };
  await world.client.patch(Node, { name }, { type: 'merge', body }, { subresource: 'status' });
}
async function nodes(...names: readonly string[]): Promise<void> {
  for (const name of names) await node(name);
}

const isGoing = ({ metadata }: Pod) => metadata.deletionTimestamp !== undefined;
const imageOf = ({ spec }: Pod) => spec?.containers[0]?.image ?? '';
/** `one a`, `two b going`: nodes, images of their daemons, and which of them are on their way out. */
async function daemons(): Promise<readonly string[]> {
  const shown = (pod: Pod) => [pod.spec?.nodeName, imageOf(pod), ...(isGoing(pod) ? ['going'] : [])].join(' ');
  return (await world.pods()).map(shown).toSorted((a, b) => (a < b ? -1 : 1));
}
async function ready(): Promise<void> {
  for (const pod of await world.pods()) {
    if (pod.status?.phase === 'Pending') await world.report(pod, { phase: 'Running', ready: true });
  }
  await world.settle();
}
async function ended(): Promise<void> {
  for (const pod of (await world.pods()).filter(isGoing)) await world.finishDeletion(pod);
  await world.settle();
}
async function started(spec: Partial<DaemonSetSpec> = {}): Promise<void> {
  await create(spec);
  await world.settle();
  await ready();
}

describe('every node', () => {
  test('has one daemon, and the set says how many of them are ready', async () => {
    await nodes('one', 'two');
    await create();
    await world.settle();
    expect(await daemons()).toEqual(['one a', 'two a']);
    expect(await status()).toEqual({
      desiredNumberScheduled: 2,
      currentNumberScheduled: 2,
      updatedNumberScheduled: 2,
      numberMisscheduled: 0,
      numberReady: 0,
      numberUnavailable: 2,
      observedGeneration: 1,
    });
    await ready();
    expect(await status()).toMatchObject({ numberReady: 2, numberAvailable: 2 });
    expect((await status())?.numberUnavailable).toBeUndefined();
  });

  test('that comes gets one, and one that no longer fits loses it', async () => {
    await node('one', { role: 'db' });
    await started({ template: template('a', { nodeSelector: { role: 'db' } }) });
    await node('two', { role: 'web' });
    await node('three', { role: 'db' });
    await world.settle();
    expect(await daemons()).toEqual(['one a', 'three a']);
    const labels = (role: string) => ({ type: 'merge', body: { metadata: { labels: { role } } } }) as const;
    await world.client.patch(Node, { name: 'one' }, labels('web'));
    await world.client.patch(Node, { name: 'two' }, labels('db'));
    await world.settle();
    expect(await daemons()).toEqual(['one a going', 'three a', 'two a']);
    expect(await status()).toMatchObject({ desiredNumberScheduled: 2, numberMisscheduled: 1 });
  });

  test('has it by the scheduler, even one that takes no other pods, but not one with a taint of its own', async () => {
    await node('cordoned', {}, [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }]);
    await node('reserved', {}, [{ key: 'gpu', effect: 'NoSchedule' }]);
    await create();
    await world.settle();
    const [pod, ...others] = await world.pods();
    expect(others).toEqual([]);
    expect(pod).toMatchObject({
      metadata: { generateName: 'agent-', ownerReferences: [{ kind: 'DaemonSet', controller: true }] },
      spec: {
        nodeName: 'cordoned',
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['cordoned'] }] }],
            },
          },
        },
      },
    });
    expect(pod?.spec?.tolerations?.map(({ key, effect }) => `${key?.split('/')[1]} ${effect}`)).toEqual([
      'not-ready NoExecute',
      'unreachable NoExecute',
      'disk-pressure NoSchedule',
      'memory-pressure NoSchedule',
      'pid-pressure NoSchedule',
      'unschedulable NoSchedule',
    ]);
  });

  test('that is tainted keeps its daemon, unless the taint drives pods out', async () => {
    await nodes('one', 'two');
    await started();
    const taint = (effect: Taint['effect']) =>
      ({ type: 'merge', body: { spec: { taints: [{ key: 'gpu', effect }] } } }) as const;
    await world.client.patch(Node, { name: 'one' }, taint('NoSchedule'));
    await world.client.patch(Node, { name: 'two' }, taint('NoExecute'));
    await world.settle();
    expect(await daemons()).toEqual(['one a', 'two a going']);
    expect(await status()).toMatchObject({ desiredNumberScheduled: 0, numberMisscheduled: 2 });
  });
});

test('once all is well, nothing is written', async () => {
  await nodes('one', 'two');
  await started({ minReadySeconds: 5 });
  await world.settle(10_000);
  world.writes.length = 0;
  await world.settle(24 * 3600_000);
  expect(world.writes).toEqual([]);
});

test('a daemon that failed is replaced, each time after a longer wait', async () => {
  await nodes('one');
  await started();
  const waits: number[] = [];
  for (let time = 0; time < 4; time++) {
    const [failed] = await world.pods();
    if (failed) await world.report(failed, { phase: 'Failed', ready: false });
    const since = world.clock.now();
    while ((await world.pods())[0]?.metadata.uid === failed?.metadata.uid) await world.clock.advance(100);
    waits.push(Math.round((world.clock.now() - since) / 1000));
    await world.clock.advance(100);
  }
  expect(waits).toEqual([0, 1, 2, 4]);
  expect(await notes()).toContainEqual(
    expect.stringMatching(
      /^FailedDaemonPod: Found failed daemon pod default\/agent-\w+ on node one, will try to kill it$/,
    ),
  );
});

describe('an update', () => {
  test('replaces as many daemons at once as may be missing', async () => {
    await nodes('one', 'two', 'three', 'four');
    await started({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '50%' } } });
    await change({ template: template('b') });
    await world.settle();
    expect(await daemons()).toEqual(['four a going', 'one a going', 'three a', 'two a']);
    await ended();
    expect(await daemons()).toEqual(['four b', 'one b', 'three a', 'two a']);
    expect(await status()).toMatchObject({ updatedNumberScheduled: 2, numberAvailable: 2, numberUnavailable: 2 });
    await ready();
    await ended();
    await ready();
    expect(await daemons()).toEqual(['four b', 'one b', 'three b', 'two b']);
    expect(await status()).toMatchObject({ updatedNumberScheduled: 4, numberAvailable: 4, observedGeneration: 2 });
  });

  test('replaces a daemon that does not work without waiting for others', async () => {
    await nodes('one', 'two', 'three');
    await started();
    for (const pod of (await world.pods()).filter(({ spec }) => spec?.nodeName !== 'one'))
      await world.report(pod, { phase: 'Running', ready: false });
    await change({ template: template('b') });
    await world.settle();
    expect(await daemons()).toEqual(['one a', 'three a going', 'two a going']);
  });

  test('with a surge starts the new daemon first, and ends the old one when it has been ready for long enough', async () => {
    await nodes('one', 'two');
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } as const;
    await started({ updateStrategy, minReadySeconds: 10 });
    await world.settle(20_000);
    await change({ template: template('b') });
    await world.settle();
    expect(await daemons()).toEqual(['one a', 'one b', 'two a']);
    await ready();
    expect(await daemons()).toEqual(['one a', 'one b', 'two a']);
    await world.settle(10_000);
    expect(await daemons()).toEqual(['one a going', 'one b', 'two a', 'two b']);
    await ended();
    await ready();
    await world.settle(20_000);
    await ended();
    expect(await daemons()).toEqual(['one b', 'two b']);
  });

  test('on delete waits for the user', async () => {
    await nodes('one', 'two');
    await started({ updateStrategy: { type: 'OnDelete' } });
    await change({ template: template('b') });
    await world.settle(60_000);
    expect(await daemons()).toEqual(['one a', 'two a']);
    const pod = (await world.pods()).find(({ spec }) => spec?.nodeName === 'one');
    if (pod) await world.finishDeletion(pod);
    await world.settle();
    expect(await daemons()).toEqual(['one b', 'two a']);
    expect(await status()).toMatchObject({ updatedNumberScheduled: 1 });
  });

  test('leaves a history that ends where the set says, and going back reuses it', async () => {
    await nodes('one');
    await started({ revisionHistoryLimit: 1 });
    const revisions = async () => {
      const { items } = await world.client.list(ControllerRevision, { namespace: 'default' });
      return items.map(({ metadata, revision }) => [revision, metadata.labels?.['controller-revision-hash']]);
    };
    const [[, first] = []] = await revisions();
    for (const image of ['b', 'c', 'b']) {
      await change({ template: template(image) });
      await world.until('it is updated', async () => (await world.pods()).every((pod) => imageOf(pod) === image));
      await world.settle();
    }
    const [pod] = await world.pods();
    const found = await revisions();
    expect(new Set(found.map(([number]) => number))).toEqual(new Set([3, 4]));
    expect(found).toContainEqual([4, pod?.metadata.labels?.['controller-revision-hash']]);
    expect(found.map(([, hash]) => hash)).not.toContain(first);
  });
});

test('a refused daemon is told of, and what is known of the others is reported', async () => {
  await nodes('one');
  await started();
  world.server.faults.on({ verb: 'create', plural: 'pods' }, { do: 'fail', when: 'before' });
  await nodes('two');
  await world.settle();
  expect(await status()).toMatchObject({ desiredNumberScheduled: 2, currentNumberScheduled: 1, numberReady: 1 });
  expect(await notes()).toContainEqual(expect.stringContaining('FailedCreate: Error creating: '));
});
