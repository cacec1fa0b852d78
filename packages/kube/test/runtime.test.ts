import { beforeEach, describe, expect, test } from 'vitest';
import { ConfigMap, EventsV1Event, isNotFound, Namespace } from '../src/index.ts';
import { type Operator, TestCluster } from './test-cluster.ts';
import { Widget } from './widgets.ts';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await new TestCluster().install();
});

const a = { namespace: 'default', name: 'a' };
const isGone = (read: Promise<unknown>) => read.then(() => false, isNotFound);
const conditions = async (name: string) => {
  const { status } = await cluster.get(name);
  return Object.fromEntries(
    (status?.conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]),
  );
};

describe('a resource', () => {
  let operator: Operator;
  beforeEach(async () => {
    operator = cluster.operator();
    await cluster.create('a', 'red');
    await cluster.until('a is ready', () => cluster.converged('a'));
  });

  test('gets its objects, with itself as their owner', async () => {
    const { metadata, data } = await cluster.client.get(ConfigMap, a);
    const { metadata: owner } = await cluster.get('a');
    expect(data).toEqual({ colour: 'red' });
    expect(metadata.ownerReferences).toMatchObject([{ kind: 'Widget', name: 'a', uid: owner.uid, controller: true }]);
    expect(await conditions('a')).toMatchObject({
      Ready: 'True Ready',
      Reconciling: expect.stringMatching(/^False/),
      Stalled: expect.stringMatching(/^False/),
    });
  });

  test('that changes is followed', async () => {
    await cluster.client.patch(Widget, a, { type: 'merge', body: { spec: { colour: 'blue' } } });
    await cluster.until('a is blue', () => cluster.converged('a'));
    expect((await cluster.client.get(ConfigMap, a)).data).toEqual({ colour: 'blue' });
    expect(cluster.factory.orders).toHaveLength(2);
  });

  test('whose object somebody changes or deletes gets it back, and foreign fields stay', async () => {
    await cluster.client.patch(ConfigMap, a, { type: 'merge', body: { data: { colour: 'wrong', other: 'theirs' } } });
    const data = async () => (await cluster.client.get(ConfigMap, a)).data;
    await cluster.until('the drift is reverted', async () => (await data())?.['colour'] === 'red');
    expect(await data()).toEqual({ colour: 'red', other: 'theirs' });
    await cluster.client.delete(ConfigMap, a);
    await cluster.until('it is back', async () => !(await isGone(cluster.client.get(ConfigMap, a))));
  });

  test('at rest causes no write, however long and however often it is looked at', async () => {
    const before = operator.writes.length;
    await cluster.clock.advance(3 * 3_600_000);
    expect(operator.writes.slice(before)).toEqual([]);
  });

  test('at rest causes no write of a restarted operator either', async () => {
    await operator.stop();
    const again = cluster.operator();
    await cluster.clock.advance(3_600_000);
    expect(again.writes).toEqual([]);
  });

  test('whose object somebody changed while no operator ran gets it back from the next one', async () => {
    await operator.stop();
    await cluster.client.patch(ConfigMap, a, { type: 'merge', body: { data: { colour: 'wrong' } } });
    const again = cluster.operator();
    const data = async () => (await cluster.client.get(ConfigMap, a)).data;
    await cluster.until('the drift is reverted', async () => (await data())?.['colour'] === 'red');
    expect(again.writes).toHaveLength(1);
  });

  test('that is deleted goes only after what it had outside is gone', async () => {
    cluster.factory.isReachable = false;
    await cluster.client.delete(Widget, a);
    await cluster.clock.advance(60_000);
    expect((await cluster.get('a')).metadata.deletionTimestamp).toBeDefined();
    expect(cluster.factory.parts.size).toBe(1);
    cluster.factory.isReachable = true;
    await cluster.until('a is gone', () => isGone(cluster.get('a')));
    expect(cluster.factory.parts.size).toBe(0);
  });

  test('that only its user can fix says so, is left alone, and goes on once it is fixed', async () => {
    await cluster.client.patch(Widget, a, { type: 'merge', body: { spec: { colour: 'impossible' } } });
    await cluster.until('it is stalled', async () => (await conditions('a'))['Stalled'] === 'True NoSuchColour');
    const { status } = await cluster.get('a');
    expect(status?.conditions?.find(({ type }) => type === 'Stalled')?.message).toBe(
      'there is no colour impossible; choose another one',
    );
    const before = operator.writes.length;
    await cluster.clock.advance(3_600_000);
    expect(operator.writes).toHaveLength(before);
    await cluster.client.patch(Widget, a, { type: 'merge', body: { spec: { colour: 'green' } } });
    await cluster.until('a is green', () => cluster.converged('a'));
  });

  test('whose passes fail is tried less and less often, says why, and tells it once', async () => {
    cluster.factory.isBroken = true;
    const looks = cluster.factory.looks;
    await cluster.client.patch(Widget, a, { type: 'merge', body: { spec: { colour: 'blue' } } });
    await cluster.clock.advance(3_600_000);
    expect(cluster.factory.looks - looks).toBeLessThan(30);
    expect(await conditions('a')).toMatchObject({
      Ready: 'False ReconcileFailed',
      Reconciling: 'True ReconcileFailed',
    });
    const { items } = await cluster.client.list(EventsV1Event, { namespace: 'default' });
    expect(items.filter(({ reason }) => reason === 'ReconcileFailed')).toHaveLength(1);
    cluster.factory.isBroken = false;
    await cluster.client.patch(Widget, a, { type: 'merge', body: { spec: { colour: 'green' } } });
    await cluster.until('a change is followed at once', () => cluster.converged('a'), 5_000);
  });

  test('whose outside system does not answer says so', async () => {
    cluster.factory.isReachable = false;
    await cluster.client.patch(Widget, a, { type: 'merge', body: { spec: { colour: 'blue' } } });
    await cluster.until('it says why', async () => {
      const { status } = await cluster.get('a');
      return (
        status?.conditions?.some(
          ({ type, message }) => type === 'Ready' && message === 'the factory does not answer',
        ) ?? false
      );
    });
    cluster.factory.isReachable = true;
    await cluster.until('a is blue', () => cluster.converged('a'));
  });
});

test('a pass that hangs is given up, and the key is tried again', async () => {
  let open = () => {};
  cluster.factory.gate = new Promise((resolve) => (open = resolve));
  cluster.operator();
  await cluster.create('a', 'red');
  await cluster.until('the pass was given up', async () => {
    const { status } = await cluster.get('a').catch(() => ({ status: undefined }));
    return status === undefined && cluster.clock.monotonic() > 120_000;
  });
  cluster.factory.gate = Promise.resolve();
  await cluster.until('a is ready', () => cluster.converged('a'));
  open();
});

test('a hundred resources are all seen to, and none twice', async () => {
  const names = Array.from({ length: 100 }, (_, i) => `w${i}`);
  for (const name of names) await cluster.create(name, 'red');
  cluster.operator();
  await cluster.until('all are ready', () => cluster.converged(...names));
  expect(cluster.factory.orders).toHaveLength(100);
});

test('an operator of some namespaces sees to those, and to no others', async () => {
  for (const name of ['one', 'two', 'three']) await cluster.client.create(Namespace, { metadata: { name } });
  for (const namespace of ['one', 'two', 'three']) {
    await cluster.client.create(Widget, { metadata: { namespace, name: 'w' }, spec: { colour: 'red' } });
  }
  cluster.operator({ namespaces: ['one', 'two'] });
  await cluster.until('both are seen to', () => cluster.factory.parts.size === 2);
  await cluster.clock.advance(600_000);
  const { status } = await cluster.client.get(Widget, { namespace: 'three', name: 'w' });
  expect(status).toBeUndefined();
  expect(cluster.factory.orders).toHaveLength(2);
});
