import { pods, service, services } from '../contract/objects.ts';
import type { Body } from '../contract/wire.ts';
import type { Pod } from './pods.ts';
import { expect, topic } from './suite.ts';
import type { Workloads } from './workloads.ts';

interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean };
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly zone?: string;
  readonly targetRef?: { readonly name: string };
}

interface EndpointSlice extends Body {
  readonly addressType: string;
  readonly endpoints: readonly Endpoint[];
  readonly ports: readonly { readonly name: string; readonly port: number; readonly protocol: string }[];
}

/** A slice with nothing in it spells that out: `null`. */
interface StoredSlice extends Omit<EndpointSlice, 'endpoints' | 'ports'> {
  readonly endpoints: EndpointSlice['endpoints'] | null;
  readonly ports: EndpointSlice['ports'] | null;
}

const endpointSlices = (namespace: string) => `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;

async function slicesOf({ wire }: Workloads, namespace: string, name: string): Promise<readonly EndpointSlice[]> {
  const query = `labelSelector=kubernetes.io%2Fservice-name%3D${name}`;
  const { text } = await wire.get(`${endpointSlices(namespace)}?${query}`);
  const list: { readonly items: readonly StoredSlice[] } = JSON.parse(text);
  return list.items.map((slice) => ({ ...slice, endpoints: slice.endpoints ?? [], ports: slice.ports ?? [] }));
}

/** Waits until the service has one slice with endpoints for just these pods, and gives both. */
function reaches(world: Workloads, namespace: string, name: string, ...expected: readonly Pod[]) {
  return world.settles(async () => {
    const [slice, ...others] = await slicesOf(world, namespace, name);
    expect(others).toEqual([]);
    if (slice === undefined) throw new Error(`${name} has no EndpointSlice`);
    const endpoints = slice.endpoints.toSorted((a, b) => (a.addresses.join() < b.addresses.join() ? -1 : 1));
    const addresses = endpoints.flatMap((endpoint) => endpoint.addresses);
    expect(addresses).toEqual(expected.map((pod) => pod.status.podIP ?? '').toSorted());
    return { slice, endpoints };
  });
}

/** Waits until the conditions of the only endpoint are these. */
function becomesEndpoint(world: Workloads, namespace: string, name: string, conditions: Endpoint['conditions']) {
  return world.settles(async () => {
    const endpoints = (await slicesOf(world, namespace, name)).flatMap((slice) => slice.endpoints);
    expect(endpoints.map((endpoint) => endpoint.conditions)).toEqual([conditions]);
  });
}

const readyPod = async (world: Workloads, namespace: string, name: string, labels: Record<string, string>, spec = {}) =>
  world.becomeReady(await world.place(namespace, name, { labels, spec }));

export const endpointSlicesOfServices = topic('the endpoints of a service', (promise) => {
  promise('are its ready pods: where they are and which', async (world) => {
    const { wire, namespace } = world;
    const ns = await namespace();
    const created = await wire.must(wire.create(services(ns), service('web')));
    const pod = await readyPod(world, ns, 'a', { app: 'web' });

    const { slice } = await reaches(world, ns, 'web', pod);

    expect(slice).toMatchObject({
      addressType: 'IPv4',
      metadata: {
        name: expect.stringMatching(/^web-/),
        labels: {
          'kubernetes.io/service-name': 'web',
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        },
        ownerReferences: [
          {
            apiVersion: 'v1',
            kind: 'Service',
            name: 'web',
            uid: created.metadata.uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      ports: [{ name: '', port: 80, protocol: 'TCP' }],
    });
    expect(slice.endpoints).toEqual([
      {
        addresses: [pod.status.podIP],
        conditions: { ready: true, serving: true, terminating: false },
        nodeName: 'driven',
        zone: 'driven-zone',
        targetRef: { kind: 'Pod', name: 'a', namespace: ns, uid: pod.metadata.uid },
      },
    ]);
  });

  promise('are not ready while their pod is not', async (world) => {
    const { wire, namespace, place } = world;
    const ns = await namespace();
    await wire.must(wire.create(services(ns), service('web')));
    const pod = await world.becomeUnready(await place(ns, 'a', { labels: { app: 'web' } }));
    await becomesEndpoint(world, ns, 'web', { ready: false, serving: false, terminating: false });
    await world.becomeReady(pod);
    await becomesEndpoint(world, ns, 'web', { ready: true, serving: true, terminating: false });
    await world.becomeUnready(pod);
    await becomesEndpoint(world, ns, 'web', { ready: false, serving: false, terminating: false });
  });

  promise('count as ready before they are, if the service asks for it', async (world) => {
    const { wire, namespace, place } = world;
    const ns = await namespace();
    await wire.must(wire.create(services(ns), service('web', { publishNotReadyAddresses: true })));
    const pod = await world.becomeUnready(await place(ns, 'a', { labels: { app: 'web' } }));
    await becomesEndpoint(world, ns, 'web', { ready: true, serving: false, terminating: false });
    await wire.must(wire.delete(`${pods(ns)}/a`));
    await becomesEndpoint(world, ns, 'web', { ready: true, serving: false, terminating: true });
    await world.finishDeletion(pod);
    await reaches(world, ns, 'web');
  });

  promise('still serve while their pod stops, though they are no longer ready', async (world) => {
    const { wire, namespace } = world;
    const ns = await namespace();
    await wire.must(wire.create(services(ns), service('web')));
    const pod = await readyPod(world, ns, 'a', { app: 'web' });
    await becomesEndpoint(world, ns, 'web', { ready: true, serving: true, terminating: false });
    await wire.must(wire.delete(`${pods(ns)}/a`));
    await becomesEndpoint(world, ns, 'web', { ready: false, serving: true, terminating: true });
    await world.becomeUnready(pod);
    await becomesEndpoint(world, ns, 'web', { ready: false, serving: false, terminating: true });
    await world.finishDeletion(pod);
    await reaches(world, ns, 'web');
  });

  promise('are not pods that have ended or have no address yet', async (world) => {
    const { wire, namespace, place } = world;
    const ns = await namespace();
    await wire.must(wire.create(services(ns), service('web')));
    const running = await readyPod(world, ns, 'running', { app: 'web' });
    const ending = await readyPod(world, ns, 'ending', { app: 'web' });
    await place(ns, 'starting', { labels: { app: 'web' } });
    await reaches(world, ns, 'web', running, ending);
    await world.succeed(ending);
    await reaches(world, ns, 'web', running);
    await world.fail(running);
    await reaches(world, ns, 'web');
  });

  promise('follow the selector and the labels of pods', async (world) => {
    const { wire, namespace } = world;
    const ns = await namespace();
    await wire.must(wire.create(services(ns), service('web', { selector: { version: 'blue' } })));
    const blue = await readyPod(world, ns, 'blue', { version: 'blue' });
    const green = await readyPod(world, ns, 'green', { version: 'green' });
    await reaches(world, ns, 'web', blue);

    await wire.must(wire.patch('merge', `${services(ns)}/web`, { spec: { selector: { version: 'green' } } }));
    await reaches(world, ns, 'web', green);

    await wire.must(wire.patch('merge', `${pods(ns)}/blue`, { metadata: { labels: { version: 'green' } } }));
    await reaches(world, ns, 'web', blue, green);

    await wire.must(wire.patch('merge', `${pods(ns)}/green`, { metadata: { labels: { version: null } } }));
    await reaches(world, ns, 'web', blue);
  });

  promise('have the target ports of the service, one for each of its ports', async (world) => {
    const { wire, namespace, settles } = world;
    const ns = await namespace();
    const ports = [
      { name: 'http', port: 80, targetPort: 8080 },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ];
    await wire.must(wire.create(services(ns), service('web', { ports })));
    const pod = await readyPod(world, ns, 'a', { app: 'web' });
    const { slice } = await reaches(world, ns, 'web', pod);
    expect(slice.ports.toSorted((a, b) => a.port - b.port)).toEqual([
      { name: 'dns', port: 53, protocol: 'UDP' },
      { name: 'http', port: 8080, protocol: 'TCP' },
    ]);

    const changed = [{ name: 'http', port: 80, targetPort: 9090, appProtocol: 'kubernetes.io/h2c' }];
    await wire.must(wire.patch('merge', `${services(ns)}/web`, { spec: { ports: changed } }));
    await settles(async () => {
      const [after, ...others] = await slicesOf(world, ns, 'web');
      expect(others).toEqual([]);
      expect(after?.ports).toEqual([{ name: 'http', port: 9090, protocol: 'TCP', appProtocol: 'kubernetes.io/h2c' }]);
    });
  });

  promise('have a named target port by the number that each pod gives the name', async (world) => {
    const { wire, namespace, settles } = world;
    const ns = await namespace();
    await wire.must(wire.create(services(ns), service('web', { ports: [{ port: 80, targetPort: 'http' }] })));
    const listening = (containerPort: number) => ({
      containers: [{ name: 'main', image: 'example.com/main:1', ports: [{ name: 'http', containerPort }] }],
    });
    const a = await readyPod(world, ns, 'a', { app: 'web' }, listening(8080));
    const b = await readyPod(world, ns, 'b', { app: 'web' }, listening(9090));
    await settles(async () => {
      const slices = (await slicesOf(world, ns, 'web')).map(({ ports, endpoints }) => ({
        ports: ports.map(({ port }) => port),
        pods: endpoints.map(({ targetRef }) => targetRef?.name),
      }));
      expect(slices.toSorted((x, y) => (x.ports[0] ?? 0) - (y.ports[0] ?? 0))).toEqual([
        { ports: [8080], pods: [a.metadata.name] },
        { ports: [9090], pods: [b.metadata.name] },
      ]);
    });
  });

  promise('of a headless service are marked, and named after the hostnames of pods', async (world) => {
    const { wire, namespace } = world;
    const ns = await namespace();
    await wire.must(wire.create(services(ns), service('db', { clusterIP: 'None' })));
    const first = await readyPod(world, ns, 'db-0', { app: 'db' }, { hostname: 'db-0', subdomain: 'db' });
    const other = await readyPod(world, ns, 'db-1', { app: 'db' }, { hostname: 'db-1', subdomain: 'elsewhere' });
    const { slice } = await reaches(world, ns, 'db', first, other);
    expect(slice.metadata.labels).toMatchObject({ 'service.kubernetes.io/headless': '' });
    const hostnames = slice.endpoints.map(({ targetRef, hostname }) => [targetRef?.name, hostname]);
    expect(Object.fromEntries(hostnames)).toEqual({ 'db-0': 'db-0', 'db-1': undefined });
  });

  promise('of a headless service need no ports', async (world) => {
    const { wire, namespace } = world;
    const ns = await namespace();
    const spec = { clusterIP: 'None', selector: { app: 'db' } };
    await wire.must(wire.create(services(ns), { apiVersion: 'v1', kind: 'Service', metadata: { name: 'db' }, spec }));
    const pod = await readyPod(world, ns, 'a', { app: 'db' });
    const { slice } = await reaches(world, ns, 'db', pod);
    expect(slice.ports).toEqual([]);
  });

  promise('carry the labels of the service, as they are now', async (world) => {
    const { wire, namespace, settles } = world;
    const ns = await namespace();
    const body = service('web');
    await wire.must(wire.create(services(ns), { ...body, metadata: { ...body.metadata, labels: { team: 'a' } } }));
    await reaches(world, ns, 'web');
    const labels = async () => (await slicesOf(world, ns, 'web'))[0]?.metadata.labels;
    expect(await labels()).toMatchObject({ team: 'a' });
    await wire.must(wire.patch('merge', `${services(ns)}/web`, { metadata: { labels: { team: 'b' } } }));
    await settles(async () => expect(await labels()).toMatchObject({ team: 'b' }));
  });

  promise('are restored when somebody deletes or changes them', async (world) => {
    const { wire, namespace } = world;
    const ns = await namespace();
    await wire.must(wire.create(services(ns), service('web')));
    const pod = await readyPod(world, ns, 'a', { app: 'web' });
    const { slice } = await reaches(world, ns, 'web', pod);
    await wire.must(wire.delete(`${endpointSlices(ns)}/${slice.metadata.name}`));
    const again = await reaches(world, ns, 'web', pod);
    expect(again.slice.metadata.uid).not.toBe(slice.metadata.uid);
    await wire.must(wire.patch('merge', `${endpointSlices(ns)}/${again.slice.metadata.name}`, { endpoints: [] }));
    await reaches(world, ns, 'web', pod);
  });

  promise('go with the service', async (world) => {
    const { wire, namespace, settles } = world;
    const ns = await namespace();
    await wire.must(wire.create(services(ns), service('web')));
    await reaches(world, ns, 'web');
    await wire.must(wire.delete(`${services(ns)}/web`));
    await settles(async () => expect(await slicesOf(world, ns, 'web')).toEqual([]));
  });

  promise('are left to others if the service selects nothing', async (world) => {
    const { wire, namespace } = world;
    const ns = await namespace();
    const { spec, ...rest } = service('outside');
    await wire.must(wire.create(services(ns), { ...rest, spec: { ports: spec.ports } }));
    const slice = {
      metadata: { name: 'mine', labels: { 'kubernetes.io/service-name': 'outside' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['192.0.2.1'] }],
      ports: [{ port: 80 }],
    };
    await wire.must(wire.create(endpointSlices(ns), slice));
    // By the time a later service has its slice, this one has been looked at.
    await wire.must(wire.create(services(ns), service('later')));
    await reaches(world, ns, 'later');
    expect((await slicesOf(world, ns, 'outside')).map(({ metadata }) => metadata.name)).toEqual(['mine']);
  });

  promise('are in an Endpoints object too, for those who still read it', async (world) => {
    const { wire, namespace, place, becomes, gone } = world;
    const ns = await namespace();
    await wire.must(wire.create(services(ns), service('web')));
    const ready = await readyPod(world, ns, 'ready', { app: 'web' });
    const unready = await world.becomeUnready(await place(ns, 'unready', { labels: { app: 'web' } }));
    const addressOf = ({ status, metadata: { name, uid } }: Pod) => ({
      ip: status.podIP,
      nodeName: 'driven',
      targetRef: { kind: 'Pod', namespace: ns, name, uid },
    });
    const path = `/api/v1/namespaces/${ns}/endpoints/web`;
    await becomes(path, {
      metadata: { labels: { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' } },
      subsets: [
        {
          addresses: [addressOf(ready)],
          notReadyAddresses: [addressOf(unready)],
          ports: [{ port: 80, protocol: 'TCP' }],
        },
      ],
    });
    await wire.must(wire.delete(`${services(ns)}/web`));
    await gone(path);
  });
});
