import { beforeEach, describe, expect, test } from 'vitest';
import { Lease } from '../src/index.ts';
import { type Operator, TestCluster } from './test-cluster.ts';
import { Widget } from './widgets.ts';

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
const repaint = (name: string, colour: string) =>
  cluster.client.patch(Widget, { namespace: 'default', name }, { type: 'merge', body: { spec: { colour } } });

/** Breaks every watch that is open; what answers the next one is the test's business. */
const breakWatches = () => cluster.server.faults.on({ verb: 'watch' }, { do: 'reset' })();

describe('the operator ends converged, after', () => {
  beforeEach(() => atWork());

  test('an API server that was away for 3 s, within 2 s of its return', async () => {
    const comeBack = cluster.server.faults.on({}, { do: 'reset' });
    breakWatches();
    await cluster.clock.advance(3_000);
    comeBack();
    const back = cluster.clock.now();
    await repaint('before', 'blue');
    await cluster.until('it follows', () => cluster.converged('before'));
    expect(cluster.clock.now() - back).toBeLessThanOrEqual(2_000);
  });

  test('watches that went silent, which nobody tells us', async () => {
    cluster.server.faults.on({ verb: 'watch' }, { do: 'silence' })();
    await repaint('before', 'blue');
    await cluster.until('it follows', () => cluster.converged('before'), 120_000);
  });

  test('a history that was forgotten', async () => {
    const comeBack = cluster.server.faults.on({ verb: 'watch' }, { do: 'reset' });
    await repaint('before', 'blue');
    cluster.server.compact();
    comeBack();
    await cluster.until('it follows', () => cluster.converged('before'));
  });

  test('versions that a server calls expired again and again', async () => {
    cluster.server.faults.on({ verb: 'watch', count: 10 }, { do: 'expire' });
    await repaint('before', 'blue');
    await cluster.until('it follows', () => cluster.converged('before'));
  });

  test('a new list from a server that is behind, without undoing what it did', async () => {
    const { revision } = cluster.server;
    await repaint('before', 'blue');
    await cluster.until('it is blue', () => cluster.converged('before'));
    const orders = cluster.factory.orders.length;
    for (const verb of ['list', 'watch', 'get'] as const)
      cluster.server.faults.on({ verb, count: 4 }, { do: 'stale', revision });
    breakWatches();
    await cluster.clock.advance(30_000);
    cluster.server.faults.clear();
    await cluster.until('it is blue again', () => cluster.converged('before'));
    expect(cluster.factory.orders).toHaveLength(orders);
    await repaint('before', 'green');
    await cluster.until('it follows', () => cluster.converged('before'));
  });

  test('events that come late, without doing anything twice', async () => {
    cluster.server.faults.on({ verb: 'watch' }, { do: 'delay', ms: 2_000 });
    const before = cluster.factory.orders.length;
    await repaint('before', 'blue');
    await cluster.create('after', 'red');
    await cluster.until('it follows', () => cluster.converged('before', 'after'));
    expect(cluster.factory.orders).toHaveLength(before + 2);
  });

  test('events that come twice, without doing anything twice', async () => {
    cluster.server.faults.on({ verb: 'watch' }, { do: 'duplicate' });
    const before = cluster.factory.orders.length;
    await repaint('before', 'blue');
    await cluster.until('it follows', () => cluster.converged('before'));
    expect(cluster.factory.orders).toHaveLength(before + 1);
  });

  test('writes that were refused, put off, or carried out without an answer', async () => {
    cluster.server.faults.on({ verb: 'patch', count: 3 }, { do: 'fail', when: 'before' });
    cluster.server.faults.on({ verb: 'patch', count: 3 }, { do: 'fail', when: 'after' });
    cluster.server.faults.on({ verb: 'patch', count: 3 }, { do: 'throttle', retryAfterSeconds: 2 });
    cluster.server.faults.on({ verb: 'patch', count: 3 }, { do: 'reset' });
    await cluster.create('after', 'red');
    await cluster.until('it follows', () => cluster.converged('before', 'after'));
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
    await repaint('before', 'blue');
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
    await repaint('before', 'blue');
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
