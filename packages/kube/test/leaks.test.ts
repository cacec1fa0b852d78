import { createApiServer } from '@polder/embedded';
import { expect, test } from 'vitest';
import {
  Client,
  CustomResourceDefinition,
  crdOf,
  Manager,
  Metrics,
  probes,
  register,
  serve,
  silentLogger,
  socketTransport,
  staticConfig,
  systemClock,
} from '../src/index.ts';
import { TestCluster } from './test-cluster.ts';
import { Factory, Widget, widgets } from './widgets.ts';

const KINDS = ['Timeout', 'TCPSocketWrap', 'TCPServerWrap', 'TLSWrap', 'Immediate'];
const open = () =>
  process
    .getActiveResourcesInfo()
    .filter((kind) => KINDS.includes(kind))
    .toSorted();

test('after a stop no timer, socket or listener is left', async () => {
  const before = open();
  const server = createApiServer();
  const listener = await server.listen();
  const config = staticConfig({
    server: listener.url,
    namespace: 'default',
    access: { ca: listener.ca, authorization: `Bearer ${listener.token}` },
  });
  const transport = socketTransport(config);
  const client = new Client({ transport, userAgent: 'test' });
  await client.apply(CustomResourceDefinition, crdOf(Widget), { fieldManager: 'test' });

  const factory = new Factory();
  const metrics = new Metrics({ clock: systemClock });
  const stop = new AbortController();
  const manager: Manager = new Manager({
    transport,
    userAgent: 'widgets/1',
    log: silentLogger,
    on: metrics.manager(new URL(listener.url).host),
    servers: [() => serve(probes({ live: {}, ready: {} }), { port: 0 })],
    products: [
      {
        name: 'widgets',
        fieldManager: 'widgets',
        lease: { namespace: 'default', name: 'widgets' },
        controllers: [register(widgets, (world) => ({ ...world, factory }))],
      },
    ],
  });
  const running = manager.run(stop.signal);
  await client.create(Widget, { metadata: { namespace: 'default', name: 'a' }, spec: { colour: 'red' } });
  await expect.poll(() => factory.parts.size, { timeout: 10_000 }).toBe(1);
  expect(open().length).toBeGreaterThan(before.length);

  stop.abort();
  await running;
  await transport.close();
  await listener.close();
  server.close();
  await expect.poll(open, { timeout: 5_000 }).toEqual(before);
});

test('after a stop nothing waits on the clock, whatever was going on', async () => {
  const cluster = await new TestCluster().install();
  const operator = cluster.operator({ lease: true });
  await cluster.create('a', 'red');
  await cluster.create('b', 'impossible');
  await cluster.until('a is ready', () => cluster.converged('a'));
  await operator.stop();
  cluster.server.close();
  expect(cluster.clock.pending).toBe(0);
});
