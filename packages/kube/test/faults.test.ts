import { disturbanceNames, disturbed, seeds, simulate } from '@polder/embedded/simulation';
import { beforeEach, describe, expect, test } from 'vitest';
import { Lease } from '../src/index.ts';
import { type Operator, TestCluster } from './test-cluster.ts';
import { areAll, create, remove, repaint, type WidgetWorld, widgetWorld } from './widget-world.ts';

const scenario = [create('a', 'red'), create('b', 'blue'), repaint('a', 'green'), remove('b'), create('c', 'red')];
const isConverged = areAll('a', 'c');

describe('the operator ends converged, and quiet, after', () => {
  test.each(disturbanceNames)('%s', async (by) => {
    const { state, world } = await disturbed({ world: widgetWorld, scenario, isConverged, by });
    expect(isConverged(state, world)).toBe(true);
  });
});

describe('the operator ends converged, whatever happens', () => {
  const world = () => widgetWorld({ namespace: 'default', name: 'widgets' });

  test.each(seeds(20))('with seed %i', async (seed) => {
    const simulation = await simulate<WidgetWorld>({ seed, world, scenario, until: isConverged });
    expect(isConverged(simulation.state, simulation.world)).toBe(true);
    simulation.end();
  });
});

let cluster: TestCluster;
let operator: Operator;
beforeEach(async () => {
  cluster = await new TestCluster().install();
});

/** Works before the trouble, and is then given something to do during it. */
async function atWork(options: Parameters<TestCluster['operator']>[0] = {}): Promise<void> {
  operator = cluster.operator(options);
  await cluster.create('before', 'red');
  await cluster.until('it works', () => cluster.converged('before'));
}

/** Breaks every watch that is open; what answers the next one is the test's business. */
const breakWatches = () => cluster.server.faults.on({ verb: 'watch' }, { do: 'reset' })();

describe('the operator gets over', () => {
  beforeEach(() => atWork());

  test('an API server that was away for 3 s, within 2 s of its return', async () => {
    const comeBack = cluster.server.faults.on({}, { do: 'reset' });
    breakWatches();
    await cluster.clock.advance(3_000);
    comeBack();
    const back = cluster.clock.now();
    await repaint('before', 'blue')(cluster.client);
    await cluster.until('it follows', () => cluster.converged('before'));
    expect(cluster.clock.now() - back).toBeLessThanOrEqual(2_000);
  });

  test('a new list from a server that is behind, without undoing what it did', async () => {
    const { revision } = cluster.server;
    await repaint('before', 'blue')(cluster.client);
    await cluster.until('it is blue', () => cluster.converged('before'));
    const orders = cluster.factory.orders.length;
    for (const verb of ['list', 'watch', 'get'] as const)
      cluster.server.faults.on({ verb, count: 4 }, { do: 'stale', revision });
    breakWatches();
    await cluster.clock.advance(30_000);
    cluster.server.faults.clear();
    await cluster.until('it is blue again', () => cluster.converged('before'));
    expect(cluster.factory.orders).toHaveLength(orders);
    await repaint('before', 'green')(cluster.client);
    await cluster.until('it follows', () => cluster.converged('before'));
  });

  test('events that come late, without doing anything twice', async () => {
    cluster.server.faults.on({ verb: 'watch' }, { do: 'delay', ms: 2_000 });
    const before = cluster.factory.orders.length;
    await repaint('before', 'blue')(cluster.client);
    await cluster.create('after', 'red');
    await cluster.until('it follows', () => cluster.converged('before', 'after'));
    expect(cluster.factory.orders).toHaveLength(before + 2);
  });

  test('events that come twice, without doing anything twice', async () => {
    cluster.server.faults.on({ verb: 'watch' }, { do: 'duplicate' });
    const before = cluster.factory.orders.length;
    await repaint('before', 'blue')(cluster.client);
    await cluster.until('it follows', () => cluster.converged('before'));
    expect(cluster.factory.orders).toHaveLength(before + 1);
  });
});

describe('nobody writes without leading:', () => {
  const stealLease = async () => {
    const ref = { namespace: 'default', name: 'widgets' };
    const lease = await cluster.client.get(Lease, ref);
    await cluster.client.update(Lease, {
      ...lease,
      spec: { ...lease.spec, holderIdentity: 'thief', leaseDurationSeconds: 60 },
    });
  };

  beforeEach(() => atWork({ lease: true }));

  test('a lease that is stolen from an idle leader', async () => {
    await stealLease();
    await cluster.clock.advance(3_000);
    const before = operator.writes.length;
    await cluster.create('after', 'red');
    await cluster.clock.advance(30_000);
    expect(operator.writes).toHaveLength(before);
    await cluster.until('the thief’s lease runs out and it works again', () => cluster.converged('before', 'after'));
  });

  test('a lease that is stolen in the middle of a pass', async () => {
    let open = () => {};
    cluster.factory.gate = new Promise((resolve) => (open = resolve));
    await repaint('before', 'blue')(cluster.client);
    await cluster.clock.advance(1_000);
    await stealLease();
    await cluster.clock.advance(3_000);
    const before = operator.writes.length;
    open();
    cluster.factory.gate = Promise.resolve();
    await cluster.clock.advance(30_000);
    expect(operator.writes).toHaveLength(before);
    await cluster.until('it works again', () => cluster.converged('before'));
  });

  test('an event loop that was blocked for longer than the lease', async () => {
    let open = () => {};
    cluster.factory.gate = new Promise((resolve) => (open = resolve));
    await repaint('before', 'blue')(cluster.client);
    await cluster.clock.advance(1_000);
    const before = operator.writes.length;
    cluster.clock.block(20_000);
    await stealLease();
    open();
    cluster.factory.gate = Promise.resolve();
    await cluster.clock.advance(30_000);
    expect(operator.writes).toHaveLength(before);
    await cluster.until('it works again', () => cluster.converged('before'));
  });

  test('of two operators one works, and the other goes on where it stopped', async () => {
    const other = cluster.operator({ lease: true });
    await cluster.create('both', 'red');
    await cluster.until('it is done', () => cluster.converged('both'));
    expect(other.writes).toEqual([]);
    await operator.stop();
    await cluster.create('next', 'red');
    // The lease was released, so nobody has to wait for it to run out.
    await cluster.until('the other does it', () => cluster.converged('next'), 10_000);
    expect(cluster.factory.orders).toHaveLength(3);
  });
});
