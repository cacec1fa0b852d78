import { expect, test } from 'vitest';
import { TransportError } from '../src/index.ts';
import { TestCluster } from './test-cluster.ts';

/**
 * A transport that carries out `writes` writes and is dead from then on, as a process that was killed: the last write
 * reached the server, its answer nobody.
 */
function dyingAfter(writes: number, cluster: TestCluster) {
  const transport = cluster.server.transport();
  let left = writes;
  let isDead = false;
  return {
    isDead: () => isDead,
    transport: {
      ...transport,
      async request(request: Parameters<typeof transport.request>[0]) {
        if (isDead) throw new TransportError('the process is dead', { sent: false });
        const answer = await transport.request(request);
        if (request.method !== 'GET' && !request.path.includes('/events') && --left < 0) {
          isDead = true;
          throw new TransportError('the process died', { sent: true });
        }
        return answer;
      },
    },
  };
}

test('an operator killed after any of its writes is followed by one that finishes the work, and does none of it twice', async () => {
  let isDone = false;
  for (let writes = 0; !isDone; writes++) {
    const cluster = await new TestCluster().install();
    await cluster.create('a', 'red');
    await cluster.create('b', 'blue');
    const { transport, isDead } = dyingAfter(writes, cluster);
    cluster.operator({ transport });
    await cluster.clock.advance(60_000);
    isDone = !isDead();

    const second = cluster.operator();
    await cluster.until('it is done', () => cluster.converged('a', 'b'));
    await cluster.clock.advance(60_000);
    const { length } = second.writes;
    await cluster.clock.advance(3_600_000);
    expect(second.writes.slice(length)).toEqual([]);
    // The factory takes the same order twice without harm; what must not happen is a third.
    expect(cluster.factory.orders.length).toBeLessThanOrEqual(3);
    await second.stop();
  }
});
